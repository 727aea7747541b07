"""Step rows: what the journal keeps of a model request or a tool call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from openclaw_core.domain.journal import StepRow, StepState
from openclaw_core.domain.messages import AssistantMessage, ToolCallBlock, ToolResultMessage
from openclaw_core.domain.tools import ToolResult
from openclaw_core.domain.turns import Turn
from openclaw_core.errors import ProviderError
from openclaw_core.models.failover import Attempt
from openclaw_core.sessions.codec import decode, encode


def model_row(
    turn: Turn,
    k: int,
    message: AssistantMessage | None,
    started: int,
    ended: int,
    *,
    error: ProviderError | None = None,
    attempts: Sequence[Attempt] = (),
) -> StepRow:
    """A finished model request: counts and codes, no content."""
    meta: dict[str, Any] = {}
    if message is not None:
        usage = message.usage
        meta = {
            "stopReason": message.stop_reason.value,
            "input": usage.input,
            "output": usage.output,
            "cacheRead": usage.cache_read,
            "cacheWrite": usage.cache_write,
            "costUsd": usage.cost,
            "toolCalls": len(message.tool_calls),
        }
    if error is not None:
        meta["errorCode"] = error.code
    if attempts:
        meta["failedAttempts"] = [{"model": a.model, "reason": a.kind.value} for a in attempts]
    name = f"{message.provider}/{message.model}" if message is not None else turn.model.ref
    return StepRow(
        run_id=turn.run_id,
        k=k,
        kind="model",
        name=name,
        state=StepState.FAILED if error is not None else StepState.DONE,
        started_at=started,
        ended_at=ended,
        meta=meta,
    )


def tool_row(
    turn: Turn,
    k: int,
    block: ToolCallBlock,
    state: StepState,
    *,
    started: int,
    ended: int | None = None,
    mark: str = "",
    code: str = "",
    result: ToolResult | None = None,
) -> StepRow:
    """A tool call; the result is kept so that a replay does not run the tool again."""
    return StepRow(
        run_id=turn.run_id,
        k=k,
        kind="tool",
        name=block.name,
        state=state,
        call_id=block.id,
        digest=mark,
        result=_encode(result) if result is not None else None,
        started_at=started,
        ended_at=ended,
        meta={"errorCode": code} if code else {},
    )


def _encode(result: ToolResult) -> Mapping[str, Any]:
    carrier = ToolResultMessage(
        tool_call_id="", tool_name="", content=result.content, is_error=result.is_error, details=result.details
    )
    return {**encode(carrier), "media": list(result.media)}


def from_row(row: StepRow) -> ToolResult:
    """The result a step row keeps."""
    data = row.result or {}
    message = decode({**data, "role": "toolResult"})
    media = data.get("media")
    return ToolResult(
        content=message.content if message is not None else (),
        is_error=bool(data.get("isError")),
        details=data.get("details"),
        media=tuple(media) if isinstance(media, list) else (),
    )

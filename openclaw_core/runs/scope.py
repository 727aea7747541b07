"""What core lends to a runtime during one run: durable model answers and tool results."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from openclaw_core.aio.clock import Clock
from openclaw_core.audit.writer import AuditWriter
from openclaw_core.contracts.provider import ModelRequest
from openclaw_core.contracts.store import Journal
from openclaw_core.contracts.tool import ToolContext
from openclaw_core.domain.events import (
    ModelAnswer,
    ModelEvent,
    Notice,
    RunEvent,
    TextDelta,
    TextReset,
    ToolFinished,
    ToolStarted,
)
from openclaw_core.domain.journal import Fence, StepRow, StepState
from openclaw_core.domain.messages import (
    AssistantMessage,
    Block,
    Message,
    StopReason,
    TextBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
)
from openclaw_core.domain.tools import ToolResult, ToolSchema
from openclaw_core.domain.turns import Turn
from openclaw_core.errors import ProviderError
from openclaw_core.models.failover import Attempt, Candidates, ModelCall
from openclaw_core.observe.faultpoints import fault_point
from openclaw_core.runs.conversation import Conversation
from openclaw_core.runs.outcome import RunFacts
from openclaw_core.runs.steps import from_row, model_row, tool_row
from openclaw_core.sessions.history import INTERRUPTED
from openclaw_core.tools.invoke import Checked, Gate, error_result, invoke, prepare
from openclaw_core.tools.loops import LoopGuard, digest
from openclaw_core.tools.registry import ToolBox

_MAX_CALLS = 128
"""Tool calls of one answer; more are refused."""
_STRIDE = 1000
"""Step numbers: answer n is n * 1000, its calls follow; so a replay gives the same numbers."""


@dataclass(slots=True, kw_only=True)
class RunScope:
    """Implements the contract `RunContext` for one run."""

    turn: Turn
    fence: Fence
    journal: Journal
    clock: Clock
    audit: AuditWriter
    conversation_: Conversation
    box: ToolBox
    tool_context: ToolContext
    gate: Gate
    candidates: Candidates
    request: ModelRequest
    rng: object
    facts: RunFacts
    prior: dict[int, StepRow] = field(default_factory=dict)
    unwritten: list[StepRow] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    loops: LoopGuard = field(default_factory=LoopGuard)

    @property
    def tools(self) -> Sequence[ToolSchema]:
        """See the contract."""
        return self.box.schemas

    def conversation(self) -> list[Message]:
        """See the contract."""
        return self.conversation_.messages

    def take_steer(self) -> Sequence[UserMessage]:
        """See the contract; messages that arrive during a run are turns of their own."""
        return ()

    # ---- model -----------------------------------------------------------------------------------

    async def request_model(self, messages: Sequence[Message]) -> AsyncGenerator[ModelEvent | TextReset | Notice, None]:
        """See the contract."""
        number = self.conversation_.answers + 1
        started = self.clock.now_ms()
        begun = self.clock.monotonic()
        call = ModelCall(
            self.candidates,
            replace(self.request, messages=tuple(messages)),
            clock=self.clock,
            rng=self.rng,  # type: ignore[arg-type]  # a callable; dataclass fields that are callables bind as methods
        )
        try:
            async with aclosing(call.events()) as events:
                async for event in events:
                    if isinstance(event, ModelAnswer):
                        message = await self._store_answer(event.message, number, started, begun, call.attempts)
                        yield ModelAnswer(message=message)
                        return
                    if isinstance(event, TextDelta):
                        self.partial.append(event.text)
                    elif isinstance(event, TextReset):
                        self.partial.clear()
                    yield event
        except ProviderError as error:
            self.unwritten.append(
                model_row(
                    self.turn, number * _STRIDE, None, started, self.clock.now_ms(), error=error, attempts=call.attempts
                )
            )
            raise
        finally:
            self.facts.attempts += [
                {"model": a.model, "reason": a.kind.value, "message": a.message} for a in call.attempts
            ]

    async def _store_answer(
        self, message: AssistantMessage, number: int, started: int, begun: float, attempts: Sequence[Attempt]
    ) -> AssistantMessage:
        now = self.clock.now_ms()
        duration = round((self.clock.monotonic() - begun) * 1000)
        message = replace(message, content=_unique_calls(message.content), timestamp=now, duration_ms=duration)
        fault_point("run.answer.before_store")
        await self.conversation_.append(message, f"a:{number}", at=now)
        fault_point("run.answer.stored")
        self.partial.clear()
        self.facts.answers.append(message)
        self.unwritten.append(model_row(self.turn, number * _STRIDE, message, started, now, attempts=attempts))
        return message

    # ---- tools -----------------------------------------------------------------------------------

    async def call_tools(self, answer: AssistantMessage) -> AsyncGenerator[RunEvent | ToolResultMessage, None]:
        """See the contract."""
        done = self.conversation_.results_of_last()
        number = self.conversation_.answers
        for index, block in enumerate(answer.tool_calls):
            if block.id in done:
                continue
            arguments = block.arguments or {}
            yield ToolStarted(call_id=block.id, name=block.name, arguments=arguments)
            begun = self.clock.monotonic()
            result = await self._result(block, number * _STRIDE + 1 + index, index)
            duration = round((self.clock.monotonic() - begun) * 1000)
            message = ToolResultMessage(
                tool_call_id=block.id,
                tool_name=block.name,
                content=result.content,
                is_error=result.is_error,
                timestamp=self.clock.now_ms(),
                details=result.details,
            )
            fault_point("run.result.before_store")
            await self.conversation_.append(message, f"r:{number}:{block.id}", at=message.timestamp)
            fault_point("run.result.stored")
            self.facts.tool_calls += 1
            self.facts.tools.append(block.name)
            self.facts.tool_failures += result.is_error
            self.facts.media += result.media
            yield ToolFinished(call_id=block.id, name=block.name, is_error=result.is_error, duration_ms=duration)
            yield message

    async def _result(self, block: ToolCallBlock, k: int, index: int) -> ToolResult:
        checked = prepare(block, self.box)
        if checked.refusal is not None or checked.tool is None or checked.call is None or index >= _MAX_CALLS:
            return self._refused(block, checked, k, index)
        mark = digest(block.name, checked.call.arguments)
        blocked = self.loops.before(mark, block.name)
        if blocked is not None:
            return error_result(blocked, code="loop_blocked")
        result = await self._journalled(block, checked, k, mark)
        text = "".join(getattr(b, "text", "") for b in result.content)
        warning = self.loops.after(mark, text)
        return _with_note(result, warning) if warning else result

    def _refused(self, block: ToolCallBlock, checked: Checked, k: int, index: int) -> ToolResult:
        code = checked.error_code or "too_many_calls"
        now = self.clock.now_ms()
        self.unwritten.append(tool_row(self.turn, k, block, StepState.FAILED, started=now, ended=now, code=code))
        self._audit_tool(block.name if checked.tool else "unknown", block.id, "blocked", code, 0)
        if checked.error_code == "unknown_tool":
            self.loops.unknown(block.name)
        if checked.refusal is not None:
            return checked.refusal
        return error_result(f"Only {_MAX_CALLS} calls are run of one answer; this was number {index + 1}.", code=code)

    async def _journalled(self, block: ToolCallBlock, checked: Checked, k: int, mark: str) -> ToolResult:
        """Intent, run, done: a call with side effects happens at most once (reliability.md 6.3)."""
        assert checked.tool is not None
        assert checked.call is not None
        spec = checked.tool.spec
        repeatable = spec.read_only or spec.idempotent
        known = self.prior.get(k)
        if known is not None and known.state in (StepState.DONE, StepState.FAILED) and known.result is not None:
            return from_row(known)
        started = self.clock.now_ms()
        if known is not None and known.state is StepState.INTENT and not repeatable:
            row = tool_row(
                self.turn, k, block, StepState.INTERRUPTED, started=known.started_at, ended=started, mark=mark
            )
            self.unwritten.append(row)
            self._audit_tool(block.name, block.id, "unknown", "interrupted", started - known.started_at)
            return error_result(INTERRUPTED, code="interrupted")
        self._audit_tool(block.name, block.id, "started", "", None)
        if not repeatable:
            await self._write(tool_row(self.turn, k, block, StepState.INTENT, started=started, mark=mark))
        fault_point("run.tool.before")
        begun = self.clock.monotonic()
        result = await invoke(checked.tool, checked.call, self.tool_context, gate=self.gate)
        duration = round((self.clock.monotonic() - begun) * 1000)
        fault_point("run.tool.after")
        state = StepState.FAILED if result.is_error else StepState.DONE
        code = str((result.details or {}).get("code", "tool_error")) if result.is_error else ""
        row = tool_row(
            self.turn, k, block, state, started=started, ended=started + duration, mark=mark, code=code, result=result
        )
        if repeatable:
            self.unwritten.append(replace(row, result=None))  # the transcript line holds it
        else:
            await self._write(row)
        self._audit_tool(block.name, block.id, "failed" if result.is_error else "succeeded", code, duration)
        return result

    async def _write(self, row: StepRow) -> None:
        rows, self.unwritten = [*self.unwritten, row], []
        await self.journal.write_steps(self.fence, rows)

    def _audit_tool(self, name: str, call_id: str, status: str, code: str, duration: int | None) -> None:
        action = "tool_action.started" if status == "started" else "tool_action.finished"
        self.audit.emit(
            kind="tool_action",
            action=action,
            status=status,
            turn=self.turn,
            tool_name=name,
            tool_call_id=call_id,
            error_code=code,
            duration_ms=duration,
        )

    # ---- ends that are not answers ---------------------------------------------------------------

    async def close(self, stop: StopReason, text: str, *, code: str = "", message: str = "") -> None:
        """Leave a complete transcript after an abort or a failure: pairs closed, partial text kept."""
        now = self.clock.now_ms()
        await self.conversation_.close_calls(text, at=now)
        last = self.conversation_.own[-1] if self.conversation_.own else None
        if isinstance(last, AssistantMessage) and not self.partial:
            return
        kept = "".join(self.partial) if stop is StopReason.ABORTED else ""
        self.partial.clear()
        ending = AssistantMessage(
            content=_text_blocks(kept),
            stop_reason=stop,
            provider=self.turn.model.provider,
            model=self.turn.model.id,
            api=self.turn.model.api,
            timestamp=now,
            error_code=code,
            error_message=message,
        )
        await self.conversation_.append(ending, f"end:{self.conversation_.answers}", at=now)


def _text_blocks(text: str) -> tuple[Block, ...]:
    return (TextBlock(text=text),) if text else ()


def _unique_calls(content: tuple[Block, ...]) -> tuple[Block, ...]:
    """Every tool call gets an id of its own, so that results pair without doubt."""
    seen: set[str] = set()
    out: list[Block] = []
    for number, block in enumerate(content):
        if isinstance(block, ToolCallBlock):
            ident = block.id or f"call_{number}"
            while ident in seen:
                ident = f"{ident}_{number}"
            seen.add(ident)
            block = block if ident == block.id else replace(block, id=ident)
        out.append(block)
    return tuple(out)


def _with_note(result: ToolResult, note: str) -> ToolResult:
    return replace(result, content=(*result.content, TextBlock(text=note)))

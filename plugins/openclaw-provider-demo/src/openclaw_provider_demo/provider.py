"""A provider without a model: plain commands become real tool calls."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections.abc import AsyncGenerator, Sequence

from openclaw_core.sdk import (
    AssistantMessage,
    Block,
    ErrorKind,
    ModelAnswer,
    ModelEvent,
    ModelInfo,
    ModelRequest,
    Provider,
    ProviderEnv,
    StopReason,
    TextBlock,
    TextDelta,
    ToolCallBlock,
    ToolCallDelta,
    ToolResultMessage,
    Usage,
    UserMessage,
    classify_exception,
    clean_text,
)
from openclaw_provider_demo.commands import Wanted, examples, understand

API = "demo"
MAX_SHOWN = 3000
"""Characters of a tool's result that are repeated in the reply."""

CLOSING = (
    "This is a demonstration without a language model: to get a real one, set OPENAI_API_KEY or ANTHROPIC_API_KEY, "
    "or describe a server with `openclaw config set models.providers.<id> ...` (see the documentation on providers)."
)
"""The sentence that ends every reply."""


def create(_env: ProviderEnv) -> Provider:
    """The factory that the spec names."""
    return DemoProvider()


class DemoProvider:
    """Implements the contract `Provider` without network, key or state."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See Provider."""
        started = time.monotonic()
        block, pieces = _decide(request)
        if isinstance(block, ToolCallBlock):
            yield ToolCallDelta(index=0, name=block.name)
            for piece in pieces:
                yield ToolCallDelta(index=0, fragment=piece)
        else:
            for piece in pieces:
                yield TextDelta(text=piece)
                await asyncio.sleep(0)  # a real stream lets other work go on between its pieces
        yield ModelAnswer(
            message=AssistantMessage(
                content=(block,),
                stop_reason=StopReason.TOOL_USE if isinstance(block, ToolCallBlock) else StopReason.STOP,
                provider=request.model.provider,
                model=request.model.id,
                api=API,
                usage=_usage(request, pieces),
                timestamp=time.time_ns() // 1_000_000,
                duration_ms=int((time.monotonic() - started) * 1000),
            )
        )

    async def models(self) -> Sequence[ModelInfo]:
        """The one model."""
        return (ModelInfo(provider="demo", id="demo", name="Demonstration", api=API),)

    def classify(self, error: BaseException) -> ErrorKind:
        """See Provider; nothing here fails by itself."""
        return classify_exception(error)

    async def aclose(self) -> None:
        """Nothing to close."""


def _decide(request: ModelRequest) -> tuple[Block, list[str]]:
    """What to answer, and the pieces to stream it in."""
    tools = {t.name for t in request.tools}
    results: list[ToolResultMessage] = []
    for message in reversed(request.messages):
        if isinstance(message, ToolResultMessage):
            results.append(message)
        elif isinstance(message, UserMessage):
            if results:
                return _reply(_shown(results[::-1]))
            wanted = understand(clean_text(message.text), tools)
            if wanted is not None:
                return _call(request, wanted)
            break
    return _reply(_greeting(tools))


def _call(request: ModelRequest, wanted: Wanted) -> tuple[Block, list[str]]:
    raw = json.dumps(wanted.arguments, ensure_ascii=False)
    place = f"{request.session_id}|{request.run_id}|{len(request.messages)}"
    call_id = "call_" + hashlib.sha256(place.encode("utf-8", "replace")).hexdigest()[:24]
    middle = len(raw) // 2
    block = ToolCallBlock(id=call_id, name=wanted.tool, arguments=wanted.arguments, raw=raw)
    return block, [raw[:middle], raw[middle:]]


def _reply(text: str) -> tuple[Block, list[str]]:
    text = f"{text}\n\n{CLOSING}"
    return TextBlock(text=text), re.findall(r"\S*\s*\S*\s*\S*\s*\S*\s*", text)[:-1]


def _shown(results: Sequence[ToolResultMessage]) -> str:
    parts = []
    for result in results:
        text = clean_text(result.text).strip() or "(no output)"
        if len(text) > MAX_SHOWN:
            text = f"{text[:MAX_SHOWN]}\n… ({len(text) - MAX_SHOWN} more characters)"
        head = f"`{result.tool_name}` failed:" if result.is_error else f"`{result.tool_name}` says:"
        parts.append(f"{head}\n{text}")
    return "\n\n".join(parts)


def _greeting(tools: set[str]) -> str:
    known = examples(tools)
    if not known:
        return "Hello! I can follow a few plain commands with file tools, but none of these tools is offered here."
    listed = ", ".join(f"`{e}`" for e in known)
    return f"Hello! I can follow a few plain commands with real tools: {listed}."


def _usage(request: ModelRequest, pieces: Sequence[str]) -> Usage:
    """Words instead of tokens: enough to show that counting works."""
    last = request.messages[-1].text if request.messages else ""
    return Usage(input=len(last.split()), output=sum(len(p.split()) for p in pieces))

"""The events of a Messages stream. Each request has its own state; order is taken as it comes."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from openclaw_lib_openai.answer import PairJoiner, count, parse_arguments
from openclaw_lib_openai.failure import ended_early, read_error, stream_failure

from openclaw_core.sdk import (
    AssistantMessage,
    Block,
    ModelEvent,
    ModelRequest,
    ProviderError,
    StopReason,
    TextBlock,
    TextDelta,
    ThinkingBlock,
    ThinkingDelta,
    ToolCallBlock,
    ToolCallDelta,
    Usage,
    clean_text,
)
from openclaw_provider_anthropic.request import API

_STOPS = {
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
}
_REFUSED = "refusal"


@dataclass(slots=True)
class Part:
    """One content block that streams in."""

    kind: str
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    signature: str = ""
    data: str = ""
    whole_input: Mapping[str, Any] | None = None
    number: int = 0


class MessagesStream:
    """State of one stream. `feed` takes one decoded event, `result` ends it."""

    def __init__(self, request: ModelRequest, *, secret: str = "") -> None:
        self._request = request
        self.secret = secret
        self._started = time.monotonic()
        self._parts: dict[int, Part] = {}
        self._pairs: dict[int, PairJoiner] = {}
        self._usage: dict[str, int] = {}
        self._stop = ""
        self._id = ""
        self._calls = 0
        self.done = False

    @property
    def finished(self) -> bool:
        """The vendor said that the answer is whole; ``message_stop`` may be missing."""
        return bool(self._stop)

    def feed(self, event: str, data: Mapping[str, Any]) -> list[ModelEvent]:
        """Take one event; raises ProviderError for an error event."""
        kind = data.get("type") or event
        if kind == "content_block_delta":
            shown = self._delta(data)
            return [shown] if shown is not None else []
        if kind == "content_block_start":
            return self._open(data)
        if kind == "message_start":
            message = data.get("message") or {}
            self._id = str(message.get("id") or "")
            self._count(message.get("usage"))
        elif kind == "message_delta":
            reason = (data.get("delta") or {}).get("stop_reason")
            if reason:
                self._stop = str(reason)
            self._count(data.get("usage"))
        elif kind == "message_stop":
            self.done = True
            if self._parts and not self._stop:
                self._stop = "end_turn"
        elif kind == "error" or data.get("error"):
            raise stream_failure(read_error(data), secret=self.secret)
        return []

    def result(self) -> AssistantMessage:
        """The whole message; raises ProviderError when the stream was cut."""
        if not self._stop:
            raise self.cut()
        content = self._content()
        stop = _STOPS.get(self._stop, StopReason.STOP)
        if any(isinstance(b, ToolCallBlock) for b in content):
            stop = StopReason.TOOL_USE
        refused = self._stop == _REFUSED
        return AssistantMessage(
            content=content,
            stop_reason=stop,
            provider=self._request.model.provider,
            model=self._request.model.id,
            api=API,
            usage=self._total(),
            timestamp=time.time_ns() // 1_000_000,
            duration_ms=int((time.monotonic() - self._started) * 1000),
            response_id=self._id,
            error_code=_REFUSED if refused else "",
            error_message="The provider's safety filter ended the answer." if refused else "",
        )

    def cut(self) -> ProviderError:
        """The error of a stream that stopped half way."""
        return ended_early(self._request.model.provider)

    def _part(self, index: Any, kind: str) -> Part:
        """The block at `index`; made when its start was left out."""
        key = index if isinstance(index, int) else len(self._parts) - 1
        part = self._parts.get(key)
        if part is None:
            part = self._parts[max(0, key)] = Part(kind)
            if kind == "tool_use":
                part.number = self._calls
                self._calls += 1
        return part

    def _open(self, data: Mapping[str, Any]) -> list[ModelEvent]:
        block = data.get("content_block") or {}
        kind = str(block.get("type") or "text")
        index = data.get("index")
        key = index if isinstance(index, int) else len(self._parts)
        self._parts.pop(key, None)
        part = self._part(key, kind)
        if kind == "tool_use":
            part.id, part.name = str(block.get("id") or ""), str(block.get("name") or "")
            given = block.get("input")
            part.whole_input = given if isinstance(given, Mapping) and given else None
            return [ToolCallDelta(index=part.number, name=part.name)]
        if kind == "redacted_thinking":
            part.data = str(block.get("data") or "")
        elif kind == "thinking":
            part.signature = str(block.get("signature") or "")
            return self._prose(key, part, block.get("thinking"))
        elif kind == "text":
            return self._prose(key, part, block.get("text"))
        return []

    def _delta(self, data: Mapping[str, Any]) -> ModelEvent | None:
        delta = data.get("delta") or {}
        kind = delta.get("type")
        index = data.get("index")
        if kind == "text_delta":
            shown = self._prose(index, self._part(index, "text"), delta.get("text"))
            return shown[0] if shown else None
        if kind == "input_json_delta":
            part = self._part(index, "tool_use")
            piece = delta.get("partial_json")
            if not isinstance(piece, str) or not piece:
                return None
            part.pieces.append(piece)
            return ToolCallDelta(index=part.number, fragment=clean_text(piece))
        if kind == "thinking_delta":
            shown = self._prose(index, self._part(index, "thinking"), delta.get("thinking"))
            return shown[0] if shown else None
        if kind == "signature_delta":
            self._part(index, "thinking").signature += str(delta.get("signature") or "")
        return None

    def _prose(self, index: Any, part: Part, text: Any) -> list[ModelEvent]:
        if not isinstance(text, str) or not text:
            return []
        part.pieces.append(text)
        key = index if isinstance(index, int) else -1
        shown = self._pairs.setdefault(key, PairJoiner()).feed(text)
        if not shown:
            return []
        return [ThinkingDelta(text=shown) if part.kind == "thinking" else TextDelta(text=shown)]

    def _content(self) -> tuple[Block, ...]:
        blocks: list[Block] = []
        for index in sorted(self._parts):
            part = self._parts[index]
            text = "".join(part.pieces)
            if part.kind == "text" and text:
                blocks.append(TextBlock(text=clean_text(text)))
            elif part.kind == "thinking" and (text or part.signature):
                blocks.append(ThinkingBlock(thinking=_joined(text), signature=part.signature or None))
            elif part.kind == "redacted_thinking" and part.data:
                blocks.append(ThinkingBlock(thinking="", redacted=part.data))
            elif part.kind == "tool_use":
                blocks.append(self._call(part, text))
        return tuple(blocks)

    def _call(self, part: Part, raw: str) -> ToolCallBlock:
        raw = clean_text(raw)
        if not raw.strip() and part.whole_input is not None:
            raw = json.dumps(part.whole_input, ensure_ascii=False)
        call_id = part.id or f"toolu_{self._id}_{part.number}"
        return ToolCallBlock(id=call_id, name=part.name, arguments=parse_arguments(raw), raw=raw)

    def _count(self, usage: Any) -> None:
        """Counts are cumulative; a later null or zero does not erase what was known."""
        if isinstance(usage, Mapping):
            for name, value in usage.items():
                if isinstance(value, int | float) and value:
                    self._usage[name] = count(value)

    def _total(self) -> Usage:
        known = self._usage
        usage = Usage(
            input=known.get("input_tokens", 0),
            output=known.get("output_tokens", 0),
            cache_read=known.get("cache_read_input_tokens", 0),
            cache_write=known.get("cache_creation_input_tokens", 0),
        )
        return usage + Usage(cost=self._request.model.cost.of(usage))


def _joined(text: str) -> str:
    """Thinking goes back to the vendor unchanged: only a surrogate pair cut between two pieces is joined."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return clean_text(text)
    return text

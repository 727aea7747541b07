"""An answer while it streams in: text, reasoning and tool calls in the order of their first fragment."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from openclaw_core.sdk import (
    AssistantMessage,
    Block,
    ModelRequest,
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


class PairJoiner:
    """Joins a surrogate pair that a server cut between two pieces of text."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """The text that is complete now; lone surrogates become U+FFFD, NUL vanishes."""
        if self._held:
            text, self._held = self._held + text, ""
        if not text.isascii() and "\ud800" <= text[-1] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        return clean_text(text)


@dataclass(slots=True)
class Prose:
    """One block of text or reasoning."""

    thinking: bool
    pieces: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Call:
    """One tool call whose fragments arrive."""

    number: int
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    @property
    def raw(self) -> str:
        """The arguments as sent so far."""
        return "".join(self.pieces)

    @property
    def complete(self) -> bool:
        """The arguments so far are one whole JSON object (an empty text is not)."""
        raw = self.raw
        return bool(raw.strip()) and parse_arguments(raw) is not None

    def add_name(self, name: str) -> None:
        """Take a name, a repetition of it, or its next fragment."""
        if not self.name or (name.startswith(self.name) and not self.pieces):
            self.name = name
        elif name != self.name and not self.pieces:
            self.name += name


class Answer:
    """Collects one answer. The `text`, `thinking` and `fragment` methods return the event to show."""

    def __init__(self, request: ModelRequest, api: str) -> None:
        self._request = request
        self._api = api
        self._started = time.monotonic()
        self._blocks: list[Prose | Call] = []
        self._pairs = {False: PairJoiner(), True: PairJoiner()}
        self.calls: list[Call] = []
        self.usage = Usage()
        self.response_id = ""
        self.signature = ""
        """What must go back unchanged beside the reasoning (reasoning.py)."""

    def prose(self, text: str, *, thinking: bool) -> TextDelta | ThinkingDelta | None:
        """A piece of visible text or of reasoning."""
        text = self._pairs[thinking].feed(text)
        if not text:
            return None
        last = self._blocks[-1] if self._blocks else None
        if not isinstance(last, Prose) or last.thinking is not thinking:
            last = Prose(thinking)
            self._blocks.append(last)
        last.pieces.append(text)
        return ThinkingDelta(text=text) if thinking else TextDelta(text=text)

    def open_call(self, *, call_id: str = "", name: str = "") -> Call:
        """A new tool call."""
        call = Call(number=len(self.calls), id=call_id, name=name)
        self.calls.append(call)
        self._blocks.append(call)
        return call

    def fragment(self, call: Call, text: str, *, name: str = "") -> ToolCallDelta:
        """The next piece of a call's arguments."""
        if text:
            call.pieces.append(text)
        return ToolCallDelta(index=call.number, name=name, fragment=clean_text(text))

    @property
    def has_text(self) -> bool:
        """Some visible text came."""
        return any(isinstance(b, Prose) and not b.thinking for b in self._blocks)

    def message(self, stop: StopReason, *, error_code: str = "", error_message: str = "") -> AssistantMessage:
        """The whole message. Tool calls make the stop reason TOOL_USE."""
        content = self._content()
        usage = self.usage
        cost = self._request.model.cost.of(usage)
        if cost:
            usage = Usage(
                input=usage.input,
                output=usage.output,
                cache_read=usage.cache_read,
                cache_write=usage.cache_write,
                cost=cost,
            )
        if any(isinstance(b, ToolCallBlock) for b in content):
            stop = StopReason.TOOL_USE
        return AssistantMessage(
            content=content,
            stop_reason=stop,
            provider=self._request.model.provider,
            model=self._request.model.id,
            api=self._api,
            usage=usage,
            timestamp=time.time_ns() // 1_000_000,
            duration_ms=int((time.monotonic() - self._started) * 1000),
            response_id=self.response_id,
            error_code=error_code,
            error_message=error_message,
        )

    def _content(self) -> tuple[Block, ...]:
        blocks: list[Block] = []
        ids: set[str] = set()
        signature = self.signature or None
        if signature and not any(isinstance(b, Prose) and b.thinking for b in self._blocks):
            blocks.append(ThinkingBlock(thinking="", signature=signature))
        for block in self._blocks:
            if isinstance(block, Prose):
                text = "".join(block.pieces)
                if block.thinking:
                    blocks.append(ThinkingBlock(thinking=text, signature=signature))
                    signature = None
                else:
                    blocks.append(TextBlock(text=text))
                continue
            raw = clean_text(block.raw)
            if not (block.name or block.id or raw.strip()):
                continue
            call_id = block.id if block.id and block.id not in ids else self._made_id(block)
            ids.add(call_id)
            arguments = parse_arguments(raw)
            blocks.append(ToolCallBlock(id=call_id, name=block.name, arguments=arguments, raw=raw))
        return tuple(blocks)

    def _made_id(self, call: Call) -> str:
        """An id for a call that came without one: the same for the same place in the same run."""
        request = self._request
        place = f"{request.session_id}|{request.run_id}|{len(request.messages)}|{call.number}|{call.name}"
        return "call_" + hashlib.sha256(place.encode("utf-8", "replace")).hexdigest()[:24]


def parse_arguments(raw: str) -> Mapping[str, Any] | None:
    """The arguments as an object; {} for nothing at all, None for anything but one whole JSON object."""
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def word(value: Any) -> str:
    """An id or a name; some servers send ids as numbers."""
    return value if isinstance(value, str) else "" if value is None else str(value)


def count(value: Any) -> int:
    """A token count that may be null, missing or a float."""
    return max(0, int(value)) if isinstance(value, int | float) and math.isfinite(value) else 0

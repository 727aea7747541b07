"""What every vendor's dialect needs first: a history whose calls and results pair up and whose roles alternate.

The stored history may hold anything a crash, a steer or another vendor left there. `dialogue` turns it into
turns that any vendor accepts; a provider then only translates (behaviour.md 2.4, "Repair").
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from openclaw_core.domain.messages import (
    AssistantMessage,
    Block,
    ImageBlock,
    Message,
    StopReason,
    TextBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
)
from openclaw_core.domain.pictures import oversize

OPENING = "(The conversation begins.)"
"""Stands in for a person's message where a history starts with the assistant."""
CONTINUE = "(Continue.)"
"""Stands in for a person's message where a history ends with the assistant."""
INTERRUPTED = "No result is known: the call was interrupted. It may or may not have had an effect."
"""Result of a call that has none."""
NO_OUTPUT = "(no output)"

_ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NAME_LENGTH = 64
_ILLEGAL_NAME = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(frozen=True, slots=True, kw_only=True)
class IdRule:
    """Which tool call ids a vendor takes: 1 to `max_length` of ``[a-zA-Z0-9_-]`` and the ASCII characters in
    `also`, or with `exact` exactly `max_length` alphanumeric characters."""

    max_length: int
    exact: bool = False
    also: str = ""

    def allows(self, call_id: str) -> bool:
        """The id can be sent as it is."""
        if self.exact:
            return len(call_id) == self.max_length and call_id.isascii() and call_id.isalnum()
        plain = call_id.translate({ord(c): "_" for c in self.also}) if self.also else call_id
        return 0 < len(call_id) <= self.max_length and re.fullmatch(r"[a-zA-Z0-9_-]+", plain) is not None

    def derive(self, seed: str) -> str:
        """An allowed id that depends on `seed` alone, so that the next request maps it the same way."""
        number = int.from_bytes(hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest(), "big")
        prefix = "" if self.exact else "call_"[: max(0, self.max_length - 9)]
        letters = []
        for _ in range(min(self.max_length - len(prefix), 32)):
            number, digit = divmod(number, len(_ALPHANUMERIC))
            letters.append(_ALPHANUMERIC[digit])
        return prefix + "".join(letters)


class ToolIds:
    """Gives every call of one request its own allowed id; the same history always gets the same ids."""

    def __init__(self, rule: IdRule) -> None:
        self._rule = rule
        self._used: set[str] = set()

    def assign(self, call_id: str) -> str:
        """The id to send; unchanged where it is allowed and not yet taken."""
        chosen, n = call_id, 0
        while chosen in self._used or not self._rule.allows(chosen):
            chosen = self._rule.derive(f"{call_id}#{n}")
            n += 1
        self._used.add(chosen)
        return chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One call with its result. `id` and `name` are legal for the vendor; `arguments` is always an object
    (empty where the model sent no complete one)."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    texts: tuple[str, ...]
    images: tuple[ImageBlock, ...]
    is_error: bool

    @property
    def text(self) -> str:
        """The result's text, never empty."""
        return "\n".join(self.texts) or NO_OUTPUT


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonTurn:
    """What came from outside since the last answer: non-empty texts and images, in order."""

    blocks: tuple[TextBlock | ImageBlock, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTurn:
    """Neighbouring answers of the model and the exchanges of the last one. Only the last has calls."""

    messages: tuple[AssistantMessage, ...]
    exchanges: tuple[Exchange, ...] = ()

    @property
    def text(self) -> str:
        """All visible text, answers parted by an empty line."""
        return "\n\n".join(t for m in self.messages if (t := clean_text(m.text)).strip())


DialogueTurn = PersonTurn | ModelTurn


def clean_text(text: str) -> str:
    """Text that is valid in UTF-8 JSON everywhere: surrogate pairs joined, lone ones U+FFFD, NUL removed."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "") if "\0" in text else text


def clean_json(value: Any) -> Any:
    """A JSON value whose strings (keys too) are all clean."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(str(k)): clean_json(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(v) for v in value]
    return value


def clean_name(name: str) -> str:
    """A tool name that vendors accept inside a history: 1 to 64 of ``[a-zA-Z0-9_-]``."""
    return _ILLEGAL_NAME.sub("_", name)[:_NAME_LENGTH] or "unknown"


def dialogue(messages: Sequence[Message], rule: IdRule) -> list[DialogueTurn]:
    """Repair a history.

    Each call gets exactly one result (an error where none is stored), results without a call are
    dropped, ids become legal and unique, roles alternate (an answer with exchanges counts as followed by
    outside content), the first and the last turn come from outside. Empty texts vanish; a failed answer
    without an answered call is left out. No other text is lost, doubled or moved before another, except that
    results move to their call.
    """
    results = _assign_results(messages)
    ids = ToolIds(rule)
    turns: list[DialogueTurn] = []
    for at, message in enumerate(messages):
        if isinstance(message, UserMessage):
            _add_person(turns, _spoken(message.content))
        elif isinstance(message, AssistantMessage):
            found = results.get(at, {})
            if message.stop_reason is StopReason.ERROR and not found:
                continue
            calls = message.tool_calls
            exchanges = tuple(_exchange(c, ids.assign(c.id), found.get(k)) for k, c in enumerate(calls))
            if exchanges or clean_text(message.text).strip():
                _add_answer(turns, message, exchanges)
    if not turns or isinstance(turns[0], ModelTurn):
        turns.insert(0, PersonTurn(blocks=(TextBlock(text=OPENING),)))
    last = turns[-1]
    if isinstance(last, ModelTurn) and not last.exchanges:
        turns.append(PersonTurn(blocks=(TextBlock(text=CONTINUE),)))
    return turns


def _assign_results(messages: Sequence[Message]) -> dict[int, dict[int, ToolResultMessage]]:
    """Message index -> call number -> its result. A result belongs to the nearest earlier message that has
    an unanswered call of its id; within one message, in order."""
    found: dict[int, dict[int, ToolResultMessage]] = {}
    waiting: dict[str, list[tuple[int, list[int]]]] = {}
    for at, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            for k, call in enumerate(message.tool_calls):
                groups = waiting.setdefault(call.id, [])
                if groups and groups[-1][0] == at:
                    groups[-1][1].append(k)
                else:
                    groups.append((at, [k]))
        elif isinstance(message, ToolResultMessage):
            groups = waiting.get(message.tool_call_id, [])
            if groups:
                index, numbers = groups[-1]
                found.setdefault(index, {})[numbers.pop(0)] = message
                if not numbers:
                    groups.pop()
    return found


def _exchange(call: ToolCallBlock, call_id: str, result: ToolResultMessage | None) -> Exchange:
    blocks = _spoken(result.content) if result is not None else (TextBlock(text=INTERRUPTED),)
    return Exchange(
        id=call_id,
        name=clean_name(call.name),
        arguments=clean_json(call.arguments) if call.arguments is not None else {},
        texts=tuple(b.text for b in blocks if isinstance(b, TextBlock)),
        images=tuple(b for b in blocks if isinstance(b, ImageBlock)),
        is_error=result.is_error if result is not None else True,
    )


def _spoken(content: Sequence[Block]) -> tuple[TextBlock | ImageBlock, ...]:
    """The blocks a person or a tool can contribute, cleaned; empty texts and images left out. An image that
    vendors refuse for its size is described: it would fail every later request of its session."""
    out: list[TextBlock | ImageBlock] = []
    for block in content:
        if isinstance(block, TextBlock):
            text = clean_text(block.text)
            if text.strip():
                out.append(block if text is block.text else TextBlock(text=text))
        elif isinstance(block, ImageBlock) and block.data:
            why = oversize(block.data)
            out.append(TextBlock(text=f"[image left out: {why}]") if why else block)
    return tuple(out)


def _add_person(turns: list[DialogueTurn], blocks: tuple[TextBlock | ImageBlock, ...]) -> None:
    if not blocks:
        return
    last = turns[-1] if turns else None
    if isinstance(last, PersonTurn):
        turns[-1] = PersonTurn(blocks=last.blocks + blocks)
    else:
        turns.append(PersonTurn(blocks=blocks))


def _add_answer(turns: list[DialogueTurn], message: AssistantMessage, exchanges: tuple[Exchange, ...]) -> None:
    last = turns[-1] if turns else None
    if isinstance(last, ModelTurn) and not last.exchanges:
        turns[-1] = replace(last, messages=(*last.messages, message), exchanges=exchanges)
    else:
        turns.append(ModelTurn(messages=(message,), exchanges=exchanges))

"""Messages as the model sees them: content blocks, roles, usage, stop reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class StopReason(StrEnum):
    """Why an assistant message ended (behaviour.md 2.4)."""

    STOP = "stop"
    TOOL_USE = "toolUse"
    LENGTH = "length"
    ERROR = "error"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingBlock:
    """Reasoning of the model. `signature` must be sent back unchanged where present.

    `redacted` holds the opaque payload of a redacted block (then `thinking` is empty).
    """

    thinking: str
    signature: str | None = None
    redacted: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageBlock:
    """An image as base64 text with its MIME type."""

    data: str
    mime_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallBlock:
    """A tool call of the model.

    `arguments` is None when what the model sent is not one complete JSON object; `raw` then
    holds what it sent. Such a call is never repaired and never executed.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    raw: str = ""


Block = TextBlock | ThinkingBlock | ImageBlock | ToolCallBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts of one or more model requests; `cost` in US dollars where prices are known."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float = 0.0

    @property
    def total(self) -> int:
        """All tokens that were billed in any way."""
        return self.input + self.output + self.cache_read + self.cache_write

    @property
    def prompt(self) -> int:
        """Size of the prompt: input plus what came from or went to the cache."""
        return self.input + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            cost=self.cost + other.cost,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """What a person (or a process on their behalf) said. `timestamp` in epoch milliseconds."""

    content: tuple[Block, ...]
    timestamp: int = 0

    @property
    def text(self) -> str:
        """All text blocks joined."""
        return "".join(b.text for b in self.content if isinstance(b, TextBlock))


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage:
    """One answer of a model. `timestamp` in epoch milliseconds, `duration_ms` of the request."""

    content: tuple[Block, ...]
    stop_reason: StopReason
    provider: str = ""
    model: str = ""
    api: str = ""
    usage: Usage = field(default_factory=Usage)
    timestamp: int = 0
    duration_ms: int = 0
    response_id: str = ""
    error_message: str = ""
    error_code: str = ""

    @property
    def text(self) -> str:
        """All text blocks joined."""
        return "".join(b.text for b in self.content if isinstance(b, TextBlock))

    @property
    def tool_calls(self) -> tuple[ToolCallBlock, ...]:
        """The tool calls in order."""
        return tuple(b for b in self.content if isinstance(b, ToolCallBlock))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultMessage:
    """The result of one tool call, paired by `tool_call_id`."""

    tool_call_id: str
    tool_name: str
    content: tuple[Block, ...]
    is_error: bool = False
    timestamp: int = 0
    details: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        """All text blocks joined."""
        return "".join(b.text for b in self.content if isinstance(b, TextBlock))


Message = UserMessage | AssistantMessage | ToolResultMessage

"""What happens during a model request and during a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openclaw_core.domain.messages import AssistantMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """A piece of visible text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta:
    """A piece of reasoning."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallDelta:
    """A tool call is growing: `fragment` of its JSON arguments; `name` when it became known."""

    index: int
    name: str = ""
    fragment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """The last event of a model stream: the whole message. A stream that ends without it failed."""

    message: AssistantMessage


ModelEvent = TextDelta | ThinkingDelta | ToolCallDelta | ModelAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStarted:
    """A model request begins; `request` counts from 1 within the run."""

    request: int
    provider: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFinished:
    """A model request ended and its answer is stored."""

    request: int
    message: AssistantMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """A tool call begins."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished:
    """A tool call ended; `duration_ms` is the tool's own time."""

    call_id: str
    name: str
    is_error: bool
    duration_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReset:
    """Text shown since the last answer is void (an attempt failed half way); drafts must go."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something the owner may want to see: a fallback, a compaction, a loop warning."""

    code: str
    text: str


RunEvent = (
    TextDelta
    | ThinkingDelta
    | ToolCallDelta
    | ModelStarted
    | ModelFinished
    | ToolStarted
    | ToolFinished
    | TextReset
    | Notice
)

"""Tool calls and results inside the process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openclaw_core.domain.messages import Block, TextBlock


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A checked call: `arguments` satisfy the tool's schema; `parsed` is the tool's own pydantic
    model where it declares one."""

    id: str
    name: str
    arguments: Mapping[str, Any]
    parsed: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool gives back: content for the model, `details` for programs, `media` as URLs or
    media ids that belong into the reply."""

    content: tuple[Block, ...]
    is_error: bool = False
    details: Mapping[str, Any] | None = None
    media: tuple[str, ...] = ()

    @classmethod
    def text(cls, text: str, *, is_error: bool = False, details: Mapping[str, Any] | None = None) -> ToolResult:
        """A result of one text block."""
        return cls(content=(TextBlock(text=text),), is_error=is_error, details=details)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSchema:
    """What the model is told about a tool; `parameters` is JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]

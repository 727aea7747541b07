"""The few plain sentences that the demonstration understands."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

MAX_LINE = 4096
"""Characters of the first line that are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A tool call that the person asked for in plain words."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One sentence: how it looks, which tool it calls, and how it is shown to a person."""

    tool: str
    example: str
    pattern: re.Pattern[str]
    arguments: Callable[[re.Match[str]], Mapping[str, Any]]


def _bare(text: str) -> str:
    """A name without its quotes and without the full stop of the sentence."""
    if text and text[0] in _QUOTES:
        return text.strip(text[0])
    return (
        text[:-1] if text.endswith((".", "?", "!", ",")) and not text.endswith(("..", "/.")) and len(text) > 1 else text
    )


_QUOTES = "`\"'"
_FLAGS = re.I
_PLEASE = r"\s*(?:please\s+|can you\s+)?"
_NAME = r"(`[^`\n]+`|\"[^\"\n]+\"|'[^'\n]+'|[^\s`\"']+)"
_END = r"(?:,?\s+(?:and|then|please|for me)\b[^\n]*)?\s*[.!?]?\s*$"

COMMANDS: tuple[Command, ...] = (
    Command(
        tool="write",
        example="write FILE: TEXT",
        pattern=re.compile(_PLEASE + r"write\s+([^:\n]*[^:\s])\s*:[ \t]?(.*)$", re.I | re.S),
        arguments=lambda m: {"path": _bare(m[1]), "content": m[2]},
    ),
    Command(
        tool="read",
        example="read FILE",
        pattern=re.compile(_PLEASE + r"(?:read|cat)\s+(?:(?:the\s+)?file\s+)?" + _NAME + _END, _FLAGS | re.M),
        arguments=lambda m: {"path": _bare(m[1])},
    ),
    Command(
        tool="ls",
        example="ls [DIR]",
        pattern=re.compile(
            _PLEASE + r"(?:ls|list)(?:[ \t]+(?:the[ \t]+)?files)?(?:[ \t]+in)?(?:[ \t]+" + _NAME + r")?" + _END,
            _FLAGS | re.M,
        ),
        arguments=lambda m: {"path": _bare(m[1] or "") or "."},
    ),
    Command(
        tool="find",
        example="find PATTERN",
        pattern=re.compile(_PLEASE + r"find\s+" + _NAME + _END, _FLAGS | re.M),
        arguments=lambda m: {"pattern": _bare(m[1])},
    ),
    Command(
        tool="grep",
        example="grep PATTERN",
        pattern=re.compile(_PLEASE + r"grep\s+([^\n]*\S)", _FLAGS),
        arguments=lambda m: {"pattern": m[1].strip(_QUOTES)},
    ),
)


def understand(text: str, tools: Collection[str]) -> Wanted | None:
    """The tool call that `text` asks for, if the tool is offered.

    A channel may put a line in brackets before the message; the first line that matches counts.
    """
    lines = text.splitlines()
    for at in range(len(lines)):
        rest = re.sub(r"^\s*\[[^\]\n]*\]\s*", "", "\n".join(lines[at:]))
        for command in COMMANDS:
            if command.tool not in tools or len(rest.split("\n", 1)[0]) > MAX_LINE:
                continue
            match = command.pattern.match(rest)
            if match is not None:
                arguments = command.arguments(match)
                if all(arguments.get(k) for k in ("path", "pattern") if k in arguments):
                    return Wanted(tool=command.tool, arguments=arguments)
    return None


def examples(tools: Collection[str]) -> list[str]:
    """The sentences that work with the offered tools."""
    return [c.example for c in sorted(COMMANDS, key=lambda c: c.example) if c.tool in tools]

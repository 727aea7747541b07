"""Cutting a reply into parts a platform takes (behaviour.md 1.8), counted in the platform's own unit."""

from __future__ import annotations

import re
from dataclasses import dataclass

from openclaw_core.domain.channels import TextUnit

_FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,})(?P<info>[^\n`]*)$", re.MULTILINE)
_BREAKS = (re.compile(r"\n[ \t]*\n+"), re.compile(r"\n"), re.compile(r"[.!?][\"')\]]*\s"), re.compile(r"\s"))
_REOPEN_MAX = 64
"""An opening fence line longer than this is reopened without its info text."""


def measure(text: str, unit: TextUnit) -> int:
    """Length in bytes of UTF-8, UTF-16 code units, or code points."""
    if unit is TextUnit.CODE_POINTS:
        return len(text)
    if unit is TextUnit.BYTES:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(1 for c in text if ord(c) > 0xFFFF)


def _fitting(text: str, limit: int, unit: TextUnit) -> int:
    """How many code points of `text` fit into `limit` units; never half a character."""
    if unit is TextUnit.CODE_POINTS:
        return min(len(text), limit)
    used = 0
    for index, char in enumerate(text):
        point = ord(char)
        if unit is TextUnit.UTF16:
            used += 2 if point > 0xFFFF else 1
        else:
            used += 1 if point < 0x80 else 2 if point < 0x800 else 3 if point < 0x10000 else 4
        if used > limit:
            return index
    return len(text)


def _joined(text: str, cut: int) -> bool:
    """Whether a cut would fall inside a character that is shown as one (marks, joiners, modifiers)."""
    if not 0 < cut < len(text):
        return False
    following, before = ord(text[cut]), ord(text[cut - 1])
    mark = 0x0300 <= following <= 0x036F or 0xFE00 <= following <= 0xFE0F or 0x1F3FB <= following <= 0x1F3FF
    return mark or following == 0x200D or before == 0x200D or 0xDC00 <= following <= 0xDFFF


@dataclass(frozen=True, slots=True)
class _Fence:
    mark: str
    line: str


def _open_fence(text: str, start: _Fence | None) -> _Fence | None:
    """The code fence that is open at the end of `text`."""
    state = start
    for match in _FENCE.finditer(text):
        mark = match["fence"]
        if state is None:
            line = match[0] if len(match[0]) <= _REOPEN_MAX else mark
            state = _Fence(mark, line)
        elif mark[0] == state.mark[0] and len(mark) >= len(state.mark) and not match["info"].strip():
            state = None
    return state


def split(text: str, limit: int, unit: TextUnit = TextUnit.UTF16) -> list[str]:
    """Parts of at most `limit` units. Prefers paragraph, line, sentence, word; then cuts hard.

    Without code fences the parts joined give the text back, except for blank space at the cuts. A cut
    inside a fence closes it and opens it again in the next part. Raises ValueError for a limit below 16.
    """
    if limit < 16:
        raise ValueError("a text limit below 16 cannot hold a code fence")
    parts: list[str] = []
    fence: _Fence | None = None
    rest = text
    while rest:
        prefix = f"{fence.line}\n" if fence is not None else ""
        if measure(prefix, unit) > limit // 2:
            prefix, fence = "", None
        if measure(prefix + rest, unit) <= limit:
            parts.append(prefix + rest)
            break
        room = limit - measure(prefix, unit)
        cut = _cut(rest, room, unit)
        inside = _open_fence(rest[:cut], fence)
        if inside is not None:
            closer = "\n" + inside.mark
            cut = _cut(rest, max(1, room - measure(closer, unit)), unit)
            inside = _open_fence(rest[:cut], fence)
        piece = rest[:cut]
        closing = f"\n{inside.mark}" if inside is not None else ""
        if measure(prefix + piece + closing, unit) > limit:
            inside, closing = None, ""
        parts.append(prefix + (piece.rstrip("\n") if closing else piece.rstrip()) + closing)
        rest = rest[cut:]
        rest = rest.removeprefix("\n") if inside is not None else rest.lstrip("\n")
        fence = inside
    return [part for part in parts if part.strip()]


def _cut(text: str, room: int, unit: TextUnit) -> int:
    """Where to cut `text` so that the first piece fits into `room`: at least one code point."""
    most = max(1, _fitting(text, room, unit))
    if most >= len(text):
        return len(text)
    least = most // 2
    window = text[: most + 1]
    for pattern in _BREAKS:
        last = None
        for match in pattern.finditer(window):
            if match.end() <= most:
                last = match.end()
        if last is not None and last > least:
            return last
    cut = most
    while cut > max(1, most - 32) and _joined(text, cut):
        cut -= 1
    return cut if not _joined(text, cut) else most

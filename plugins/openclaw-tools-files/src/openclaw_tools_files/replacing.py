"""Replacing texts in a file's content, with the file's own line ends kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from openclaw_core.sdk import ToolError


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """The new content and the line (from 1) of the first change."""

    text: str
    first_line: int


class _Original:
    """A text that is searched with its line ends as LF and cut at its real ones."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.unix = text.replace("\r\n", "\n")
        self._starts: list[int] = []
        if len(self.unix) != len(text):
            self._starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))

    def real(self, at: int) -> int:
        """Position in the text of position `at` in its LF form."""
        if not self._starts:
            return at
        return self._starts[self.unix.count("\n", 0, at)] + at - (self.unix.rfind("\n", 0, at) + 1)

    def positions(self, old: str) -> list[int]:
        """Where `old` (LF) begins in the LF form, overlaps included; at most 1,000."""
        found: list[int] = []
        at = self.unix.find(old)
        while at >= 0 and len(found) < 1000:
            found.append(at)
            at = self.unix.find(old, at + 1)
        return found


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _ends_like(text: str, new: str) -> str:
    """`new` with the line ends of `text` (those of its majority; unchanged where it has none)."""
    total = text.count("\n")
    if not total:
        return new
    windows = text.count("\r\n")
    unix = new.replace("\r\n", "\n")
    return unix.replace("\n", "\r\n") if windows * 2 > total else unix


def _find(original: _Original, old: str, which: str, path: str) -> tuple[int, int]:
    """Where `old` stands in the text; raises ToolError unless exactly once."""
    if not old:
        raise ToolError(f"{which} is empty; give the text to replace, or use write for a new file.", code="no_match")
    old = old.replace("\r\n", "\n")
    found = original.positions(old)
    if len(found) == 1:
        return original.real(found[0]), original.real(found[0] + len(old))
    if not found:
        raise ToolError(f"{which} was not found in {path}.{_near(original.unix, old)}", code="no_match")
    lines = ", ".join(str(_line_of(original.unix, at)) for at in found[:5]) + (", ..." if len(found) > 5 else "")
    raise ToolError(
        f"{which} occurs {len(found)} times in {path} (lines {lines}); add surrounding text to make it unique.",
        code="many_matches",
    )


def _near(text: str, old: str) -> str:
    """A hint where the text exists with other white space."""
    words = [re.escape(word) for word in old.split()]
    if not words or len(old) > 10_000 or len(text) > 1_000_000:
        return " Read the file again and copy the text exactly."
    similar = re.search(r"\s+".join(words), text)
    if similar is None:
        return " Read the file again and copy the text exactly."
    return f" Line {_line_of(text, similar.start())} has it with other white space; copy it exactly."


def replace_all(text: str, pairs: Sequence[tuple[str, str]], path: str) -> Replaced:
    """Apply every (old, new) pair to the original `text`, or none.

    Raises ToolError when an old text is missing, not unique, equal to the new one, or overlaps another.
    """
    original = _Original(text)
    spans: list[tuple[int, int, str, str]] = []
    for number, (old, new) in enumerate(pairs):
        which = "oldText" if len(pairs) == 1 else f"edits[{number}].oldText"
        start, end = _find(original, old, which, path)
        new = _ends_like(text, new)
        if text[start:end] == new:
            raise ToolError(f"{which} and newText are the same; nothing would change in {path}.", code="no_change")
        spans.append((start, end, new, which))
    spans.sort()
    for left, right in pairwise(spans):
        if left[1] > right[0]:
            raise ToolError(f"{left[3]} and {right[3]} overlap in {path}; merge them.", code="overlap")
    pieces: list[str] = []
    at = 0
    for start, end, new, _ in spans:
        pieces += text[at:start], new
        at = end
    return Replaced(text="".join([*pieces, text[at:]]), first_line=_line_of(text, spans[0][0]))

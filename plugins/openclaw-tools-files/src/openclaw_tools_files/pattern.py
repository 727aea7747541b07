"""Patterns a model gives: regular expressions with a time limit, and globs.

The `regex` package is used instead of `re` because `re` can neither be interrupted nor does it let
other threads run: one catastrophic pattern would stop the whole gateway.
"""

from __future__ import annotations

from typing import Any

import regex  # type: ignore[import-untyped]  # ships no types; used in this module only

from openclaw_core.sdk import ToolError
from openclaw_tools_files.bounded import Deadline

MAX_SECONDS_A_TEXT = 1.0
"""Longest time for one line or one name; only catastrophic patterns come near it."""


_QUICK_SECONDS = 0.2
# What may match in a line by itself and not in the whole text: groups with a look around them, possessive
# repetition, anchors of the whole text.
_NOT_QUICK = regex.compile(r"\(\?|[*+?}]\+|\\[^\W_a-y0-9]|\\z")


class Pattern:
    """A compiled pattern whose search ends in time."""

    def __init__(self, compiled: Any, source: str) -> None:
        self._compiled = compiled
        self._source = source
        self._quick = _NOT_QUICK.search(compiled.pattern) is None

    def surely_not_in(self, lines: list[str], deadline: Deadline) -> bool:
        """Whether one search over all lines together shows that none matches; hundreds of times faster than
        asking for each. False says nothing."""
        if not self._quick:
            return False
        try:
            limit = min(_QUICK_SECONDS, max(deadline.left, 0.001))
            return self._compiled.search("\n".join(lines), timeout=limit, concurrent=True) is None
        except TimeoutError:
            return False

    def found_in(self, text: str, deadline: Deadline) -> bool:
        """Whether `text` holds a match. Raises ToolError when the search takes too long."""
        left = min(MAX_SECONDS_A_TEXT, deadline.left)
        if left > 0:
            try:
                return self._compiled.search(text, timeout=left, concurrent=True) is not None
            except TimeoutError:
                pass
        raise ToolError(f"The pattern {self._source!r} takes too long to match; use a simpler one.", code="too_slow")


def regular(source: str, *, ignore_case: bool, literal: bool) -> Pattern:
    """A regular expression (or a `literal` text). Raises ToolError where it is none."""
    # A line holds no LF, so MULTILINE changes nothing for one line and lets many be searched together.
    flags = regex.MULTILINE | (regex.IGNORECASE if ignore_case else 0)
    try:
        return Pattern(regex.compile(regex.escape(source) if literal else source, flags), source)
    except (regex.error, RecursionError, OverflowError) as error:
        raise ToolError(f"{source!r} is no regular expression: {error}.", code="bad_pattern") from None


def glob(source: str) -> Pattern:
    """A glob: ``*`` and ``?`` within a name, ``**`` over directories, ``[a-z]``, ``[!a]``, ``{a,b}``.

    A pattern without a slash matches names at any depth, one with a slash the path from the searched
    directory. Raises ToolError for an empty pattern.
    """
    text = source.removeprefix("./").lstrip("/")
    if not text:
        raise ToolError("The glob is empty; use * for all files.", code="bad_pattern")
    prefix = "" if "/" in text else "(?:.*/)?"
    try:
        return Pattern(regex.compile(f"^{prefix}{_translate(text)}$(?!\\n)", regex.DOTALL), source)
    except regex.error:
        raise ToolError(f"{source!r} is no glob.", code="bad_pattern") from None


def _translate(text: str) -> str:
    out: list[str] = []
    at = depth = 0
    while at < len(text):
        one = text[at]
        at += 1
        if text.startswith("**/", at - 1):
            out.append("(?:.*/)?")
            at += 2
        elif text.startswith("**", at - 1):
            out.append(".*")
            at += 1
        elif one == "*":
            out.append("[^/]*")
        elif one == "?":
            out.append("[^/]")
        elif one == "[" and (end := _class_end(text, at)) > 0:
            out.append(_class(text[at:end]))
            at = end + 1
        elif one == "{" and "}" in text[at:]:
            depth += 1
            out.append("(?:")
        elif one == "}" and depth:
            depth -= 1
            out.append(")")
        elif one == "," and depth:
            out.append("|")
        else:
            out.append(regex.escape(one))
    return "".join(out) + ")" * depth


def _class_end(text: str, at: int) -> int:
    """Index of the ``]`` that ends a class whose content begins at `at`, -1 where there is none."""
    start = at + 1 if text[at : at + 1] in ("!", "^") else at
    return text.find("]", start + 1)


def _class(content: str) -> str:
    negated = content[0] in "!^"
    body = content[1:] if negated else content
    safe = "".join(f"\\{c}" if c in "\\[]^&~|" else c for c in body)
    return f"(?!/)[^{safe}]" if negated else f"(?!/)[{safe}]"

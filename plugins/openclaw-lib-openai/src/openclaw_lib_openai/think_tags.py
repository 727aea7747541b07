"""Reasoning that a server leaves in the content, between ``<think>`` tags at its beginning."""

from __future__ import annotations

OPEN, CLOSE = "<think>", "</think>"


class ThinkTags:
    """Splits the pieces of a content stream into reasoning and text. Tags may be cut anywhere."""

    def __init__(self) -> None:
        self._state = "start"
        self._held = ""

    def feed(self, piece: str) -> list[tuple[bool, str]]:
        """(is reasoning, text) for what is certain now."""
        out: list[tuple[bool, str]] = []
        self._held += piece
        if self._state == "start":
            begun = self._held.lstrip()
            if begun.startswith(OPEN):
                self._state, self._held = "inside", begun[len(OPEN) :]
            elif not OPEN.startswith(begun):
                self._state = "text"
            else:
                return out
        if self._state == "inside":
            thought, tag, rest = self._held.partition(CLOSE)
            if tag:
                self._state, self._held = "gap", rest
            else:
                keep = _tail(thought)
                self._held = thought[len(thought) - keep :] if keep else ""
                thought = thought[: len(thought) - keep]
            if thought:
                out.append((True, thought))
        if self._state == "gap":
            self._held = self._held.lstrip()
            if self._held:
                self._state = "text"
        if self._state == "text" and self._held:
            out.append((False, self._held))
            self._held = ""
        return out

    def end(self) -> list[tuple[bool, str]]:
        """What was held back when the stream ended."""
        held, self._held = self._held, ""
        return [(self._state == "inside", held)] if held.strip() else []


def _tail(text: str) -> int:
    """Length of the longest end of `text` that may begin the closing tag."""
    return next((n for n in range(len(CLOSE) - 1, 0, -1) if text.endswith(CLOSE[:n])), 0)

"""A JSON5 text with the places of its values, so that one value can be changed and every other byte stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from openclaw_core.errors import OpenClawError

_BLANK = frozenset({"WHITESPACE", "LINE_COMMENT", "BLOCK_COMMENT"})
_COMMENTS = frozenset({"LINE_COMMENT", "BLOCK_COMMENT"})
_OPEN = {"LBRACE": "RBRACE", "LBRACKET": "RBRACKET"}


class NotEditable(OpenClawError):
    """The text cannot be changed in place."""

    code = "config_not_editable"


@dataclass(slots=True)
class Entry:
    """A member of an object (`key` set) or an item of a list. `start` is where its key (or value) begins,
    `comma` the place of the comma behind it, if there is one."""

    key: str | None
    start: int
    value: Value
    comma: int | None = None


@dataclass(slots=True)
class Value:
    """A value from `start` to `end`; `entries` for objects and lists. `content` is the end of the last
    thing between its brackets that is not white space: a value, a comma or a comment."""

    kind: str
    start: int
    end: int
    entries: list[Entry] = field(default_factory=list)
    content: int = 0
    content_is_line_comment: bool = False

    def member(self, key: str) -> Entry | None:
        """The member with a key; of two the last, as readers do."""
        return next((entry for entry in reversed(self.entries) if entry.key == key), None)


class Document:
    """Text and the tree of its places. Raises NotEditable when the text cannot be read."""

    def __init__(self, text: str) -> None:
        from json5.tokenizer import tokenize

        self.text = text
        try:
            self._tokens: list[Any] = list(tokenize(text))
        except Exception as error:  # a foreign tokenizer: whatever it raises means "cannot"
            raise NotEditable(f"The file cannot be changed in place: {error}.") from error
        self._at = 0
        self.root = self._value()
        self._skip()
        if self._at != len(self._tokens):
            raise NotEditable("The file holds more than one value.")

    @property
    def newline(self) -> str:
        """The line end that the text uses first."""
        position = self.text.find("\n")
        return "\r\n" if position > 0 and self.text[position - 1] == "\r" else "\n"

    @property
    def quoted_keys(self) -> bool:
        """Whether the first key of the text stands in quotes (the style of plain JSON)."""
        first = self.root.entries[0].start if self.root.entries else None
        return first is not None and self.text[first] in "\"'"

    def indent_of(self, position: int) -> str:
        """The white space at the beginning of the line of a place."""
        begin = self.text.rfind("\n", 0, position) + 1
        line = self.text[begin:position]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _peek(self) -> str:
        return str(self._tokens[self._at].type) if self._at < len(self._tokens) else ""

    def _skip(self) -> None:
        while self._peek() in _BLANK:
            self._at += 1

    def _value(self) -> Value:
        self._skip()
        kind = self._peek()
        if kind in _OPEN:
            return self._container(kind, _OPEN[kind])
        begin = self._at
        while self._peek() not in {"", "COMMA", "COLON", "RBRACE", "RBRACKET"} | _BLANK:
            self._at += 1
        if begin == self._at:
            raise NotEditable("The file is not complete.")
        return Value(kind="scalar", start=self._tokens[begin].index, end=self._tokens[self._at - 1].end)

    def _container(self, opening: str, closing: str) -> Value:
        out = Value(kind="object" if opening == "LBRACE" else "list", start=self._tokens[self._at].index, end=0)
        self._at += 1
        while True:
            self._skip()
            if self._peek() == closing:
                break
            out.entries.append(self._entry(out.kind == "object"))
            if self._peek() == "COMMA":
                out.entries[-1].comma = self._tokens[self._at].index
                self._at += 1
            elif self._peek() != closing:
                raise NotEditable("The file is not complete.")
        out.end = self._tokens[self._at].end
        out.content, out.content_is_line_comment = self._last_content(out.start)
        self._at += 1
        return out

    def _last_content(self, start: int) -> tuple[int, bool]:
        for token in reversed(self._tokens[: self._at]):
            if token.type == "LINE_COMMENT":
                # The tokenizer counts the CR of a CRLF as part of the comment.
                return token.index + len(token.value.rstrip("\r")), True
            if token.type != "WHITESPACE" or token.index <= start:
                return token.end, False
        return start + 1, False

    def _entry(self, keyed: bool) -> Entry:
        if not keyed:
            value = self._value()
            self._skip()
            return Entry(key=None, start=value.start, value=value)
        if not self._peek():
            raise NotEditable("The file is not complete.")
        name = self._tokens[self._at]
        self._at += 1
        self._skip()
        if self._peek() != "COLON":
            raise NotEditable("The file is not complete.")
        self._at += 1
        value = self._value()
        self._skip()
        return Entry(key=_key(name.value), start=name.index, value=value)


def _key(text: str) -> str:
    import pyjson5

    if text.isidentifier():
        return text
    try:
        return str(next(iter(pyjson5.decode(f"{{{text}:0}}"))))
    except (pyjson5.Json5Exception, StopIteration) as error:
        raise NotEditable(f"The key {text} cannot be read.") from error


Path = Sequence[str | int]
"""Keys and list positions from the root to a value."""

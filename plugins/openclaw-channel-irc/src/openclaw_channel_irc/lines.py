"""Cutting a text into the lines of IRC."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

LINE_BYTES = 512
"""RFC 1459: a whole line with its CRLF. Message tags are not counted."""
HOST_BYTES = 63
"""The longest host name servers show; used while our own mask is unknown."""
USER_BYTES = 11
"""The longest user name (10) with the ``~`` for "not identified"."""

_JOINER = "\u200d"
_LOOK_BACK = 64
"""Characters that a cut may move back to keep a word or a written character whole."""


def budget(*, mask: str, target: str) -> int:
    """Bytes of text in one line as the server will relay it: ``:mask PRIVMSG target :text`` CRLF."""
    frame = len(f":{mask} PRIVMSG {target} :\r\n".encode("utf-8", "replace"))
    return LINE_BYTES - frame


def widest_mask(nick: str) -> str:
    """A mask at least as long as any that the server may show for `nick`."""
    return f"{nick}!{'u' * USER_BYTES}@{'h' * HOST_BYTES}"


def to_lines(text: str, most: int) -> list[str]:
    """The lines of `text`, each at most `most` bytes of UTF-8, empty ones left out.

    Characters that have a meaning to the protocol (NUL, CR, LF, the CTCP mark and other controls) never
    get into a line; tabs become spaces. Cuts fall after a space where one is near, and never inside a
    written character (accents, joined emoji, flags) unless it is longer than a line.
    """
    if most < 8:
        raise ValueError("less than 8 bytes for a line")
    out: list[str] = []
    for raw in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        line = "".join(c for c in raw.replace("\t", " ") if unicodedata.category(c) not in ("Cc", "Cs"))
        if line.strip():
            out += (piece for piece in _pieces(line, most) if piece.strip())
    return out


def _pieces(line: str, most: int) -> Iterator[str]:
    start = 0
    while start < len(line):
        end, used = start, 0
        while end < len(line) and (used := used + len(line[end].encode())) <= most:
            end += 1
        if end < len(line):
            end = _cut(line, start, end)
        yield line[start:end]
        start = end


def _cut(line: str, start: int, end: int) -> int:
    """The best place for a cut at or before `end`."""
    lowest = max(start + 1, end - _LOOK_BACK)
    for at in range(end, lowest - 1, -1):
        if line[at - 1] == " ":
            return at
    for at in range(end, lowest - 1, -1):
        if not _inside_character(line, at):
            return at
    return end


def _inside_character(line: str, at: int) -> bool:
    """Whether `at` lies within what people see as one character."""
    after, before = line[at], line[at - 1]
    if after == _JOINER or before == _JOINER or unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    if _is_flag_half(after):
        halves = 0
        while halves < min(at, 2 * _LOOK_BACK) and _is_flag_half(line[at - 1 - halves]):
            halves += 1
        return halves % 2 == 1
    return False


def _is_flag_half(one: str) -> bool:
    return "\U0001f1e6" <= one <= "\U0001f1ff"

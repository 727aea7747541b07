"""One page of a text file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import BufferedReader

MAX_LINES = 2000
MAX_BYTES = 50_000
MAX_LINE = 2000
"""Characters of one line; the rest of a longer line is cut with a note."""

_PIECE = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Lines of a file. `first` and `last` count from 1 (`last` < `first`: no line); `total` is None
    while the end of the file was not reached."""

    text: str
    first: int
    last: int
    total: int | None

    @property
    def note(self) -> str:
        """How to go on, empty when this is the whole file."""
        if self.total is not None and self.last >= self.total:
            return "" if self.first == 1 else f"[Lines {self.first}-{self.last} of {self.total}, the end of the file.]"
        of = f" of {self.total}" if self.total is not None else ""
        return f"[Lines {self.first}-{self.last}{of}. Continue with offset={self.last + 1}.]"


def page_bytes(context_window: int) -> int:
    """Bytes of a page: 50 KB, less for small windows (about a fifth of the window at 4 bytes a token)."""
    return max(4_000, min(MAX_BYTES, context_window * 4 // 5))


def _line(stream: BufferedReader) -> tuple[bytes, int]:
    """The next line without its end, cut at about four bytes for each allowed character; its full length.

    Length -1 at the end of the file. Never holds more than one piece of an endless line.
    """
    kept = stream.readline(_PIECE)
    if not kept:
        return b"", -1
    length, last = len(kept), kept
    while not last.endswith(b"\n"):
        last = stream.readline(_PIECE)
        if not last:
            break
        length += len(last)
    ended = last.endswith(b"\n")
    return (kept[:-1] if kept.endswith(b"\n") else kept)[: MAX_LINE * 4], length - ended


def _shown(raw: bytes, length: int) -> str:
    text = raw.decode("utf-8", "replace").removesuffix("\r")
    if length <= len(raw) and len(text) <= MAX_LINE:
        return text
    return f"{text[:MAX_LINE].rstrip(chr(0xFFFD))} [line cut: {length} bytes]"


def read_page(stream: BufferedReader, *, offset: int, limit: int, max_bytes: int, stop: Callable[[], bool]) -> Page:
    """Lines `offset` (from 1) and following: at most `limit` lines and `max_bytes` bytes, at least one line.

    After the page the rest is counted, until `stop()` says that it takes too long.
    """
    first = max(1, offset)
    lines: list[str] = []
    number = used = 0
    full = False
    while True:
        raw, length = _line(stream)
        if length < 0:
            return Page(text="\n".join(lines), first=first, last=first + len(lines) - 1, total=number)
        number += 1
        if number % 256 == 0 and stop():
            return Page(text="\n".join(lines), first=first, last=first + len(lines) - 1, total=None)
        if number < first or full:
            continue
        text = _shown(raw, length)
        used += len(text.encode()) + 1
        full = bool(lines) and used > max_bytes
        if not full:
            lines.append(text)
            full = len(lines) >= limit

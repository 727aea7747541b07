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
_MAX_COUNTED = 1 << 26
"""Bytes after a page that are read only to tell how many lines follow."""


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


class _Lines:
    """Reads a stream line by line without ever holding more than one piece of an endless line."""

    def __init__(self, stream: BufferedReader, stop: Callable[[], bool]) -> None:
        self._stream = stream
        self._stop = stop
        self._count = 0

    def next(self) -> tuple[bytes, int] | None:
        """The next line without its end, cut at about four bytes for each allowed character, and its full
        length; None at the end of the file. Raises TimeoutError when it is time to stop."""
        self._count += 1
        if self._count % 256 == 0 and self._stop():
            raise TimeoutError
        kept = last = self._stream.readline(_PIECE)
        if not kept:
            return None
        length = len(kept)
        while not last.endswith(b"\n") and (more := self._stream.readline(_PIECE)):
            length, last = length + len(more), more
            if self._stop():
                raise TimeoutError
        return kept.removesuffix(b"\n")[: MAX_LINE * 4], length - last.endswith(b"\n")

    def rest(self) -> int | None:
        """How many lines follow; None where that takes too long to find out."""
        count, left, last = 0, _MAX_COUNTED, b""
        while chunk := self._stream.read(1 << 20):
            count, left, last = count + chunk.count(b"\n"), left - len(chunk), chunk
            if left < 0 or self._stop():
                return None
        return count + (bool(last) and not last.endswith(b"\n"))


def _shown(raw: bytes, length: int) -> str:
    text = raw.decode("utf-8", "replace").removesuffix("\r")
    if length <= len(raw) and len(text) <= MAX_LINE:
        return text
    return f"{text[:MAX_LINE].rstrip(chr(0xFFFD))} [line cut: {length} bytes]"


def read_page(stream: BufferedReader, *, offset: int, limit: int, max_bytes: int, stop: Callable[[], bool]) -> Page:
    """Lines `offset` (from 1) and following: at most `limit` lines and `max_bytes` bytes, at least one line.

    After the page the rest of the lines is counted, where that is quick.
    """
    first = max(1, offset)
    source = _Lines(stream, stop)
    shown: list[str] = []
    number = used = 0
    total: int | None = None
    try:
        while len(shown) < limit:
            line = source.next()
            if line is None:
                total = number
                break
            number += 1
            if number < first:
                continue
            text = _shown(*line)
            used += len(text.encode()) + 1
            if shown and used > max_bytes:
                rest = source.rest()
                total = None if rest is None else number + rest
                break
            shown.append(text)
        else:
            rest = source.rest()
            total = None if rest is None else number + rest
    except TimeoutError:
        total = None
    return Page(text="\n".join(shown), first=first, last=first + len(shown) - 1, total=total)

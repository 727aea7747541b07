"""Server-sent events from bytes: our line splitter in front of the decoder of httpx-sse.

The iterator of that library decodes with the charset of the header, insists on a content type and drops a last event
without its blank line; real servers break all three. Its decoder of single lines is right and is used.
"""

from __future__ import annotations

from httpx_sse import ServerSentEvent
from httpx_sse._decoders import SSEDecoder  # the public names only offer the iterator; pinned below 0.5

MAX_LINE = 32 * 1024 * 1024
"""Bytes of one line; longer means the server is not talking to us."""


class LineTooLong(ValueError):
    """A line grew past its bound."""


class LineSplitter:
    """Bytes in any portions -> whole lines as text. Lines end with CRLF, LF or CR, and with nothing else
    (U+2028 is data); bytes that are not UTF-8 become U+FFFD; a leading byte order mark is dropped."""

    def __init__(self, max_line: int = MAX_LINE) -> None:
        self._max_line = max_line
        self._open: list[bytes] = []
        self._size = 0
        self._after_cr = False
        self._first = True

    def feed(self, data: bytes) -> list[str]:
        """The lines that `data` completes. A line that ends with CR is complete at once: an LF that
        follows later belongs to it."""
        if self._after_cr and data:
            self._after_cr = False
            if data[:1] == b"\n":
                data = data[1:]
        if not data:
            return []
        if b"\r" in data:
            self._after_cr = data[-1:] == b"\r"
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *whole, rest = data.split(b"\n")
        lines = []
        for piece in whole:
            if self._open:
                self._open.append(piece)
                piece = b"".join(self._open)
                self._open.clear()
                self._size = 0
            lines.append(self._text(piece))
        if rest:
            self._size += len(rest)
            if self._size > self._max_line:
                raise LineTooLong(f"a line of the event stream is longer than {self._max_line} bytes")
            self._open.append(rest)
        return lines

    def end(self) -> list[str]:
        """The last line, if its end is missing."""
        if not self._open:
            return []
        rest = b"".join(self._open)
        self._open.clear()
        self._size = 0
        return [self._text(rest)]

    def _text(self, line: bytes) -> str:
        text = line.decode("utf-8", "replace")
        if self._first:
            self._first = False
            text = text.removeprefix("\ufeff")
        return text


class EventReader:
    """Bytes in any portions -> events that carry data."""

    def __init__(self) -> None:
        self._lines = LineSplitter()
        self._decoder = SSEDecoder()

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events that `data` completes; comments and events without data are left out."""
        return self._events(self._lines.feed(data))

    def end(self) -> list[ServerSentEvent]:
        """The event that the end of the stream completes: a server may leave out the last blank line."""
        return self._events([*self._lines.end(), ""])

    def _events(self, lines: list[str]) -> list[ServerSentEvent]:
        out = []
        for line in lines:
            event = self._decoder.decode(line)
            if event is not None and event.data and not event.data.isspace():
                out.append(event)
        return out

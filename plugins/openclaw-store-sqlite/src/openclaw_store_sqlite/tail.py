"""The last lines of a transcript, parsed once and kept from turn to turn."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from openclaw_store_sqlite.lines import Line, is_header, split

_BLOCK = 64 * 1024
_MAX_BLOCK = 4 * 1024 * 1024
_KEEP_LINES = 512  # of a transcript between two turns, unless more were asked for
_MAX_LINES = 8192
_MAX_ABSENT = 64

Broken = Callable[[list[tuple[int, bytes]]], None]
"""Takes pieces of the file that are not lines."""


class Tail:
    """Bytes ``start`` to ``end`` of a transcript as parsed lines; ``start`` is where a line begins.

    Reading goes backwards from the end, so it costs as much as is asked for, not as the file is long.
    """

    __slots__ = ("absent", "cold", "device", "end", "entries", "ids", "inode", "offsets", "start", "window")

    def __init__(self, *, device: int, inode: int, end: int) -> None:
        self.device = device
        self.inode = inode
        self.start = end
        self.end = end
        self.entries: list[dict[str, Any]] = []
        self.offsets: list[int] = []
        self.ids: set[str] = set()
        self.absent: set[str] = set()
        """Ids that were looked for in vain through the whole file."""
        self.cold = True
        """Nothing was appended through this object yet, so lines of an interrupted run may lie before `start`."""
        self.window = 0
        """The number of lines that was asked for last."""

    @property
    def leaf(self) -> str | None:
        """Id of the last line that has one."""
        for entry in reversed(self.entries):
            ident = entry.get("id")
            if isinstance(ident, str):
                return ident
        return None

    def find(self, ident: str) -> int | None:
        """Index of the last line with this id among the parsed ones."""
        if ident not in self.ids:
            return None
        for index in range(len(self.entries) - 1, -1, -1):
            if self.entries[index].get("id") == ident:
                return index
        return None

    def covers(self, lines: int, until: str | None) -> bool:
        """Whether `view` can answer without reading."""
        if self.start == 0:
            return True
        return len(self.entries) >= lines and (until is None or until in self.ids or until in self.absent)

    def view(self, lines: int, until: str | None) -> list[dict[str, Any]]:
        """The last `lines` lines, or those back to `until`, whichever is more."""
        first = max(0, len(self.entries) - lines)
        found = self.find(until) if until is not None else None
        if found is not None:
            first = min(first, found)
        self.window = len(self.entries) - first
        return self.entries[first:]

    def add(self, offset: int, entry: dict[str, Any]) -> None:
        """Append a line that was just written."""
        self.entries.append(entry)
        self.offsets.append(offset)
        ident = entry.get("id")
        if isinstance(ident, str):
            self.ids.add(ident)
            self.absent.discard(ident)

    def forward(self, fd: int, size: int, broken: Broken) -> None:
        """Parse what was appended between `end` and `size`, which ends with a newline."""
        chunk = _read(fd, self.end, size)
        bad: list[tuple[int, bytes]] = []
        for line in split(chunk, self.end):
            if line.value is None:
                bad.append((line.offset, line.raw))
            elif not is_header(line):
                self.add(line.offset, line.value)
        self.end = size
        if bad:
            broken(bad)

    def back(self, fd: int, lines: int, until: str | None, broken: Broken) -> None:
        """Parse further back until `covers(lines, until)`."""
        rest = b""  # what was read but begins within a line
        position = self.start
        block = _BLOCK
        while not self.covers(lines, until):
            begin = max(0, position - block)
            rest = _read(fd, begin, position) + rest
            position = begin
            block = min(block * 2, _MAX_BLOCK)
            cut = 0 if begin == 0 else rest.find(b"\n") + 1
            if begin and cut == 0:
                continue
            self._prepend(list(split(rest[cut:], begin + cut)), broken)
            self.start = begin + cut
            rest = rest[:cut]
        if self.start == 0 and until is not None and until not in self.ids:
            if len(self.absent) >= _MAX_ABSENT:
                self.absent.clear()
            self.absent.add(until)

    def _prepend(self, found: list[Line], broken: Broken) -> None:
        good = [(line.offset, line.value) for line in found if line.value is not None and not is_header(line)]
        self.entries[:0] = [value for _, value in good]
        self.offsets[:0] = [offset for offset, _ in good]
        self.ids.update(ident for _, value in good if isinstance(ident := value.get("id"), str))
        bad = [(line.offset, line.raw) for line in found if line.value is None]
        if bad:
            broken(bad)

    def trim(self) -> None:
        """Forget the oldest lines beyond what turns have asked for."""
        keep = min(max(_KEEP_LINES, self.window), _MAX_LINES)
        drop = len(self.entries) - keep
        if drop <= keep // 4:  # in steps, so that a long conversation is not trimmed at each turn
            return
        self.start = self.offsets[drop]
        del self.entries[:drop], self.offsets[:drop]
        self.ids = {ident for entry in self.entries if isinstance(ident := entry.get("id"), str)}


class TailCache:
    """Tails of the transcripts used last, bounded by number and by bytes. Used on the writer thread only."""

    def __init__(self, *, sessions: int, size: int) -> None:
        self._tails: OrderedDict[Path, Tail] = OrderedDict()
        self._sessions = sessions
        self._size = size
        self._held = 0

    def take(self, path: Path) -> Tail | None:
        """Take the tail of a transcript out of the cache."""
        tail = self._tails.pop(path, None)
        if tail is not None:
            self._held -= tail.end - tail.start
        return tail

    def put(self, path: Path, tail: Tail) -> None:
        """Keep a tail for the next turn."""
        tail.trim()
        self.take(path)
        self._tails[path] = tail
        self._held += tail.end - tail.start
        while self._tails and (len(self._tails) > self._sessions or self._held > self._size):
            _, old = self._tails.popitem(last=False)
            self._held -= old.end - old.start


def _read(fd: int, begin: int, end: int) -> bytes:
    parts: list[bytes] = []
    while begin < end:
        part = os.pread(fd, end - begin, begin)
        if not part:
            break
        parts.append(part)
        begin += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)

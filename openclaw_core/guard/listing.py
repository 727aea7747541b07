"""Listing one directory, and walking a tree, beneath a root."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from openclaw_core.guard.descent import MAX_DEPTH
from openclaw_core.guard.paths import Resolver, open_fd
from openclaw_core.guard.pathtext import failure
from openclaw_core.guard.protection import is_protected, protected_below

EntryKind = Literal["file", "directory", "link", "other"]

SKIPPED_DIRECTORIES = frozenset({".git", "node_modules"})
"""Directories that a walk does not enter: large, and never what is looked for."""

_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a directory. `path` is relative to the listed directory, `size` in bytes,
    `modified_ms` in epoch milliseconds; of a link they describe the link itself."""

    path: str
    kind: EntryKind
    size: int
    modified_ms: int

    @property
    def name(self) -> str:
        """The last component."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Entries sorted by name; `truncated` when the directory holds more than was asked for."""

    entries: tuple[Entry, ...]
    truncated: bool


def _entry(found: os.DirEntry[str], prefix: str) -> Entry | None:
    try:
        info = found.stat(follow_symlinks=False)
    except OSError:
        return None  # removed between the listing and the look
    kind: EntryKind = "other"
    if stat.S_ISREG(info.st_mode):
        kind = "file"
    elif stat.S_ISDIR(info.st_mode):
        kind = "directory"
    elif stat.S_ISLNK(info.st_mode):
        kind = "link"
    return Entry(path=prefix + found.name, kind=kind, size=info.st_size, modified_ms=info.st_mtime_ns // 1_000_000)


def _scan(fd: int, prefix: str, limit: int) -> tuple[list[Entry], bool]:
    """At most `limit` entries of the open directory, sorted, and whether there are more."""
    entries: list[Entry] = []
    with os.scandir(fd) as found:
        for one in found:
            if len(entries) >= limit:
                return sorted(entries, key=lambda e: e.path), True
            if (entry := _entry(one, prefix)) is not None:
                entries.append(entry)
    return sorted(entries, key=lambda e: e.path), False


def list_beneath(
    root: Path,
    path: str = "",
    *,
    limit: int = 10_000,
    protected: Sequence[Path] = (),
    resolver: Resolver = "auto",
) -> Listing:
    """Entries of a directory beneath `root`; the empty path is the root. Refuses as `open_beneath` does."""
    fd, _ = open_fd(root, path, _LIST, protected=protected, resolver=resolver)
    try:
        entries, truncated = _scan(fd, "", limit)
    except OSError as error:
        raise failure(error, path) from None
    finally:
        os.close(fd)
    return Listing(entries=tuple(entries), truncated=truncated)


class Walk:
    """Iterates over the entries below a directory, depth first, each directory sorted by name.

    Links are reported and never followed. ``.git`` and ``node_modules`` are reported and not entered.
    Ends early, with `truncated` set, after `max_entries` or when `stop()` says so; directories deeper than
    `max_depth` or unreadable ones are left out and counted in `skipped`.
    """

    def __init__(
        self,
        root: Path,
        path: str = "",
        *,
        max_entries: int = 50_000,
        max_depth: int = MAX_DEPTH,
        protected: Sequence[Path] = (),
        stop: Callable[[], bool] = lambda: False,
        resolver: Resolver = "auto",
    ) -> None:
        self.truncated = False
        self.skipped = 0
        self._root = root
        self._path = path
        self._left = max_entries
        self._max_depth = max_depth
        self._protected = protected
        self._stop = stop
        self._resolver: Resolver = resolver
        self._places: tuple[tuple[str, ...], ...] = ()

    def __iter__(self) -> Iterator[Entry]:
        fd, start = open_fd(self._root, self._path, _LIST, protected=self._protected, resolver=self._resolver)
        places = protected_below(self._root, self._protected)
        self._places = tuple(place[len(start) :] for place in places if place[: len(start)] == start)
        return self._directory(fd, "", 0)

    def _directory(self, fd: int, prefix: str, depth: int) -> Iterator[Entry]:
        try:
            entries, more = _scan(fd, prefix, self._left + 1)
            self.truncated |= more
            for entry in entries:
                if is_protected(entry.path.split("/"), self._places):
                    continue
                if self._left <= 0 or self._stop():
                    self.truncated = True
                    return
                self._left -= 1
                yield entry
                if entry.kind == "directory" and entry.name not in SKIPPED_DIRECTORIES:
                    yield from self._below(fd, entry, depth + 1)
        finally:
            os.close(fd)

    def _below(self, fd: int, entry: Entry, depth: int) -> Iterator[Entry]:
        if depth > self._max_depth:
            self.skipped += 1
            return
        try:
            below = os.open(entry.name, _LIST | os.O_NOFOLLOW, dir_fd=fd)
        except OSError:
            self.skipped += 1  # unreadable, removed, or replaced by a link meanwhile
            return
        yield from self._directory(below, entry.path + "/", depth)


def walk_beneath(
    root: Path,
    path: str = "",
    *,
    max_entries: int = 50_000,
    max_depth: int = MAX_DEPTH,
    protected: Sequence[Path] = (),
    stop: Callable[[], bool] = lambda: False,
    resolver: Resolver = "auto",
) -> Walk:
    """A bounded walk below a directory beneath `root`; see `Walk`. Refuses as `open_beneath` does."""
    return Walk(
        root,
        path,
        max_entries=max_entries,
        max_depth=max_depth,
        protected=protected,
        stop=stop,
        resolver=resolver,
    )

"""One open transcript: append-only, flushed, repaired when opened."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from openclaw_core.sdk import SessionCorrupt, get_logger
from openclaw_store_sqlite.encoding import dumps
from openclaw_store_sqlite.faults import FAULTS, after, before
from openclaw_store_sqlite.lines import VERSION, encode, parse
from openclaw_store_sqlite.places import ensure_dir, sync_dir
from openclaw_store_sqlite.quarantine import set_aside
from openclaw_store_sqlite.session_lock import Holder, SessionLock, iso_now
from openclaw_store_sqlite.tail import Tail, TailCache
from openclaw_store_sqlite.writer import Writer

_log = get_logger("store")
_BLOCK = 64 * 1024
_FIRST_LINES = 64  # parsed when a transcript is opened for the first time
_SEARCH_BYTES = 32 * 1024 * 1024  # how far back a line of an interrupted run is looked for
_SEARCH_BLOCK = 1024 * 1024
_flush: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync


class _Pending:
    """Lines that are written but not flushed yet."""

    def __init__(self, flush: Callable[[], None]) -> None:
        self._flush = flush
        self._error: Exception | None = None
        self.done = False

    def finish(self) -> None:
        """Flush, once; a failure is raised to everybody who asks."""
        if not self.done:
            self.done = True
            try:
                self._flush()
            except Exception as error:
                self._error = error
                raise
        elif self._error is not None:
            raise self._error


class JsonlTranscript:
    """See openclaw_core.contracts.store.Transcript. Everything but `tail` and `append` runs on the writer thread."""

    def __init__(self, writer: Writer, cache: TailCache, path: Path, *, session_id: str, owner: str, cwd: str) -> None:
        self._writer = writer
        self._cache = cache
        self._path = path
        self._session_id = session_id
        self._owner = owner
        self._cwd = cwd
        self._lock = SessionLock(path.with_name(path.name + ".lock"))
        self._fd = -1
        self._inode = 0
        self._tail = Tail(device=0, inode=0, end=0)
        self._pending: _Pending | None = None

    @property
    def path(self) -> str:
        """See Transcript."""
        return str(self._path)

    async def tail(self, *, min_entries: int, until_id: str | None = None) -> list[Mapping[str, Any]]:
        """See Transcript. The lines are shared with the cache: do not change them."""
        if self._tail.covers(min_entries, until_id):
            return list(self._tail.view(min_entries, until_id))

        def read() -> list[Mapping[str, Any]]:
            self._tail.back(self._fd, min_entries, until_id, self._broken)
            return list(self._tail.view(min_entries, until_id))

        return await self._writer.file(read)

    async def append(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """See Transcript."""
        await self._writer.file_synced(lambda: self._append(lines))

    # ---- opening and closing ----------------------------------------------------------------

    def try_open(self) -> Holder | None:
        """Take the lock and open the file; the holder when the lock is taken."""
        ensure_dir(self._path.parent)
        holder = self._lock.acquire(self._owner)
        if holder is None:
            try:
                self._attach()
            except BaseException:
                self.close()
                raise
        return holder

    def close(self) -> None:
        """Keep what was parsed, close the file, give up the lock; may be called twice."""
        try:
            if self._fd >= 0:
                self._finish_pending()
                self._cache.put(self._path, self._tail)
        finally:
            self._detach()
            self._lock.release()

    def abandon(self) -> None:
        """Let go as a killed process would."""
        self._detach()
        self._lock.abandon()

    def _detach(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)

    def _attach(self) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
        self._fd = os.open(self._path, flags, 0o600)
        found = os.fstat(self._fd)
        if not stat.S_ISREG(found.st_mode):
            raise SessionCorrupt(f"{self._path} is not a regular file.", hint="Move it away, then try again.")
        self._inode = found.st_ino
        tail = self._cache.take(self._path)
        known = tail is not None and (tail.device, tail.inode) == (found.st_dev, found.st_ino)
        if tail is None or not known or found.st_size < tail.end:
            tail = None
        size = self._repair(found.st_size, 0 if tail is None else tail.end)
        if size == 0:
            size = self._write_header()
        if tail is None:
            tail = Tail(device=found.st_dev, inode=found.st_ino, end=size)
        self._tail = tail
        if size > tail.end:
            tail.forward(self._fd, size, self._broken)
        wanted = _FIRST_LINES
        while tail.leaf is None and tail.start > 0:
            tail.back(self._fd, wanted, None, self._broken)
            wanted *= 4

    def _write_header(self) -> int:
        header = {
            "type": "session",
            "version": VERSION,
            "id": self._session_id,
            "timestamp": iso_now(),
            "cwd": self._cwd,
        }
        data = encode(header)
        self._write(data, 0)
        _flush(self._fd)
        sync_dir(self._path.parent)
        return len(data)

    # ---- repair -----------------------------------------------------------------------------

    def _broken(self, pieces: list[tuple[int, bytes]]) -> None:
        set_aside(self._path, self._inode, pieces)

    def _repair(self, size: int, floor: int) -> int:
        """Make the file end with a newline: a whole object gets one, anything else is set aside and cut off.
        Nothing before `floor`, where a line begins, is looked at. Returns the new size."""
        if size == floor or os.pread(self._fd, 1, size - 1) == b"\n":
            return size
        begin, rest = size, b""
        while begin > floor and b"\n" not in rest:
            step = min(max(_BLOCK, len(rest)), begin - floor)
            begin -= step
            rest = os.pread(self._fd, step, begin) + rest
        cut = rest.rfind(b"\n") + 1
        begin, rest = begin + cut, rest[cut:]
        whole = rest.rstrip(b"\0")  # a crash of the machine can leave zeros behind the last flushed byte
        if parse(whole) is None:
            whole = b""
        end = begin + len(whole)
        if len(whole) < len(rest):
            self._broken([(end, rest[len(whole) :])])
            os.ftruncate(self._fd, end)
        if whole:
            self._write(b"\n", end)
            end += 1
        _flush(self._fd)
        return end

    # ---- appending --------------------------------------------------------------------------

    def _append(self, lines: Sequence[Mapping[str, Any]]) -> Callable[[], None]:
        """Write the lines that are not there yet; what is returned flushes them."""
        if self._fd < 0:
            raise SessionCorrupt(f"{self._path} is closed.", hint="Open the transcript again.")
        self._finish_pending()
        tail = self._tail
        size = os.fstat(self._fd).st_size
        if size != tail.end:  # somebody wrote without the lock, or an earlier append failed half way
            size = self._repair(size, min(tail.end, size))
            tail.forward(self._fd, size, self._broken)
        parent = tail.leaf
        fresh: list[tuple[int, dict[str, Any]]] = []
        data = b""
        written: set[str] = set()
        for line in lines:
            ident = line["id"]
            if ident in tail.ids or ident in written or (tail.cold and self._lies_before(ident)):
                continue
            value = {**line, "parentId": parent}
            fresh.append((size + len(data), value))
            data += encode(value)
            written.add(ident)
            parent = ident
        if data:
            self._write(data, size)
        self._pending = _Pending(lambda: self._flush_lines(size, fresh, size + len(data)))
        return self._pending.finish

    def _write(self, data: bytes, size: int) -> None:
        """Write at the end of the file, all or nothing. `size` is where it ends now."""
        try:
            if FAULTS:
                before("store.transcript.before_write")
                half = len(data) // 2
                done = os.write(self._fd, data[:half])
                before("store.transcript.half")
                done += os.write(self._fd, data[half:])
            else:
                done = os.write(self._fd, data)
            if done != len(data):  # a full disk takes a part without an error
                raise OSError(errno.ENOSPC, "short write")
        except OSError:
            self._cut(size)
            raise

    def _cut(self, size: int) -> None:
        try:
            os.ftruncate(self._fd, size)
        except OSError as error:  # the next open sets the torn line aside
            _log.warning("a half written line could not be cut off", file=str(self._path), error=str(error))

    def _flush_lines(self, size: int, fresh: list[tuple[int, dict[str, Any]]], end: int) -> None:
        """Make the lines durable. Also when all were there already: the process that wrote them may have been
        killed before it flushed."""
        try:
            if FAULTS:
                before("store.transcript.before_sync")
            _flush(self._fd)
        except OSError:
            self._cut(size)
            raise
        for offset, value in fresh:
            self._tail.add(offset, value)
            self._tail.cold = False
        self._tail.end = end
        if FAULTS:
            after("store.transcript.after_sync")

    def _finish_pending(self) -> None:
        if self._pending is not None and not self._pending.done:
            try:
                self._pending.finish()
            except OSError as error:  # also raised to its own caller, who waits for it
                _log.debug("flush failed", file=str(self._path), error=str(error))

    def _lies_before(self, ident: str) -> bool:
        """Whether a line with this id lies before the parsed ones. Bytes are searched, which is far cheaper than
        parsing; a hit is parsed to be sure."""
        needle = b'"id":' + dumps(ident).encode("ascii")
        end = self._tail.start
        floor = max(0, end - _SEARCH_BYTES)
        while end > floor:
            begin = max(floor, end - _SEARCH_BLOCK)
            if needle in os.pread(self._fd, end - begin + len(needle), begin):
                self._tail.back(self._fd, 0, ident, self._broken)
                return ident in self._tail.ids
            end = begin
        return False

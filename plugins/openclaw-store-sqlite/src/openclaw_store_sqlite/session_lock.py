"""The session write lock: a lock of the kernel on a file that names its holder."""

from __future__ import annotations

import fcntl
import json
import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from openclaw_core.sdk import get_logger
from openclaw_store_sqlite.encoding import dumps
from openclaw_store_sqlite.places import names

_log = get_logger("store")
_TRIES = 100
_MAX_CONTENT = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who holds a lock, as far as its file tells; `pid` is 0 when it does not."""

    pid: int
    owner: str
    created_at: str


def iso_now() -> str:
    """Now as ISO 8601 with milliseconds and Z."""
    now = datetime.fromtimestamp(time.time_ns() // 1_000_000 / 1000, UTC)
    return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@cache
def _start_time(pid: int) -> int | None:
    """Start of the process in clock ticks since boot (field 22 of /proc/PID/stat), where there is such a file."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return int(stat.rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


class SessionLock:
    """``<id>.jsonl.lock``: held while the kernel's lock on it is held, whatever its content says.

    The content, ``{pid, createdAt, starttime, owner}``, is for people and for the message of SessionBusy. What
    a killed process left behind does not matter. Not re-entrant: a second open in this process waits too.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None

    def acquire(self, owner: str) -> Holder | None:
        """Take the lock now; the present holder when it is taken, None on success."""
        for _ in range(_TRIES):
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            try:
                if not _lock(fd):
                    return _holder(_content(fd))
                if not names(self.path, fd):  # its holder removed the file between our open and our lock
                    continue
                self._claim(fd, owner)
                fd = -1
            finally:
                if fd >= 0:
                    os.close(fd)
            return None
        return Holder(pid=0, owner="", created_at="")

    def _claim(self, fd: int, owner: str) -> None:
        left = _content(fd)
        if left:
            old = _holder(left)
            _log.info("stale session lock removed", path=str(self.path), pid=old.pid, created=old.created_at)
            os.ftruncate(fd, 0)
        pid = os.getpid()
        told = {"pid": pid, "createdAt": iso_now(), "starttime": _start_time(pid), "owner": owner}
        os.pwrite(fd, dumps(told).encode("ascii"), 0)
        self._fd = fd

    def abandon(self) -> None:
        """Let go as a killed process would: the file stays."""
        if self._fd is not None:
            fd, self._fd = self._fd, None
            os.close(fd)

    def release(self) -> None:
        """Remove the file, then let go; does nothing when the lock is not held."""
        if self._fd is None:
            return
        fd, self._fd = self._fd, None
        try:
            self.path.unlink(missing_ok=True)
        finally:
            os.close(fd)


def _lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _content(fd: int) -> bytes:
    return os.pread(fd, _MAX_CONTENT, 0)


def _holder(content: bytes) -> Holder:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    fields = value if isinstance(value, dict) else {}
    pid = fields.get("pid")
    return Holder(
        pid=pid if isinstance(pid, int) and not isinstance(pid, bool) else 0,
        owner=str(fields.get("owner", "")),
        created_at=str(fields.get("createdAt", "")),
    )

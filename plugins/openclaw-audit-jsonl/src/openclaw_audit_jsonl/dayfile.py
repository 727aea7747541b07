"""The file of one day; everything here blocks."""

from __future__ import annotations

import errno
import fcntl
import os
import re
from datetime import date, timedelta
from pathlib import Path

from openclaw_core.sdk import StoreError, StoreFull

_NAME = re.compile(r"audit-(\d{4}-\d{2}-\d{2})\.jsonl")


class DayFile:
    """An append-only file, mode 0600. Several processes may append: each batch is one write under a lock."""

    def __init__(self, directory: Path, day: date) -> None:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = directory / f"audit-{day.isoformat()}.jsonl"
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            self._fd = os.open(self.path, flags, 0o600)
        except OSError as error:
            raise _failure(error) from error

    def append(self, lines: bytes) -> None:
        """Append whole lines or nothing. Raises StoreFull, StoreError."""
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        try:
            size = os.fstat(self._fd).st_size
            if size and os.pread(self._fd, 1, size - 1) != b"\n":
                lines = b"\n" + lines  # a line torn by a crash stays alone
            try:
                # A full disk takes a part of the data without an error; the next write then tells.
                written = os.write(self._fd, lines)
                if written < len(lines):
                    os.write(self._fd, lines[written:])
                if os.fstat(self._fd).st_size != size + len(lines):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError as error:
                os.ftruncate(self._fd, size)
                raise _failure(error) from error
        finally:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def flush(self) -> None:
        """Make everything durable."""
        os.fsync(self._fd)

    def close(self) -> None:
        """Close; call it once."""
        os.close(self._fd)


def _failure(error: OSError) -> StoreError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreFull("The audit file was not written: no space is left.")
    return StoreError(f"The audit file cannot be written: {error.strerror}.", hint="Check the audit folder.")


def remove_old(directory: Path, *, keep_days: int, today: date) -> None:
    """Delete files of days more than `keep_days` before `today`; other files are left alone."""
    if not directory.is_dir():
        return
    last = today - timedelta(days=keep_days)
    for entry in directory.iterdir():
        found = _NAME.fullmatch(entry.name)
        try:
            if found and date.fromisoformat(found[1]) < last:
                entry.unlink(missing_ok=True)
        except ValueError:
            continue  # a name like a date that is none: not ours

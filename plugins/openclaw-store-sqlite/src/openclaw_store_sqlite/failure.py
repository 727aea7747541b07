"""What went wrong on the disk, in the words of the product."""

from __future__ import annotations

import errno
import sqlite3

from openclaw_core.sdk import OpenClawError, StoreError, StoreFull

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def translate(error: BaseException, what: str = "The state") -> BaseException:
    """The error to hand to the caller: disk and database errors become StoreError or StoreFull,
    everything else stays what it is."""
    if isinstance(error, OpenClawError):
        return error
    if isinstance(error, OSError):
        if error.errno in _FULL:
            return StoreFull(f"{what} could not be written: no space left on the disk.")
        return StoreError(
            f"{what} could not be accessed: {error.strerror or error}.",
            hint="Check the permissions and the health of the disk that holds the state directory.",
        )
    if isinstance(error, sqlite3.Error):
        return _translate_sqlite(error, what)
    return error


def _translate_sqlite(error: sqlite3.Error, what: str) -> StoreError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return StoreFull(f"{what} could not be written: no space left on the disk.")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError(
            f"{what} is locked by another process for too long.",
            hint="See which other openclaw process uses this state directory, and stop it.",
            code="store_locked",
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreError(
            f"{what} is damaged: {error}.",
            hint="Restore the database file from a backup, or move it away to start a new one; transcripts stay.",
            code="store_corrupt",
        )
    return StoreError(
        f"{what} could not be read or written: {error}.",
        hint="Check the permissions and the health of the disk that holds the state directory.",
    )

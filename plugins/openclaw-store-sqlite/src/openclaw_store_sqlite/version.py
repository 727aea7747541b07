"""Whether a database file is ours and of a version we can open, found out without touching it."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from openclaw_core.sdk import StoreVersionError

APPLICATION_ID = 0x4F435079
"""Marks our database files (``OCPy``); SQLite keeps it at byte 68 of the file."""

_MAGIC = b"SQLite format 3\0"
_HEADER = 100  # bytes of the database header on page 1
_WAL_MAGIC = 0x377F0682  # the lowest bit tells the byte order of checksums, which are not looked at here
_FRAME = 24  # bytes before each page in the write-ahead log


def check(path: Path, newest: int) -> None:
    """Raise StoreVersionError unless the file is new, of version `newest`, or of the version before.

    Only reads: no lock is taken and no file beside it comes into being.
    """
    header = _header(path)
    if header is None:
        return
    if header[: len(_MAGIC)] != _MAGIC:
        raise StoreVersionError(f"{path} is not a database.", hint="Move this file away, then start again.")
    version, application = struct.unpack_from(">i", header, 60)[0], struct.unpack_from(">i", header, 68)[0]
    judge(path, version, application, newest)


def judge(path: Path, version: int, application: int, newest: int) -> None:
    """Raise StoreVersionError for a foreign database or a version that we do not know."""
    if application != APPLICATION_ID:
        raise StoreVersionError(
            f"{path} belongs to another program.", hint="Move this file away, or choose another OPENCLAW_STATE_DIR."
        )
    if version > newest:
        raise StoreVersionError(
            f"{path} was written by a newer version (state version {version}, known up to {newest}).",
            hint="Install the newer openclaw again, or choose another OPENCLAW_STATE_DIR.",
        )
    if version < newest - 1:
        raise StoreVersionError(
            f"{path} is too old (state version {version}, readable from {newest - 1}).",
            hint="Start the release in between once, which brings it forward.",
        )


def _header(path: Path) -> bytes | None:
    """The newest committed database header, from the write-ahead log if it lies there; None for no database.

    The log is read first: another process may fold it into the file at any moment, never the other way round.
    """
    logged = _logged_header(path.with_name(path.name + "-wal"))
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except FileNotFoundError:
        return None
    if not header:
        return None
    return logged or header.ljust(_HEADER, b"\0")


def _logged_header(log: Path) -> bytes | None:
    """Page 1 of the last committed transaction in a write-ahead log; None where there is none."""
    try:
        fd = os.open(log, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        start = os.pread(fd, 32, 0)
        if len(start) < 32:
            return None
        magic, _, page_size, _, salt = struct.unpack(">IIII8s8x", start)
        if magic & ~1 != _WAL_MAGIC or not 512 <= page_size <= 65536:
            return None
        found: bytes | None = None
        waiting: bytes | None = None
        offset = 32
        while len(frame := os.pread(fd, _FRAME, offset)) == _FRAME:
            page, committed, frame_salt = struct.unpack(">II8s8x", frame)
            if frame_salt != salt:  # left over from before the log was last reset
                break
            if page == 1:
                waiting = os.pread(fd, _HEADER, offset + _FRAME)
            if committed and waiting is not None:
                found, waiting = waiting, None
            offset += _FRAME + page_size
        return found if found is not None and len(found) == _HEADER else None
    finally:
        os.close(fd)

"""Broken bytes of a transcript, set aside in a file beside it and never deleted."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from openclaw_core.sdk import get_logger
from openclaw_store_sqlite.places import sync_dir

_log = get_logger("store")
_MARK = re.compile(rb"^# offset=(\d+) length=(\d+) file=(\d+)$", re.MULTILINE)


def set_aside(transcript: Path, inode: int, pieces: Sequence[tuple[int, bytes]]) -> None:
    """Copy ``(offset, bytes)`` pieces of a transcript to its quarantine file, each only once.

    Each piece stands after a line ``# offset=N length=N file=INODE`` and is followed by a newline.
    """
    path = transcript.with_name(transcript.name + ".quarantine")
    new = not path.exists()
    known = set() if new else {tuple(map(int, m.groups())) for m in _MARK.finditer(path.read_bytes())}
    fresh = [(offset, raw) for offset, raw in pieces if (offset, len(raw), inode) not in known]
    if not fresh:
        return
    data = b"".join(b"# offset=%d length=%d file=%d\n%s\n" % (offset, len(raw), inode, raw) for offset, raw in fresh)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.fsync(fd)
    finally:
        os.close(fd)
    if new:
        sync_dir(path.parent)
    _log.warning("broken transcript lines set aside", file=str(path), pieces=len(fresh))

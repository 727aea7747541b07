"""Where things lie in the state directory."""

from __future__ import annotations

import os
import re
from pathlib import Path

from openclaw_core.sdk import InvalidRequest

SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
"""Ids that may be a part of a path; all others are refused."""


class Places:
    """Paths below one state directory."""

    def __init__(self, state_dir: str) -> None:
        self.root = Path(state_dir)
        self.database = self.root / "state" / "openclaw-py.sqlite"
        self.locks = self.root / "locks"
        self.opening = self.locks / "store-open.lock"
        self.agents = self.root / "agents"

    def create(self) -> None:
        """Make the directories of the store, for the owner alone."""
        for path in (self.root, self.database.parent, self.locks):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.database.parent.chmod(0o700)

    def transcript(self, agent_id: str, session_id: str) -> Path:
        """The transcript file. Raises InvalidRequest for ids that could leave the directory."""
        for name, value in (("agent", agent_id), ("session", session_id)):
            if not SAFE.fullmatch(value):
                raise InvalidRequest(
                    f"'{value[:80]!r}' is not a usable {name} id.",
                    hint="Ids are up to 128 letters, digits, '.', '_' and '-', and begin with a letter or digit.",
                )
        return self.agents / agent_id / "sessions" / f"{session_id}.jsonl"


def sync_dir(path: Path) -> None:
    """Make a new name in a directory durable."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def ensure_dir(path: Path) -> None:
    """Create a directory for the owner alone and make it durable, with all that lead to it."""
    if path.is_dir():
        return
    ensure_dir(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)
    sync_dir(path.parent)


def names(path: Path, fd: int) -> bool:
    """Whether `path` still names the open file, which may have been removed or replaced since it was opened."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    here = os.fstat(fd)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)

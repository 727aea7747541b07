"""The workspace files that are part of every prompt (behaviour.md 3.2)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from openclaw_core.errors import OpenClawError
from openclaw_core.guard.paths import open_beneath
from openclaw_core.observe.logging import get_logger

_log = get_logger("prompt")

FILES = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md", "BOOTSTRAP.md", "MEMORY.md")
"""In order of injection."""
MINIMAL_FILES = ("AGENTS.md", "TOOLS.md")
"""What child sessions get."""
_MARKED = frozenset({"AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md"})
_MAX_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapFile:
    """A workspace file as it goes into the prompt; sizes in characters."""

    name: str
    path: str
    missing: bool
    raw_chars: int = 0
    text: str = ""

    @property
    def truncated(self) -> bool:
        """Whether less than the whole file is injected."""
        return len(self.text) < self.raw_chars


def stamp(workspace: Path) -> tuple[tuple[int, int, int] | None, ...]:
    """A cheap fingerprint of all files: changes when one of them does. Blocking."""
    out: list[tuple[int, int, int] | None] = []
    for name in FILES:
        try:
            info = os.lstat(workspace / name)
        except OSError:
            out.append(None)
        else:
            out.append((info.st_mtime_ns, info.st_size, info.st_ino))
    return tuple(out)


def read_all(workspace: Path, *, max_chars: int, total_chars: int, private: bool = True) -> list[BootstrapFile]:
    """Read the files, cut each to `max_chars` and all to `total_chars`. Blocking; run in a thread.

    MEMORY.md is read in private conversations only.
    """
    out: list[BootstrapFile] = []
    left = total_chars
    for name in FILES:
        if name == "MEMORY.md" and not private:
            continue
        raw = _read(workspace, name)
        path = str(workspace / name)
        if raw is None:
            out.append(BootstrapFile(name=name, path=path, missing=True))
            continue
        text = shorten(raw.strip(), min(max_chars, left))
        left = max(0, left - len(text))
        out.append(BootstrapFile(name=name, path=path, missing=False, raw_chars=len(raw.strip()), text=text))
    return out


def _read(workspace: Path, name: str) -> str | None:
    try:
        opened = open_beneath(workspace, name)
    except (OpenClawError, OSError) as error:
        if (workspace / name).is_symlink() or (workspace / name).exists():
            _log.warning("workspace file not used", file=name, error=str(error))
        return None
    with opened:
        if opened.size > _MAX_BYTES:
            _log.warning("workspace file too large", file=name, bytes=opened.size)
            return None
        return opened.read(_MAX_BYTES).decode("utf-8", "replace").removeprefix("\ufeff")


def shorten(text: str, limit: int) -> str:
    """Cut with a marker: 70 % from the head, 20 % from the tail."""
    if len(text) <= limit:
        return text
    if limit < 200:
        return text[:limit]
    head, tail = text[: int(limit * 0.7)], text[-int(limit * 0.2) :]
    return f"{head}\n[… {len(text) - len(head) - len(tail)} characters left out …]\n{tail}"


def context(files: list[BootstrapFile]) -> str:
    """The project context section: each file under its name, a short mark for a missing one."""
    parts: list[str] = []
    for file in files:
        if file.missing:
            if file.name in _MARKED:
                parts.append(f"## {file.name}\n[missing]")
        elif file.text:
            note = " (adopt this persona)" if file.name == "SOUL.md" else ""
            parts.append(f"## {file.name}{note}\n{file.text}")
    return "# Project context\n" + "\n\n".join(parts) if parts else ""

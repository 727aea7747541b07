"""The only way to open files that a message, a model or a plugin names (DESIGN section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedFile:
    """An open descriptor (the caller closes it) and what it is."""

    fd: int
    path: Path
    size: int
    mode: int


def open_beneath(root: Path, path: str, *, mode: Literal["read"] = "read") -> OpenedFile:
    """Open a regular file beneath `root`; see the tests for what is refused."""
    raise NotADirectoryError(path)


def replace_beneath(root: Path, path: str, data: bytes) -> Path:
    """Write a whole file beneath `root` by a temporary file and a rename."""
    raise NotADirectoryError(path)


def list_beneath(root: Path, path: str) -> list[str]:
    """Names in a directory beneath `root`."""
    raise NotADirectoryError(path)

"""Where skills come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillEntry:
    """One skill folder with a SKILL.md."""

    name: str
    path: Path


class SkillScanner(Protocol):
    """Lists skills of one source."""

    def scan(self) -> Iterable[SkillEntry]:
        """All skill folders beneath the source's root."""
        ...

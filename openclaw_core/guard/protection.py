"""Places that tools may not touch although they lie beneath a root."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from openclaw_core.errors import ToolRefused
from openclaw_core.guard.pathtext import shown


def protected_below(root: Path, protected: Iterable[Path]) -> tuple[tuple[str, ...], ...]:
    """Those of `protected` that are `root` or lie below it, as components below the real root.

    A protected directory that *contains* the root (the state directory around the default workspace)
    protects nothing in it: the root was chosen more precisely.
    """
    base = os.path.realpath(root).rstrip("/")
    found: list[tuple[str, ...]] = []
    for place in protected:
        real = os.path.realpath(place)
        if real == (base or "/"):
            found.append(())
        elif real.startswith(base + "/"):
            found.append(tuple(real[len(base) + 1 :].split("/")))
    return tuple(found)


def is_protected(parts: Sequence[str], places: Iterable[Sequence[str]]) -> bool:
    """Whether the real components `parts` are one of `places` or lie below one."""
    return any(tuple(parts[: len(place)]) == tuple(place) for place in places)


def check_place(parts: Sequence[str], places: Iterable[Sequence[str]], path: str, *, writing: bool) -> None:
    """Raise ToolRefused where the real place `parts` is protected.

    Writing anything of a ``.git`` directory is refused everywhere: a hook or a configuration written
    there is a program that git runs later, outside of every check.
    """
    if is_protected(parts, places):
        raise ToolRefused(
            f"{shown(path)} was refused: it belongs to OpenClaw itself.",
            hint="Its state and configuration change only through the openclaw command.",
            code="path_protected",
        )
    if writing and any(part.casefold() == ".git" for part in parts):
        raise ToolRefused(
            f"{shown(path)} was refused: files of git itself are changed only by git.",
            hint="Use git commands instead.",
            code="path_protected",
        )

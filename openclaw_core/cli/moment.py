"""Times and durations for people."""

from __future__ import annotations

import time


def when(ms: int | None) -> str:
    """Local date and time of epoch milliseconds."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(ms / 1000)) if ms else ""


def ago(ms: int) -> str:
    """A duration in the largest sensible unit."""
    seconds = ms / 1000
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def took(ms: int | None) -> str:
    """A duration in ms or s."""
    if ms is None:
        return ""
    return f"{ms} ms" if ms < 1000 else f"{ms / 1000:.1f} s"

"""Blocking work in a thread that ends soon after its time is up or its caller is gone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Deadline:
    """A point in time that blocking loops look at; `cancel` moves it to now."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._cancelled = False

    def cancel(self) -> None:
        """Nobody waits for the result any more."""
        self._cancelled = True

    @property
    def left(self) -> float:
        """Seconds that remain, 0.0 when it is over."""
        return 0.0 if self._cancelled else max(0.0, self._end - time.monotonic())

    def over(self) -> bool:
        """Whether the work should stop."""
        return self.left <= 0.0


async def in_thread(work: Callable[[Deadline], T], *, seconds: float) -> T:
    """Run `work` in a thread. When the caller is cancelled the thread sees its deadline as over."""
    deadline = Deadline(seconds)
    try:
        return await asyncio.to_thread(work, deadline)
    finally:
        deadline.cancel()

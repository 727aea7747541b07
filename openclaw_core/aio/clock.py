"""The clock port: everything that waits or tells the time goes through it."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Time as the product sees it."""

    def now_ms(self) -> int:
        """Wall clock in epoch milliseconds; may jump."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back; for durations and time-outs."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; cancellable."""
        ...


class SystemClock:
    """The real clock."""

    def now_ms(self) -> int:
        """See Clock."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        """See Clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        await asyncio.sleep(seconds)

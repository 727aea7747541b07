"""A clock that a test moves by hand; nothing waits for real."""

from __future__ import annotations

import asyncio
import heapq
import itertools


class FakeClock:
    """Implements the port `Clock`.

    With `jump`, sleeping moves the time on at once; without, sleepers wait until `advance` reaches their moment.
    """

    def __init__(self, *, now_ms: int = 1_700_000_000_000, jump: bool = False) -> None:
        self._start_ms = now_ms
        self._seconds = 0.0
        self._jump = jump
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self.slept: list[float] = []
        """How long each sleep was asked to be, in seconds."""

    def now_ms(self) -> int:
        """See Clock."""
        return self._start_ms + round(self._seconds * 1000)

    def monotonic(self) -> float:
        """See Clock."""
        return self._seconds

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        self.slept.append(seconds)
        if self._jump or seconds <= 0:
            self._seconds += max(0.0, seconds)
            await asyncio.sleep(0)
            return
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._seconds + seconds, next(self._order), waiting))
        await waiting

    @property
    def sleepers(self) -> int:
        """How many wait for a moment to come."""
        return sum(not future.done() for _, _, future in self._sleepers)

    async def advance(self, seconds: float) -> None:
        """Move the time on; everybody whose moment comes on the way runs in order, also those who sleep again."""
        target = self._seconds + seconds
        while self._sleepers and self._sleepers[0][0] <= target:
            moment, _, future = heapq.heappop(self._sleepers)
            self._seconds = max(self._seconds, moment)
            if not future.done():
                future.set_result(None)
                await self.settle()
        self._seconds = target

    async def settle(self) -> None:
        """Let everything run that can run without time passing."""
        for _ in range(20):
            await asyncio.sleep(0)

    def set_back(self, seconds: float) -> None:
        """Make the wall clock jump, as a correction does; monotonic time is not touched."""
        self._start_ms -= round(seconds * 1000)

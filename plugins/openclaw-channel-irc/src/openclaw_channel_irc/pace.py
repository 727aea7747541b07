"""Sending no faster than a server likes."""

from __future__ import annotations

from openclaw_core.sdk import Clock


class Pace:
    """Lets `burst` lines through at once, then one each `interval` seconds (a token bucket)."""

    def __init__(self, *, burst: int, interval: float, clock: Clock) -> None:
        self._burst = burst
        self._interval = interval
        self._clock = clock
        self._due = clock.monotonic()

    async def turn(self) -> None:
        """Wait until the next line may go. One caller at a time."""
        now = self._clock.monotonic()
        self._due = max(self._due, now)
        delay = self._due - now - self._interval * (self._burst - 1)
        self._due += self._interval
        if delay > 0:
            await self._clock.sleep(delay)

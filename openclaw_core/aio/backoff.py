"""Growing delays with jitter."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Backoff:
    """``first * factor ** n`` seconds up to `limit`, each spread by `jitter` (0.2 = ±20 %).

    `rng` gives numbers in [0, 1); tests pass their own.
    """

    first: float
    limit: float
    factor: float = 2.0
    jitter: float = 0.2
    rng: Callable[[], float] = random.random
    failures: int = 0

    def next(self) -> float:
        """The delay before the next attempt, in seconds."""
        base = min(self.limit, self.first * self.factor ** min(self.failures, 64))
        self.failures += 1
        return max(0.0, base * (1 + self.jitter * (2 * self.rng() - 1)))

    def reset(self) -> None:
        """The attempt worked: start again from `first`."""
        self.failures = 0

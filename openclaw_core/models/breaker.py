"""The circuit breaker of one key: how long it rests after which failure (behaviour.md 7.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from openclaw_core.errors import ErrorKind

MINUTE_MS = 60_000
LADDER_MS = (1 * MINUTE_MS, 5 * MINUTE_MS, 25 * MINUTE_MS, 60 * MINUTE_MS)
BILLING_MS = (300 * MINUTE_MS, 1440 * MINUTE_MS)
"""First and longest rest after a billing failure; it doubles."""
PERMANENT_MS = (10 * MINUTE_MS, 60 * MINUTE_MS)
"""First and longest rest of a revoked key; it doubles."""
WINDOW_MS = 1440 * MINUTE_MS
"""After so long without failure the counters begin anew."""

_RESTS = frozenset({ErrorKind.RATE_LIMIT, ErrorKind.AUTH, ErrorKind.FORMAT, ErrorKind.UNKNOWN})


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyHealth:
    """What is known about a key; times in epoch milliseconds."""

    last_used: int = 0
    cooldown_until: int = 0
    cooldown_reason: str = ""
    disabled_until: int = 0
    disabled_reason: str = ""
    error_count: int = 0
    failure_counts: Mapping[str, int] = field(default_factory=dict)
    last_failure_at: int = 0

    def resting_until(self) -> int:
        """When the key may be used again; 0 when it may now."""
        return max(self.cooldown_until, self.disabled_until)

    def usable(self, now: int) -> bool:
        """Whether the key may be used."""
        return self.resting_until() <= now

    def failed(self, kind: ErrorKind, now: int) -> KeyHealth:
        """After a failure. A window that is running is not made longer; failures that say nothing about the key
        (timeout, overload, a missing model, a long context) change nothing."""
        if kind not in _RESTS and kind not in (ErrorKind.BILLING, ErrorKind.AUTH_PERMANENT):
            return self
        base = self if now - self.last_failure_at <= WINDOW_MS else KeyHealth(last_used=self.last_used)
        count = base.failure_counts.get(kind.value, 0) + 1
        counted = replace(
            base,
            error_count=base.error_count + 1,
            failure_counts={**base.failure_counts, kind.value: count},
            last_failure_at=now,
        )
        if not base.usable(now):
            return counted
        if kind in _RESTS:
            rest = LADDER_MS[min(count - 1, len(LADDER_MS) - 1)]
            return replace(counted, cooldown_until=now + rest, cooldown_reason=kind.value)
        first, longest = BILLING_MS if kind is ErrorKind.BILLING else PERMANENT_MS
        rest = min(first * 2 ** min(count - 1, 16), longest)
        return replace(counted, disabled_until=now + rest, disabled_reason=kind.value)

    def worked(self, now: int) -> KeyHealth:
        """After a success: everything is forgiven."""
        return KeyHealth(last_used=now)

    def as_dict(self) -> dict[str, Any]:
        """The stored form (behaviour.md 7.2)."""
        names = {
            "lastUsed": self.last_used,
            "cooldownUntil": self.cooldown_until,
            "cooldownReason": self.cooldown_reason,
            "disabledUntil": self.disabled_until,
            "disabledReason": self.disabled_reason,
            "errorCount": self.error_count,
            "failureCounts": dict(self.failure_counts),
            "lastFailureAt": self.last_failure_at,
        }
        return {k: v for k, v in names.items() if v}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> KeyHealth:
        """From the stored form; values of a wrong type count as absent."""

        def number(name: str) -> int:
            value = data.get(name)
            return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0

        counts = data.get("failureCounts")
        return cls(
            last_used=number("lastUsed"),
            cooldown_until=number("cooldownUntil"),
            cooldown_reason=str(data.get("cooldownReason") or ""),
            disabled_until=number("disabledUntil"),
            disabled_reason=str(data.get("disabledReason") or ""),
            error_count=number("errorCount"),
            failure_counts={str(k): v for k, v in counts.items() if isinstance(v, int)}
            if isinstance(counts, dict)
            else {},
            last_failure_at=number("lastFailureAt"),
        )

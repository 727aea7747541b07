"""The audit sink: a place audit events go to besides the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from openclaw_core.domain.audit import AuditEvent


class AuditSink(Protocol):
    """Receives metadata-only events in batches; never blocks a run."""

    async def write(self, batch: Sequence[AuditEvent]) -> None:
        """Take a batch. An exception is counted and reported, the batch is not offered again."""
        ...

    async def flush(self) -> None:
        """Make everything written durable."""
        ...

    async def aclose(self) -> None:
        """Close."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSinkEnv:
    """What a sink factory gets."""

    state_dir: str
    config: Any = None

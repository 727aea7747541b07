"""Writes audit events beside the work: bounded, in batches, never holding up a run (behaviour.md 11.3)."""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import Sequence

from openclaw_core.aio.clock import Clock
from openclaw_core.contracts.audit import AuditSink
from openclaw_core.contracts.store import AuditIndex
from openclaw_core.domain.audit import AuditEvent
from openclaw_core.domain.ids import new_uuid
from openclaw_core.domain.turns import Turn
from openclaw_core.observe.logging import get_logger

_log = get_logger("audit")

_CAPACITY = 4096
_SINK_TIMEOUT_S = 1.0
_ASIDE_S = 60.0
"""How long a sink that hangs is left out, so that it holds up neither the others nor the end of the process."""
_CLOSE_TIMEOUT_S = 0.5
_PRUNE_EVERY = 3600.0


class AuditWriter:
    """Collects events and hands them to the store and to every sink."""

    def __init__(self, index: AuditIndex, sinks: Sequence[tuple[str, AuditSink]], clock: Clock) -> None:
        self._index = index
        self._sinks = list(sinks)
        self._clock = clock
        self._queue: deque[AuditEvent] = deque()
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._sequence = 0
        self._aside: dict[str, float] = {}
        self.dropped = 0
        self.failures: dict[str, int] = {}

    def emit(
        self,
        *,
        kind: str,
        action: str,
        status: str,
        turn: Turn,
        tool_name: str = "",
        tool_call_id: str = "",
        error_code: str = "",
        duration_ms: int | None = None,
    ) -> None:
        """Queue one event about a run. Metadata only: a tool call id is stored as a fingerprint."""
        self._sequence += 1
        event = AuditEvent(
            event_id=new_uuid(),
            occurred_at=self._clock.now_ms(),
            kind=kind,
            action=action,
            status=status,
            actor_type="agent",
            actor_id=turn.agent_id,
            agent_id=turn.agent_id,
            session_key=turn.session_key,
            session_id=turn.session_id,
            run_id=turn.run_id,
            tool_call_id="sha256:" + hashlib.sha256(tool_call_id.encode("utf-8", "replace")).hexdigest()
            if tool_call_id
            else "",
            tool_name=tool_name,
            error_code=error_code,
            duration_ms=duration_ms,
            source_sequence=self._sequence,
        )
        if len(self._queue) >= _CAPACITY:
            self.dropped += 1
            return
        self._queue.append(event)
        self._idle.clear()
        self._wake.set()

    async def run(self) -> None:
        """Write until cancelled; the owner of this coroutine calls `flush` before it ends."""
        pruned_at = self._clock.monotonic()
        while True:
            await self._wake.wait()
            await self._clock.sleep(0.05)  # let a run's events gather into one batch
            await self.flush()
            if self._clock.monotonic() - pruned_at > _PRUNE_EVERY:
                pruned_at = self._clock.monotonic()
                await self._index.prune(now=self._clock.now_ms())

    async def flush(self) -> None:
        """Write everything queued so far."""
        self._wake.clear()
        while self._queue:
            batch = [self._queue.popleft() for _ in range(min(len(self._queue), 256))]
            await self._offer("store", self._index.append, batch)
            for name, sink in self._sinks:
                await self._offer(name, sink.write, batch)
        self._idle.set()

    async def settled(self) -> None:
        """Wait until everything emitted so far is written."""
        await self._idle.wait()

    async def aclose(self) -> None:
        """Flush and close the sinks."""
        await self.flush()
        for name, sink in self._sinks:
            try:
                async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                    await sink.flush()
                    await sink.aclose()
            except Exception as error:  # noqa: BLE001  # one bad sink must not keep the others open
                self._failed(name, error)

    async def _offer(self, name: str, write: object, batch: Sequence[AuditEvent]) -> None:
        if self._aside.get(name, 0.0) > self._clock.monotonic():
            self.failures[name] += 1
            return
        try:
            async with asyncio.timeout(_SINK_TIMEOUT_S):
                await write(batch)  # type: ignore[operator]  # two unrelated protocols share this one method shape
        except TimeoutError as error:
            self._aside[name] = self._clock.monotonic() + _ASIDE_S
            self._failed(name, error)
        except Exception as error:  # noqa: BLE001  # the audit never fails a run; the loss is counted and shown
            self._failed(name, error)

    def _failed(self, name: str, error: Exception) -> None:
        self.failures[name] = self.failures.get(name, 0) + 1
        _log.error("audit events lost", sink=name, error=repr(error))

"""Tells whoever listens what a run is doing, and that it has ended (behaviour.md 1.2)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from openclaw_core.aio.clock import Clock
from openclaw_core.domain.ids import RunId, SessionKey
from openclaw_core.domain.journal import RunRow


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEvent:
    """One event of a run; `seq` counts from 1 within the run, `ts` in epoch milliseconds."""

    run_id: RunId
    session_key: SessionKey
    seq: int
    stream: str
    ts: int
    data: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "runId": self.run_id,
            "sessionKey": self.session_key,
            "seq": self.seq,
            "stream": self.stream,
            "ts": self.ts,
            "data": self.data,
        }


Subscriber = Callable[[StreamEvent], None]
"""Must return at once and never raise: it only puts the event into its own bounded queue."""

_KEEP_ENDED = 1000


class RunHub:
    """Events of all runs in this process. Delivery is synchronous and never waits."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._subscribers: dict[int, Subscriber] = {}
        self._next = 0
        self._seq: dict[RunId, int] = {}
        self._waiters: dict[RunId, list[asyncio.Future[Mapping[str, Any]]]] = {}
        self._ended: OrderedDict[RunId, Mapping[str, Any]] = OrderedDict()
        self.on_ended: list[Callable[[], None]] = []
        """Called after each end of a run that left parts in the outbox, which are durable then."""

    @property
    def listened(self) -> bool:
        """Whether anybody would hear an event; deltas need not be built otherwise."""
        return bool(self._subscribers)

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Hear everything from now on; call the result to stop."""
        self._next += 1
        ident = self._next
        self._subscribers[ident] = subscriber

        def stop() -> None:
            self._subscribers.pop(ident, None)

        return stop

    def publish(self, run_id: RunId, session_key: SessionKey, stream: str, data: Mapping[str, Any]) -> None:
        """Send one event to all subscribers."""
        seq = self._seq.get(run_id, 0) + 1
        self._seq[run_id] = seq
        if not self._subscribers:
            return
        event = StreamEvent(
            run_id=run_id, session_key=session_key, seq=seq, stream=stream, ts=self._clock.now_ms(), data=data
        )
        for subscriber in list(self._subscribers.values()):
            subscriber(event)

    def ended(self, run_id: RunId, outcome: Mapping[str, Any]) -> None:
        """A run is over and its outcome durable: wake everybody who waits for it."""
        self._seq.pop(run_id, None)
        self._ended[run_id] = outcome
        while len(self._ended) > _KEEP_ENDED:
            self._ended.popitem(last=False)
        for future in self._waiters.pop(run_id, []):
            if not future.done():
                future.set_result(outcome)
        if outcome.get("queued", True):
            for callback in self.on_ended:
                callback()

    def outcome(self, run_id: RunId) -> Mapping[str, Any] | None:
        """The outcome of a run that ended lately in this process."""
        return self._ended.get(run_id)

    async def wait(self, run_id: RunId, timeout_s: float | None = None) -> Mapping[str, Any] | None:
        """The outcome of a run of this process, or None when time ran out; never stops the run."""
        known = self._ended.get(run_id)
        if known is not None:
            return known
        future: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiters.setdefault(run_id, []).append(future)
        try:
            async with asyncio.timeout(timeout_s):
                return await future
        except TimeoutError:
            return None
        finally:
            waiting = self._waiters.get(run_id)
            if waiting is not None and future in waiting:
                waiting.remove(future)
                if not waiting:
                    del self._waiters[run_id]


def ended(row: RunRow) -> dict[str, Any]:
    """The outcome of a run that the journal keeps."""
    return {
        "runId": row.run_id,
        "sessionKey": row.session_key,
        "status": row.status.value,
        "startedAt": row.started_at,
        "endedAt": row.ended_at,
        "result": row.result,
        "error": row.error,
    }

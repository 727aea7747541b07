"""What every audit sink must do. Subclass `AuditSinkContract` and give the fixture `sink_case`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable

import pytest

from openclaw_core.contracts.audit import AuditSink, AuditSinkEnv
from openclaw_core.domain.audit import AuditEvent

_START = time.time_ns() // 1_000_000


def audit_event(number: int, *, occurred_at: int = _START) -> AuditEvent:
    """A valid event of about now; `number` makes its ids unique and is added to its time."""
    return AuditEvent(
        event_id=f"event-{number}",
        occurred_at=occurred_at + number,
        kind="tool_action",
        action="tool_action.finished",
        status="succeeded",
        actor_type="agent",
        actor_id="main",
        agent_id="main",
        session_key="agent:main:main",
        session_id="session",
        run_id="run",
        tool_call_id=f"sha256:{number}",
        tool_name="read",
        duration_ms=number,
        sequence=number,
    )


class SinkCase:
    """A sink under test: how to make one on a state folder, and how to read back what it stored there."""

    def __init__(
        self, make: Callable[[AuditSinkEnv], AuditSink], read_back: Callable[[str], Iterable[dict[str, object]]]
    ) -> None:
        self.make = make
        self.read_back = read_back


class AuditSinkContract:
    """Give a fixture `sink_case` that returns a `SinkCase`."""

    @pytest.fixture
    def state_dir(self, tmp_path_factory: pytest.TempPathFactory) -> str:
        """A fresh state folder."""
        return str(tmp_path_factory.mktemp("state"))

    async def test_events_come_back_whole_and_in_order(self, sink_case: SinkCase, state_dir: str) -> None:
        """Everything written before a flush is there, once, in order, unchanged."""
        sink = sink_case.make(AuditSinkEnv(state_dir=state_dir))
        events = [audit_event(n) for n in range(50)]
        await sink.write(events[:20])
        await sink.write([])
        await sink.write(events[20:])
        await sink.flush()
        assert list(sink_case.read_back(state_dir)) == [event.as_dict() for event in events]
        await sink.aclose()

    async def test_a_second_sink_continues(self, sink_case: SinkCase, state_dir: str) -> None:
        """Nothing is lost or overwritten by a restart."""
        for number in range(3):
            sink = sink_case.make(AuditSinkEnv(state_dir=state_dir))
            await sink.write([audit_event(number)])
            await sink.aclose()
        assert [row["eventId"] for row in sink_case.read_back(state_dir)] == ["event-0", "event-1", "event-2"]

    async def test_concurrent_batches_stay_whole(self, sink_case: SinkCase, state_dir: str) -> None:
        """Batches written at the same time do not mix their lines."""
        sink = sink_case.make(AuditSinkEnv(state_dir=state_dir))
        async with asyncio.TaskGroup() as group:
            for start in range(0, 200, 20):
                group.create_task(sink.write([audit_event(n) for n in range(start, start + 20)]))
        await sink.aclose()
        ids = [str(row["eventId"]) for row in sink_case.read_back(state_dir)]
        assert sorted(ids) == sorted(f"event-{n}" for n in range(200))
        batches = [ids[at : at + 20] for at in range(0, 200, 20)]
        assert all(int(one[0][6:]) % 20 == 0 and int(one[-1][6:]) == int(one[0][6:]) + 19 for one in batches)

    async def test_close_twice_and_flush_empty(self, sink_case: SinkCase, state_dir: str) -> None:
        """Closing is harmless at any time."""
        sink = sink_case.make(AuditSinkEnv(state_dir=state_dir))
        await sink.flush()
        await sink.aclose()
        await sink.aclose()

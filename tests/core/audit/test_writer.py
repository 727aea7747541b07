"""The audit beside the work: bounded, in batches, no content, one bad sink costs only itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from openclaw_core.audit.writer import AuditWriter
from openclaw_core.domain.audit import AuditEvent
from openclaw_core.domain.ids import AgentId, RunId, SessionId, SessionKey
from openclaw_core.domain.messages import TextBlock, UserMessage
from openclaw_core.domain.models import ModelInfo
from openclaw_core.domain.turns import Turn
from openclaw_core.testing.fakes.clock import FakeClock

TURN = Turn(
    run_id=RunId("run"),
    session_key=SessionKey("agent:main:main"),
    session_id=SessionId("s"),
    agent_id=AgentId("main"),
    message=UserMessage(content=(TextBlock(text="the secret prompt"),)),
    model=ModelInfo(provider="p", id="m"),
    channel="cli",
    system_prompt="the secret system prompt",
    system_dynamic="",
)


class Sink:
    """Takes batches, or fails as told."""

    def __init__(self, *, fail: Exception | None = None, hang: bool = False) -> None:
        self.batches: list[list[AuditEvent]] = []
        self.fail = fail
        self.hang = hang
        self.closed = False

    async def write(self, batch: Sequence[AuditEvent]) -> None:
        if self.hang:
            await asyncio.Event().wait()
        if self.fail:
            raise self.fail
        self.batches.append(list(batch))

    append = write

    async def flush(self) -> None:
        if self.fail:
            raise self.fail

    async def aclose(self) -> None:
        self.closed = True

    async def prune(self, *, now: int) -> int:
        return now

    @property
    def events(self) -> list[AuditEvent]:
        return [event for batch in self.batches for event in batch]


def writer(index: Sink, **sinks: Sink) -> AuditWriter:
    return AuditWriter(index, list(sinks.items()), FakeClock(jump=True))  # type: ignore[arg-type]  # only what the writer uses


def emit(audit: AuditWriter, count: int = 1, **more: Any) -> None:
    for _ in range(count):
        audit.emit(kind="tool_action", action="tool_action.started", status="started", turn=TURN, **more)


async def test_events_reach_the_store_and_every_sink_in_order() -> None:
    index, sink = Sink(), Sink()
    audit = writer(index, jsonl=sink)
    emit(audit, 600)
    await audit.flush()
    assert [e.source_sequence for e in index.events] == list(range(1, 601))
    assert sink.events == index.events
    assert [len(b) for b in index.batches] == [256, 256, 88]
    await audit.settled()


async def test_no_content_and_no_call_id_in_the_clear() -> None:
    index = Sink()
    audit = writer(index)
    emit(audit, tool_name="read", tool_call_id="call_with_meaning", error_code="tool_error", duration_ms=3)
    await audit.flush()
    event = index.events[0].as_dict()
    text = json.dumps(event)
    assert "secret" not in text
    assert "call_with_meaning" not in text
    assert event["toolCallId"].startswith("sha256:")
    assert event["redaction"] == "metadata_only"
    assert (event["toolName"], event["errorCode"], event["durationMs"]) == ("read", "tool_error", 3)


async def test_a_failing_sink_and_a_failing_store_cost_only_themselves() -> None:
    index, good, bad = Sink(fail=OSError("full")), Sink(), Sink(fail=RuntimeError("no"))
    audit = writer(index, bad=bad, good=good)
    emit(audit, 3)
    await audit.flush()
    assert len(good.events) == 3
    assert audit.failures == {"store": 1, "bad": 1}
    await audit.aclose()
    assert good.closed
    assert audit.failures["bad"] == 2


async def test_a_hanging_sink_is_put_aside(caplog: pytest.LogCaptureFixture) -> None:
    index, hanging, good = Sink(), Sink(hang=True), Sink()
    audit = writer(index, hanging=hanging, good=good)
    emit(audit, 2000)
    async with asyncio.timeout(4):
        await audit.flush()
        await audit.aclose()
    assert len(good.events) == len(index.events) == 2000
    assert audit.failures["hanging"] == 8


async def test_the_queue_is_bounded_and_the_loss_counted() -> None:
    index = Sink()
    audit = writer(index)
    emit(audit, 5000)
    assert audit.dropped == 5000 - 4096
    await audit.flush()
    assert len(index.events) == 4096
    emit(audit)
    await audit.flush()
    assert index.events[-1].source_sequence == 5001


async def test_the_writer_gathers_a_batch() -> None:
    index = Sink()
    audit = writer(index)
    running = asyncio.ensure_future(audit.run())
    emit(audit, 4)
    await audit.settled()
    assert [len(b) for b in index.batches] == [4]
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

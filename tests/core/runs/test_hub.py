"""Who hears of a run and who waits for its end."""

from __future__ import annotations

import asyncio

from openclaw_core.domain.ids import RunId, SessionKey
from openclaw_core.gateway.events import EventEncoder
from openclaw_core.runs.hub import RunHub, StreamEvent
from openclaw_core.testing.fakes.clock import FakeClock

RUN, KEY = RunId("run"), SessionKey("agent:main:main")


async def test_everybody_hears_in_order_until_they_stop() -> None:
    hub = RunHub(FakeClock())
    one: list[StreamEvent] = []
    two: list[StreamEvent] = []
    assert not hub.listened
    hub.publish(RUN, KEY, "assistant", {"text": "nobody hears"})
    stop = hub.subscribe(one.append)
    hub.subscribe(two.append)
    hub.publish(RUN, KEY, "assistant", {"text": "a"})
    stop()
    stop()
    hub.publish(RUN, KEY, "assistant", {"text": "b"})
    assert [e.data["text"] for e in one] == ["a"]
    assert [(e.seq, e.data["text"]) for e in two] == [(2, "a"), (3, "b")]


async def test_waiting() -> None:
    hub = RunHub(FakeClock())
    ends: list[int] = []
    hub.on_ended.append(lambda: ends.append(1))
    waiting = [asyncio.ensure_future(hub.wait(RUN)) for _ in range(3)]
    await asyncio.sleep(0)
    assert await hub.wait(RUN, 0) is None
    waiting[0].cancel()
    hub.ended(RUN, {"status": "ok"})
    assert [await w for w in waiting[1:]] == [{"status": "ok"}] * 2
    assert await hub.wait(RUN) == {"status": "ok"}
    assert hub.outcome(RUN) == {"status": "ok"}
    assert ends == [1]
    assert hub._waiters == {}


async def test_what_is_remembered_is_bounded() -> None:
    hub = RunHub(FakeClock())
    for number in range(1100):
        hub.publish(RunId(f"r{number}"), KEY, "lifecycle", {})
        hub.ended(RunId(f"r{number}"), {})
    assert hub.outcome(RunId("r0")) is None
    assert hub.outcome(RunId("r1099")) == {}
    assert len(hub._ended) == 1000
    assert hub._seq == {}


def event(stream: str, seq: int = 1, ts: int = 1000, **data: object) -> StreamEvent:
    return StreamEvent(run_id=RUN, session_key=KEY, seq=seq, stream=stream, ts=ts, data=data)


def names(encoder: EventEncoder, made: StreamEvent) -> list[str]:
    return [name for name, _ in encoder.encoded(made)]


def test_chat_events_are_throttled_and_end_once() -> None:
    encoder = EventEncoder()
    assert names(encoder, event("lifecycle", phase="start")) == ["agent"]
    assert names(encoder, event("assistant", ts=1000, text="a")) == ["agent", "chat"]
    assert names(encoder, event("assistant", ts=1100, text="ab")) == ["agent"]
    assert names(encoder, event("assistant", ts=1151, text="abc")) == ["agent", "chat"]
    assert names(encoder, event("tool", phase="start")) == ["agent"]
    (_, _), (name, payload) = encoder.encoded(event("lifecycle", phase="end", aborted=True))
    assert name == "chat"
    assert '"state":"aborted"' in payload
    assert '"text":"abc"' in payload
    assert encoder._texts == {}


def test_the_final_text_is_the_reply_also_for_who_heard_nothing() -> None:
    (_, _), (_, payload) = EventEncoder().encoded(event("lifecycle", phase="end", text="whole reply"))
    assert '"state":"final"' in payload
    assert '"text":"whole reply"' in payload


def test_an_event_is_encoded_once_for_all() -> None:
    encoder, made = EventEncoder(), event("assistant", text="a")
    assert encoder.encoded(made) is encoder.encoded(made)

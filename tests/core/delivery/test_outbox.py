"""The only sender: what it does with each state a crash can leave, for each guarantee of a channel."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from openclaw_core.aio.tasks import TaskOwner
from openclaw_core.delivery.outbox import MAX_ATTEMPTS, OutboxSender, Outlet
from openclaw_core.domain.channels import DeliveryGuarantee, Outbound, Receipt
from openclaw_core.domain.ids import RunId, SessionKey
from openclaw_core.domain.journal import OutboxItem, OutboxRow, OutboxState
from openclaw_core.errors import ChannelDisconnected, DeliveryFailed, StoreFull
from openclaw_core.testing.fakes.clock import FakeClock

IDEMPOTENT, READABLE, PLAIN = DeliveryGuarantee
FINAL = (OutboxState.SENT, OutboxState.UNKNOWN, OutboxState.FAILED)


class MemoryJournal:
    """The outbox part of a journal."""

    def __init__(self) -> None:
        self.rows: dict[int, OutboxRow] = {}
        self.full = 0
        self.changed = asyncio.Event()

    def put(self, *, target: str = "bob", part: int = 0, state: OutboxState = OutboxState.PENDING, **more: Any) -> int:
        ident = len(self.rows) + 1
        item = OutboxItem(
            idem=f"run:{ident}",
            channel="chat",
            account="default",
            target=target,
            session_key=SessionKey("agent:main:main"),
            run_id=RunId("run"),
            part=part,
            kind=more.pop("kind", "reply"),
            body={"text": f"text {ident}"},
            created_at=0,
        )
        self.rows[ident] = OutboxRow(id=ident, item=item, state=state, **more)
        return ident

    async def outbox_due(self, *, now: int, limit: int = 100) -> list[OutboxRow]:
        heads: dict[str, OutboxRow] = {}
        for row in self.rows.values():
            if row.state not in FINAL:
                heads.setdefault(row.item.target, row)
        return [row for row in heads.values() if row.not_before <= now][:limit]

    async def outbox_mark(
        self,
        row_id: int,
        state: OutboxState,
        *,
        now: int,
        remote_id: str = "",
        error: str = "",
        not_before: int = 0,
        notice: OutboxItem | None = None,
    ) -> None:
        if self.full:
            self.full -= 1
            raise StoreFull("full")
        row = self.rows[row_id]
        attempt = row.attempt + (state is OutboxState.SENDING)
        self.rows[row_id] = replace(
            row, state=state, attempt=attempt, remote_id=remote_id, error=error, not_before=not_before, updated_at=now
        )
        if notice is not None:
            ident = len(self.rows) + 1
            self.rows[ident] = OutboxRow(id=ident, item=notice, state=OutboxState.PENDING)
        self.changed.set()

    async def settled(self) -> None:
        """Wait until no part is on its way."""
        while any(row.state not in FINAL for row in self.rows.values()):
            self.changed.clear()
            await self.changed.wait()


class Chat:
    """A channel whose sends fail as the test says."""

    def __init__(self) -> None:
        self.sent: list[Outbound] = []
        self.failures: list[Exception] = []
        self.online = True
        self.arrived: set[str] = set()
        self.gate: asyncio.Event | None = None

    async def send(self, message: Outbound) -> Receipt:
        if self.gate is not None and message.target == "slow":
            await self.gate.wait()
        self.sent.append(message)
        if self.failures:
            raise self.failures.pop(0)
        return Receipt(remote_id=f"remote-{len(self.sent)}")

    async def find_sent(self, message: Outbound) -> Receipt | None:
        return Receipt(remote_id="found") if message.idem in self.arrived else None


@asynccontextmanager
async def sending(journal: MemoryJournal, chat: Chat, guarantee: DeliveryGuarantee) -> AsyncIterator[OutboxSender]:
    outlet = Outlet(channel=chat, guarantee=guarantee, connected=lambda _account: chat.online)  # type: ignore[arg-type]  # only what the sender uses
    sender = OutboxSender(journal, FakeClock(jump=True), {"chat": outlet})  # type: ignore[arg-type]  # only the outbox part
    tasks = TaskOwner("test")
    tasks.start(sender.run(), name="outbox")
    try:
        async with asyncio.timeout(10):
            yield sender
    finally:
        await tasks.aclose()
        await sender.aclose()


async def outcome(journal: MemoryJournal, chat: Chat, guarantee: DeliveryGuarantee) -> list[OutboxState]:
    async with sending(journal, chat, guarantee):
        await journal.settled()
    return [row.state for row in journal.rows.values()]


@pytest.mark.parametrize("guarantee", list(DeliveryGuarantee))
async def test_parts_are_sent_once_and_in_order(guarantee: DeliveryGuarantee) -> None:
    journal, chat = MemoryJournal(), Chat()
    for part in range(5):
        journal.put(part=part)
    assert await outcome(journal, chat, guarantee) == [OutboxState.SENT] * 5
    assert [m.text for m in chat.sent] == [f"text {n}" for n in range(1, 6)]
    assert journal.rows[3].remote_id == "remote-3"


async def test_an_idempotent_channel_sends_again_with_the_same_key() -> None:
    journal, chat = MemoryJournal(), Chat()
    journal.put(state=OutboxState.SENDING, attempt=1)
    assert await outcome(journal, chat, IDEMPOTENT) == [OutboxState.SENT]
    assert [(m.idem, m.attempt) for m in chat.sent] == [("run:1", 2)]


@pytest.mark.parametrize("arrived", [True, False])
async def test_a_readable_channel_looks_first(arrived: bool) -> None:
    journal, chat = MemoryJournal(), Chat()
    journal.put(state=OutboxState.SENDING, attempt=1)
    chat.arrived = {"run:1"} if arrived else set()
    assert await outcome(journal, chat, READABLE) == [OutboxState.SENT]
    assert len(chat.sent) == (0 if arrived else 1)
    assert journal.rows[1].remote_id == ("found" if arrived else "remote-1")


async def test_a_plain_channel_tells_the_person_and_never_sends_again() -> None:
    journal, chat = MemoryJournal(), Chat()
    journal.put(state=OutboxState.SENDING, attempt=1)
    assert await outcome(journal, chat, PLAIN) == [OutboxState.UNKNOWN, OutboxState.SENT]
    assert [m.idem for m in chat.sent] == ["run:1:notice"]
    assert "may not have reached you" in chat.sent[0].text


async def test_a_notice_itself_is_sent_again_without_a_notice_about_it() -> None:
    journal, chat = MemoryJournal(), Chat()
    journal.put(state=OutboxState.SENDING, attempt=1, kind="notice")
    assert await outcome(journal, chat, PLAIN) == [OutboxState.SENT]


@pytest.mark.parametrize(
    ("guarantee", "maybe", "states", "sends"),
    [
        (IDEMPOTENT, True, [OutboxState.SENT], 2),
        (READABLE, True, [OutboxState.SENT], 2),
        (PLAIN, False, [OutboxState.SENT], 2),
        (PLAIN, True, [OutboxState.UNKNOWN, OutboxState.SENT], 2),
    ],
)
async def test_a_send_that_fails(
    guarantee: DeliveryGuarantee, maybe: bool, states: list[OutboxState], sends: int
) -> None:
    journal, chat = MemoryJournal(), Chat()
    journal.put()
    chat.failures = [DeliveryFailed("refused", retryable=True, maybe_sent=maybe)]
    assert await outcome(journal, chat, guarantee) == states
    assert len(chat.sent) == sends


async def test_a_lost_connection_burns_no_attempts_and_a_refusal_is_final() -> None:
    journal, chat = MemoryJournal(), Chat()
    journal.put()
    journal.put(target="eve")
    chat.failures = [DeliveryFailed("blocked", retryable=False), ChannelDisconnected("gone")]
    assert sorted(await outcome(journal, chat, PLAIN)) == [OutboxState.FAILED, OutboxState.SENT]


async def test_attempts_are_bounded() -> None:
    journal, chat = MemoryJournal(), Chat()
    journal.put()
    chat.failures = [DeliveryFailed("busy") for _ in range(50)]
    assert await outcome(journal, chat, IDEMPOTENT) == [OutboxState.FAILED]
    assert len(chat.sent) == MAX_ATTEMPTS


async def test_what_a_channel_raises_by_mistake_is_a_failed_delivery() -> None:
    journal, chat = MemoryJournal(), Chat()
    journal.put()
    chat.failures = [ZeroDivisionError()]
    assert await outcome(journal, chat, PLAIN) == [OutboxState.UNKNOWN, OutboxState.SENT]


async def test_one_slow_conversation_holds_up_no_other() -> None:
    journal, chat = MemoryJournal(), Chat()
    chat.gate = asyncio.Event()
    journal.put(target="slow")
    quick = [journal.put(target=f"peer{n}") for n in range(3)]
    async with sending(journal, chat, IDEMPOTENT):
        while not all(journal.rows[n].state is OutboxState.SENT for n in quick):
            journal.changed.clear()
            await journal.changed.wait()
        assert journal.rows[1].state is OutboxState.SENDING
        chat.gate.set()
        await journal.settled()


async def test_nothing_is_sent_while_the_channel_is_away_or_unknown() -> None:
    journal, chat = MemoryJournal(), Chat()
    journal.put()
    chat.online = False
    async with sending(journal, chat, PLAIN) as sender:
        for _ in range(20):
            sender.wake()
            await asyncio.sleep(0)
        assert chat.sent == []
        assert journal.rows[1].state is OutboxState.PENDING
        chat.online = True
        sender.wake()
        await journal.settled()


async def test_a_full_disk_delays_the_record_but_never_doubles_the_send() -> None:
    journal, chat = MemoryJournal(), Chat()
    journal.put()
    journal.full = 3
    assert await outcome(journal, chat, PLAIN) == [OutboxState.SENT]
    assert len(chat.sent) == 1

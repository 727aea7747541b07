"""The outbox's part of the store contract: order, hand-over, notices."""

from __future__ import annotations

import pytest

from openclaw_core.contracts.store import Store
from openclaw_core.domain.ids import RunId
from openclaw_core.domain.journal import OutboxState
from openclaw_core.errors import FenceLost
from openclaw_core.testing.contracts.store_backend import BackendFixtures, StoreHouse, part, reconcile


async def due(store: Store, now: int = 5000) -> list[str]:
    """Keys of the parts that are due."""
    return [row.item.idem for row in await store.journal.outbox_due(now=now)]


async def ident(store: Store, run: str, number: int = 0) -> int:
    """Row id of a part."""
    return next(row.id for row in await store.journal.outbox_of(RunId(run)) if row.item.part == number)


class OutboxContract(BackendFixtures):
    """The parts of replies on their way."""

    async def test_parts_go_one_after_the_other_to_a_target(self, store: Store) -> None:
        """Only the oldest open part of each target is due; known keys are left out."""
        await store.journal.outbox_add([part("r1", 0), part("r1", 1), part("r2", 0, target="person")])
        await store.journal.outbox_add([part("r1", 0, body={"text": "again"}), part("r3", 0)])
        assert await due(store) == ["r1:0", "r2:0"]
        first = await ident(store, "r1")
        await store.journal.outbox_mark(first, OutboxState.SENDING, now=5000)
        await store.journal.outbox_mark(first, OutboxState.SENT, now=5001, remote_id="m-1")
        assert await due(store) == ["r1:1", "r2:0"]
        sent = (await store.journal.outbox_of(RunId("r1")))[0]
        assert (sent.state, sent.attempt, sent.remote_id, sent.updated_at) == (OutboxState.SENT, 1, "m-1", 5001)
        assert sent.item == part("r1", 0)
        await store.journal.outbox_mark(await ident(store, "r1", 1), OutboxState.FAILED, now=5002, error="gone")
        assert await due(store) == ["r2:0", "r3:0"]
        assert [row.id for row in await store.journal.outbox_due(now=5000, limit=1)] == [await ident(store, "r2")]

    async def test_a_part_that_waits_holds_back_its_target(self, store: Store) -> None:
        """After a failure that may be retried, nothing overtakes the part."""
        await store.journal.outbox_add([part("r1", 0), part("r1", 1)])
        first = await ident(store, "r1")
        await store.journal.outbox_mark(first, OutboxState.SENDING, now=5000)
        await store.journal.outbox_mark(first, OutboxState.PENDING, now=5000, error="slow down", not_before=8000)
        assert await due(store, 7999) == []
        assert await due(store, 8000) == ["r1:0"]

    async def test_what_another_owner_sends_is_its_own(self, house: StoreHouse) -> None:
        """A part in the hands of a living owner is neither due nor can it be taken; of a dead one it is both."""
        one, two = await house.open("boot-a"), await house.open("boot-b")
        await one.journal.outbox_add([part("r1", 0), part("r1", 1)])
        first = await ident(one, "r1")
        await one.journal.outbox_mark(first, OutboxState.SENDING, now=5000)
        assert await due(one) == ["r1:0"]  # its own earlier failure
        assert await due(two) == []
        with pytest.raises(FenceLost):
            await two.journal.outbox_mark(first, OutboxState.SENDING, now=5000)
        house.crash(one)
        (row,) = await two.journal.outbox_due(now=5000)
        assert (row.item.idem, row.state, row.attempt) == ("r1:0", OutboxState.SENDING, 1)
        await two.journal.outbox_mark(first, OutboxState.SENDING, now=5001)
        assert (await two.journal.outbox_of(RunId("r1")))[0].attempt == 2

    async def test_a_final_state_stays(self, store: Store) -> None:
        """A part that was sent is not sent again, and a late mark changes nothing and says nothing."""
        await store.journal.outbox_add([part("r1", 0)])
        first = await ident(store, "r1")
        await store.journal.outbox_mark(first, OutboxState.SENT, now=5000, remote_id="m-1")
        with pytest.raises(FenceLost):
            await store.journal.outbox_mark(first, OutboxState.SENDING, now=5001)
        await store.journal.outbox_mark(first, OutboxState.UNKNOWN, now=5001, notice=part("r1", 9))
        (row,) = await store.journal.outbox_of(RunId("r1"))
        assert (row.state, row.remote_id) == (OutboxState.SENT, "m-1")

    async def test_unknown_and_its_notice_are_one(self, house: StoreHouse) -> None:
        """The notice is queued with the mark, once, and is the next thing due."""
        store = await house.open()
        await store.journal.outbox_add([part("r1", 0)])
        first = await ident(store, "r1")
        await store.journal.outbox_mark(first, OutboxState.SENDING, now=5000)
        notice = part("r1", 1, idem="r1:0:notice", kind="notice")
        await store.journal.outbox_mark(first, OutboxState.UNKNOWN, now=5001, notice=notice)
        house.crash(store)
        store = await house.open("boot-b")
        await store.journal.outbox_add([notice])
        assert await due(store) == ["r1:0:notice"]
        counts = await reconcile(store)
        assert (counts["outbox_unknown"], counts["outbox_pending"], counts["outbox_sent"]) == (1, 1, 0)

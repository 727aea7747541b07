"""The journal's part of the store contract: acceptance, claims, fencing, finish, spawns."""

from __future__ import annotations

import pytest

from openclaw_core.contracts.store import FinishPlan, Store
from openclaw_core.domain.ids import BootId, RunId, SessionId, SessionKey, TaskId
from openclaw_core.domain.journal import (
    CursorUpdate,
    InboxState,
    RunStatus,
    SpawnRow,
    StepRow,
    StepState,
)
from openclaw_core.domain.tasks import TaskPatch, TaskStatus
from openclaw_core.errors import FenceLost
from openclaw_core.testing.contracts.store_backend import (
    AGENT,
    MAIN,
    BackendFixtures,
    StoreHouse,
    message,
    part,
    reconcile,
    take,
    task,
    took,
    with_task,
)


def answered(at: int = 9000, **changes: object) -> FinishPlan:
    """The plan of a run that went well."""
    values: dict[str, object] = {"inbox_state": InboxState.ANSWERED, "status": RunStatus.OK, "at": at, **changes}
    return FinishPlan(**values)  # type: ignore[arg-type]  # fields by name, for brevity of the tests


def step(run: str, k: int, state: StepState = StepState.DONE, **changes: object) -> StepRow:
    """A step of a run."""
    values: dict[str, object] = {"kind": "tool", "name": "read", **changes}
    return StepRow(run_id=RunId(run), k=k, state=state, **values)  # type: ignore[arg-type]  # as above


class JournalContract(BackendFixtures):
    """Inbox, runs, steps and spawns."""

    async def test_accept_stores_an_event_once(self, store: Store) -> None:
        """Known event keys and known run ids give the stored row and write nothing, no task either."""
        cursor = CursorUpdate(channel="irc", account="default", value="41")
        first = await store.journal.accept([with_task(1)], cursor=cursor, tasks=[task(1)])
        assert [a.new for a in first] == [True]
        again = await store.journal.accept(
            [message(1, run_id=RunId("other"), body={"text": "changed"}), message(2, run_id=RunId("r1")), message(3)],
            tasks=[task(9, run_id="other")],
        )
        assert [a.new for a in again] == [False, False, True]
        assert again[0].row.item == again[1].row.item == with_task(1)
        assert again[0].row.ord < again[2].row.ord
        assert await store.journal.cursor("irc", "default") == "41"
        assert await store.journal.cursor("irc", "second") is None
        assert await store.tasks.get("t9") is None
        assert (await reconcile(store))["accepted"] == 2

    async def test_accept_twice_in_one_call(self, store: Store) -> None:
        """A batch that holds an event twice stores it once."""
        found = await store.journal.accept([message(1), message(1)])
        assert [a.new for a in found] == [True, False]

    async def test_any_text_is_taken(self, store: Store) -> None:
        """Lone surrogates and NUL of hostile messages break nothing; bodies come back as they went in."""
        odd = "a\ud83d\x00\u2028b"
        item = message(1, event_key=odd, sender=odd, target=odd, task_id=TaskId("t1"), body={"text": odd, odd: [odd]})
        accepted = await store.journal.accept([item], tasks=[task(1, task=odd, label=odd)])
        again = await store.journal.accept([item])
        assert [accepted[0].new, again[0].new] == [True, False]
        assert again[0].row.item.body == item.body
        claim = await took(store)
        await store.journal.write_steps(claim.fence, [step("r1", 0, name=odd, result={"text": odd})])
        assert (await store.journal.steps(RunId("r1")))[0].result == {"text": odd}
        plan = answered(
            outbox=[part("r1", target=odd, body={"text": odd})],
            error={"message": odd},
            task=TaskPatch(task_id="t1", status=TaskStatus.FAILED, at=9000, error=odd),
            session_fields={"label": odd},
        )
        await store.journal.finish(claim.fence, plan)
        (row,) = await store.journal.outbox_due(now=9000)
        assert row.item.body == {"text": odd}
        entry = await store.sessions.get(MAIN)
        assert entry is not None
        assert entry.fields == {"label": odd}

    async def test_claim_goes_by_order_one_at_a_time(self, store: Store) -> None:
        """The oldest first; nothing else of the session until it has ended; other sessions are free."""
        await store.journal.accept([with_task(1), message(2), message(3, session="agent:main:other")], tasks=[task(1)])
        claim = await took(store)
        assert (claim.row.item.run_id, claim.row.attempt, claim.row.state) == ("r1", 1, InboxState.RUNNING)
        assert (claim.fence.epoch, claim.session_id, claim.resumed) == (1, "s-1", False)
        running = await store.tasks.get("t1")
        assert running is not None
        assert (running.status, running.started_at) == (TaskStatus.RUNNING, 5000)
        assert await take(store) is None
        assert await store.journal.ready_sessions(BootId("boot-a"), now=5000) == ["agent:main:other"]
        assert (await took(store, session="agent:main:other")).row.item.run_id == "r3"
        await store.journal.finish(claim.fence, answered())
        second = await took(store)
        assert second.row.item.run_id == "r2"
        assert await take(store, session="agent:main:nobody") is None

    async def test_a_living_owner_keeps_its_session(self, house: StoreHouse) -> None:
        """Another owner neither claims nor counts it as ready, and learns who has it."""
        one, two = await house.open("boot-a"), await house.open("boot-b", kind="local")
        await one.journal.accept([message(1), message(2)])
        claim = await took(one)
        assert await take(two, "boot-b") is None
        assert await two.journal.ready_sessions(BootId("boot-b"), now=5000) == []
        holder = await two.journal.holder(MAIN, BootId("boot-b"))
        assert holder is not None
        assert (holder.run_id, holder.owner, holder.status) == (claim.fence.run_id, "boot-a", RunStatus.ACTIVE)
        assert await one.journal.holder(MAIN, BootId("boot-a")) is None

    async def test_a_dead_owners_run_goes_on_under_a_new_epoch(self, house: StoreHouse) -> None:
        """The same run id, epoch + 1, marked as resumed; the old fence is worth nothing."""
        one, two = await house.open("boot-a"), await house.open("boot-b")
        await one.journal.accept([message(1), message(2)])
        old = await took(one)
        await one.journal.write_steps(old.fence, [step("r1", 0)])
        house.crash(one)
        assert await two.journal.holder(MAIN, BootId("boot-b")) is None
        assert await two.journal.ready_sessions(BootId("boot-b"), now=5000) == [MAIN]
        new = await took(two, "boot-b", now=6000)
        assert (new.fence.run_id, new.fence.epoch, new.resumed, new.row.attempt) == ("r1", 2, True, 2)
        assert new.session_id == old.session_id
        with pytest.raises(FenceLost):
            await two.journal.write_steps(old.fence, [step("r1", 1)])
        with pytest.raises(FenceLost):
            await two.journal.release(old.fence, now=6000)
        with pytest.raises(FenceLost):
            await two.journal.finish(old.fence, answered(outbox=[part("r1")], steps=[step("r1", 2)]))
        assert await two.journal.outbox_of(RunId("r1")) == []
        assert [s.k for s in await two.journal.steps(RunId("r1"))] == [0]
        await two.journal.finish(new.fence, answered())
        assert (await reconcile(two))["answered"] == 1

    async def test_a_row_with_an_owner_is_its_owners(self, house: StoreHouse) -> None:
        """A row that a living process wants to run itself is left alone by others, until that process dies."""
        gateway, local = await house.open("boot-a"), await house.open("boot-l", kind="local")
        await local.journal.accept([message(1, owner=BootId("boot-l"))])
        assert await take(gateway) is None
        assert await gateway.journal.ready_sessions(BootId("boot-a"), now=5000) == []
        assert await local.journal.ready_sessions(BootId("boot-l"), now=5000) == [MAIN]
        house.crash(local)
        assert await gateway.journal.ready_sessions(BootId("boot-a"), now=5000) == [MAIN]
        assert (await took(gateway)).row.item.run_id == "r1"

    async def test_release_gives_the_run_back(self, store: Store) -> None:
        """The row is new again and waits for its time, holding back later ones; the next claim goes on with it."""
        await store.journal.accept([with_task(1), message(2)], tasks=[task(1)])
        claim = await took(store)
        await store.journal.release(claim.fence, now=5000, not_before=7000, error="busy", refund=True)
        row = await store.journal.inbox_row(RunId("r1"))
        assert row is not None
        assert (row.state, row.attempt, row.not_before, row.error) == (InboxState.NEW, 0, 7000, "busy")
        queued = await store.tasks.get("t1")
        assert queued is not None
        assert queued.status is TaskStatus.QUEUED
        with pytest.raises(FenceLost):
            await store.journal.write_steps(claim.fence, [step("r1", 0)])
        assert await take(store, now=6999) is None
        assert await store.journal.ready_sessions(BootId("boot-a"), now=6999) == []
        assert await store.journal.ready_sessions(BootId("boot-a"), now=7000) == [MAIN]
        again = await took(store, now=7000)
        assert (again.fence.run_id, again.fence.epoch, again.resumed, again.row.attempt) == ("r1", 2, True, 1)

    async def test_finish_writes_everything(self, store: Store) -> None:
        """Inbox, run, outbox, steps, task and session entry."""
        await store.journal.accept([with_task(1)], tasks=[task(1)])
        claim = await took(store)
        plan = answered(
            outbox=[part("r1", 0), part("r1", 1)],
            result={"payloads": []},
            steps=[step("r1", 0, result={"text": "x"}, meta={"tokens": 3})],
            task=TaskPatch(task_id="t1", status=TaskStatus.SUCCEEDED, at=9000, terminal_summary="completed"),
            session_fields={"status": "done", "model": "m"},
            meta={"model": "m"},
        )
        await store.journal.finish(claim.fence, plan)
        row, run = await store.journal.inbox_row(RunId("r1")), await store.journal.run(RunId("r1"))
        assert row is not None
        assert run is not None
        assert row.state is InboxState.ANSWERED
        assert (run.status, run.ended_at, run.result, run.meta) == (
            RunStatus.OK,
            9000,
            {"payloads": []},
            {"model": "m"},
        )
        assert [r.item for r in await store.journal.outbox_of(RunId("r1"))] == [part("r1", 0), part("r1", 1)]
        assert await store.journal.steps(RunId("r1")) == list(plan.steps)
        ended, entry = await store.tasks.get("t1"), await store.sessions.get(MAIN)
        assert ended is not None
        assert entry is not None
        assert (ended.status, ended.ended_at, ended.terminal_summary) == (TaskStatus.SUCCEEDED, 9000, "completed")
        assert (entry.session_id, entry.updated_at, entry.fields) == ("s-1", 9000, {"status": "done", "model": "m"})
        with pytest.raises(FenceLost):
            await store.journal.finish(claim.fence, plan)

    async def test_steps_are_replaced_by_number(self, store: Store) -> None:
        """Intent becomes done; steps come back by number."""
        await store.journal.accept([message(1)])
        claim = await took(store)
        await store.journal.write_steps(claim.fence, [step("r1", 1, StepState.INTENT), step("r1", 0)])
        done = step("r1", 1, call_id="c1", result={"ok": True}, ended_at=5)
        await store.journal.write_steps(claim.fence, [done])
        assert await store.journal.steps(RunId("r1")) == [step("r1", 0), done]

    async def test_runs_come_latest_first(self, store: Store) -> None:
        """Of one session or of all, within the limit."""
        await store.journal.accept([message(1), message(2, session="agent:main:other")])
        await took(store)
        await took(store, session="agent:main:other")
        assert [r.run_id for r in await store.journal.runs()] == ["r2", "r1"]
        assert [r.run_id for r in await store.journal.runs(limit=1)] == ["r2"]
        assert [r.run_id for r in await store.journal.runs(session_key=MAIN)] == ["r1"]
        assert await store.journal.run(RunId("r9")) is None

    async def test_prune_forgets_only_what_is_settled(self, store: Store) -> None:
        """Old and settled goes; open messages, replies on their way, tasks' messages and the last ones stay."""
        done, queued, tasked = message(1), message(2), with_task(3)
        await store.journal.accept([done, queued, tasked, message(4), message(5)], tasks=[task(3)])
        for outbox in ([], [part("r2")], [], []):
            claim = await took(store)
            await store.journal.finish(claim.fence, answered(outbox=outbox, steps=[step(claim.fence.run_id, 0)]))
        assert await store.journal.prune(before=1000, keep=0) == 0
        assert await store.journal.prune(before=9_000_000, keep=2) == 1
        left = [n for n in range(1, 6) if await store.journal.inbox_row(RunId(f"r{n}")) is not None]
        assert left == [2, 3, 4, 5]
        assert await store.journal.run(RunId("r1")) is None
        assert await store.journal.steps(RunId("r1")) == []
        assert await store.journal.prune(before=9_000_000, keep=0) == 1
        counts = await store.journal.counts()
        assert (counts["accepted"], counts["forgotten"]) == (5, 2)
        assert counts["accepted"] == counts["answered"] + counts["pending"] + counts["forgotten"]

    async def test_a_claim_tells_the_sessions_model(self, store: Store) -> None:
        """What the entry asks for comes with the claim."""
        await store.journal.accept([message(1), message(2)])
        claim = await took(store)
        assert claim.model_override == ""
        await store.journal.finish(claim.fence, answered(session_fields={"modelOverride": "mine/model"}))
        assert (await took(store)).model_override == "mine/model"

    async def test_settle_ends_what_does_not_run(self, store: Store) -> None:
        """An ended run row, the notice and the task in one transaction; not for a running or ended message."""
        await store.journal.accept([with_task(1), message(2), message(3)], tasks=[task(1)])
        patch = TaskPatch(task_id="t1", status=TaskStatus.CANCELLED, at=6000)
        why = {"code": "aborted", "message": "stopped"}
        done = await store.journal.settle_unclaimed(
            RunId("r1"),
            InboxState.IGNORED,
            status=RunStatus.ABORTED,
            at=6000,
            error=why,
            outbox=[part("r1")],
            task=patch,
        )
        assert done
        run, cancelled = await store.journal.run(RunId("r1")), await store.tasks.get("t1")
        assert run is not None
        assert cancelled is not None
        assert (run.status, run.ended_at, run.error) == (RunStatus.ABORTED, 6000, why)
        assert cancelled.status is TaskStatus.CANCELLED
        assert len(await store.journal.outbox_of(RunId("r1"))) == 1
        assert (await took(store)).row.item.run_id == "r2"
        for run_id in ("r1", "r2", "r9"):
            assert not await store.journal.settle_unclaimed(
                RunId(run_id), InboxState.DEAD, status=RunStatus.ERROR, at=6000, error=None, outbox=[part(run_id, 7)]
            )
        assert await store.journal.outbox_of(RunId("r2")) == []
        counts = await reconcile(store)
        assert (counts["ignored"], counts["pending"], counts["outbox_pending"]) == (1, 2, 1)

    async def test_a_child_is_announced_once(self, house: StoreHouse) -> None:
        """The end of a child and the parent's message are one transaction, whoever repeats it."""
        store = await house.open()
        child = SpawnRow(
            child_run=RunId("r1"),
            child_session=SessionKey("agent:main:subagent:1"),
            parent_session=MAIN,
            state="running",
            created_at=1,
        )
        first = message(1, session="agent:main:subagent:1")
        await store.journal.spawn_open(child, item=first, task=task(1, runtime="subagent"))
        await store.journal.spawn_open(child, item=first, task=task(1, runtime="subagent"))
        assert await store.tasks.get("t1") is not None
        assert (await reconcile(store))["accepted"] == 1
        house.crash(store)
        store = await house.open("boot-b")
        announce = message(2, event_key="announce:r1")
        assert await store.journal.spawn_finish(RunId("r1"), state="ok", at=2, announce=announce)
        later = message(3, event_key="announce:r1:again")
        assert not await store.journal.spawn_finish(RunId("r1"), state="ok", at=3, announce=later)
        assert not await store.journal.spawn_finish(RunId("r9"), state="ok", at=3, announce=later)
        assert (await reconcile(store))["accepted"] == 2

    async def test_a_run_keeps_the_transcript_it_began_in(self, house: StoreHouse) -> None:
        """A reset between two attempts changes the session of later messages only."""
        store = await house.open()
        await store.journal.accept([message(1), message(2)])
        assert (await took(store)).session_id == "s-1"
        await store.sessions.reset(MAIN, new_session_id=SessionId("s-2"), now=5500)
        house.crash(store)
        store = await house.open("boot-b")
        claim = await took(store, "boot-b")
        assert claim.session_id == "s-1"
        await store.journal.finish(claim.fence, answered(session_fields={"totalTokens": 10}))
        entry = await store.sessions.get(MAIN)
        assert entry is not None
        assert (entry.session_id, entry.agent_id, entry.fields) == ("s-2", AGENT, {})
        assert (await took(store, "boot-b")).session_id == "s-2"

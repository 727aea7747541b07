"""The session index's, task ledger's and audit index's part of the store contract."""

from __future__ import annotations

from openclaw_core.contracts.store import FinishPlan, Store
from openclaw_core.domain.audit import AuditEvent, AuditQuery
from openclaw_core.domain.ids import AgentId, RunId, SessionId, SessionKey
from openclaw_core.domain.journal import InboxState, RunStatus
from openclaw_core.domain.tasks import TaskPatch, TaskStatus
from openclaw_core.testing.contracts.store_backend import (
    AGENT,
    MAIN,
    BackendFixtures,
    StoreHouse,
    message,
    task,
    took,
    with_task,
)

MINUTE = 60_000
DAY = 24 * 60 * MINUTE


def event(number: int, **changes: object) -> AuditEvent:
    """An audit event of run ``r<number>``."""
    values: dict[str, object] = {
        "event_id": f"a{number}",
        "occurred_at": 1000 + number,
        "kind": "agent_run",
        "action": "agent_run.started",
        "status": "started",
        "actor_type": "user",
        "actor_id": "cli",
        "agent_id": AGENT,
        "run_id": f"r{number}",
        **changes,
    }
    return AuditEvent(**values)  # type: ignore[arg-type]  # fields by name, for brevity of the tests


class LedgerContract(BackendFixtures):
    """Sessions, tasks and audit."""

    async def test_session_entries(self, store: Store) -> None:
        """Made once, merged, listed latest first, by agent and within the limit."""
        made = await store.sessions.ensure(MAIN, AGENT, new_session_id=SessionId("s1"), now=10)
        again = await store.sessions.ensure(MAIN, AGENT, new_session_id=SessionId("s2"), now=20)
        assert made == again
        assert (made.session_id, made.updated_at, made.session_started_at, made.fields) == ("s1", 10, 10, {})
        await store.sessions.update(MAIN, {"model": "m", "label": "x"}, now=30)
        await store.sessions.update(MAIN, {"label": "y"}, now=31)
        entry = await store.sessions.get(MAIN)
        assert entry is not None
        assert (entry.fields, entry.updated_at, entry.session_started_at) == ({"model": "m", "label": "y"}, 31, 10)
        other = SessionKey("agent:two:main")
        await store.sessions.ensure(other, AgentId("two"), new_session_id=SessionId("s3"), now=40)
        assert [e.key for e in await store.sessions.list()] == [other, MAIN]
        assert [e.key for e in await store.sessions.list(agent_id=AGENT)] == [MAIN]
        assert [e.key for e in await store.sessions.list(limit=1)] == [other]

    async def test_session_reset(self, store: Store) -> None:
        """A new transcript; preferences stay, what described the old transcript goes."""
        assert await store.sessions.reset(MAIN, new_session_id=SessionId("s9"), now=5) is None
        await store.sessions.ensure(MAIN, AGENT, new_session_id=SessionId("s1"), now=10)
        await store.sessions.update(MAIN, {"modelOverride": "m", "totalTokens": 99}, now=11)
        old = await store.sessions.reset(MAIN, new_session_id=SessionId("s2"), now=20)
        assert old is not None
        assert (old.session_id, old.fields) == ("s1", {"modelOverride": "m", "totalTokens": 99})
        new = await store.sessions.get(MAIN)
        assert new is not None
        assert (new.session_id, new.session_started_at, new.fields) == ("s2", 20, {"modelOverride": "m"})

    async def test_an_ended_task_stays_ended(self, store: Store) -> None:
        """Terminal states never change; the end never lies before the start; kept for seven days."""
        await store.tasks.put(task(1))
        await store.tasks.put(task(1, status=TaskStatus.RUNNING))
        running = await store.tasks.patch(TaskPatch(task_id="t1", status=TaskStatus.RUNNING, at=2000))
        assert running is not None
        assert (running.status, running.started_at) == (TaskStatus.RUNNING, 2000)
        failed = await store.tasks.patch(TaskPatch(task_id="t1", status=TaskStatus.FAILED, at=1500, error="no"))
        assert failed is not None
        assert (failed.status, failed.ended_at, failed.cleanup_after) == (TaskStatus.FAILED, 2000, 2000 + 7 * DAY)
        for status in TaskStatus:
            patch = TaskPatch(task_id="t1", status=status, at=9000, error="x", delivery_status="delivered")
            after = await store.tasks.patch(patch)
            assert after is not None
            assert (after.status, after.error, after.ended_at) == (TaskStatus.FAILED, "no", 2000)
        assert await store.tasks.patch(TaskPatch(task_id="t9", status=TaskStatus.LOST, at=1)) is None

    async def test_tasks_are_found_and_listed(self, store: Store) -> None:
        """By task id, run id, or session key with its latest; lists by runtime and status, latest first."""
        await store.tasks.put(task(1))
        await store.tasks.put(task(2, runtime="cron", status=TaskStatus.RUNNING))
        for any_id, expected in (("t1", "t1"), ("r2", "t2"), (MAIN, "t2")):
            found = await store.tasks.find(any_id)
            assert found is not None
            assert found.task_id == expected
        assert await store.tasks.find("nothing") is None
        assert [t.task_id for t in await store.tasks.list()] == ["t2", "t1"]
        assert [t.task_id for t in await store.tasks.list(runtime="cron")] == ["t2"]
        assert [t.task_id for t in await store.tasks.list(status="queued")] == ["t1"]
        assert [t.task_id for t in await store.tasks.list(limit=1)] == ["t2"]
        assert await store.tasks.get("t2") == task(2, runtime="cron", status=TaskStatus.RUNNING)

    async def test_sweep_finds_lost_tasks(self, house: StoreHouse) -> None:
        """Unfinished without a run for five minutes: lost; of an ended run: as the run ended; queued or running
        messages keep theirs; a second sweep changes nothing."""
        store = await house.open()
        await store.journal.accept([with_task(1), with_task(2), message(3)], tasks=[task(1), task(2), task(4)])
        claim = await took(store)
        plan = FinishPlan(inbox_state=InboxState.TOLD, status=RunStatus.TIMEOUT, at=6000)
        await store.journal.finish(claim.fence, plan)
        await took(store)
        house.crash(store)
        store = await house.open("boot-b")
        assert await store.tasks.sweep(now=5000 + 5 * MINUTE - 1) == 1  # t4 has no run at all
        assert await store.tasks.sweep(now=6000 + 5 * MINUTE) == 1
        assert await store.tasks.sweep(now=6000 + 5 * MINUTE) == 0
        states = {t.task_id: t.status for t in await store.tasks.list()}
        assert states == {"t1": TaskStatus.TIMED_OUT, "t2": TaskStatus.RUNNING, "t4": TaskStatus.LOST}
        lost = await store.tasks.get("t4")
        assert lost is not None
        assert lost.error
        assert lost.ended_at == 5000 + 5 * MINUTE - 1
        assert await store.tasks.sweep(now=6000 + 5 * MINUTE + 7 * DAY) == 2
        assert [t.task_id for t in await store.tasks.list()] == ["t2"]
        assert await store.journal.inbox_row(RunId("r1")) is not None

    async def test_audit_pages(self, store: Store) -> None:
        """Numbered in order, newest first, filtered, page by page."""
        await store.audit.append([event(n, kind="tool_action" if n % 2 else "agent_run") for n in range(7)])
        events, cursor = await store.audit.query(AuditQuery(limit=3))
        assert [e.event_id for e in events] == ["a6", "a5", "a4"]
        assert [e.sequence for e in events] == sorted((e.sequence for e in events), reverse=True)
        assert cursor is not None
        rest, last = await store.audit.query(AuditQuery(limit=4, cursor=cursor))
        assert ([e.event_id for e in rest], last) == (["a3", "a2", "a1", "a0"], None)
        tools, _ = await store.audit.query(AuditQuery(kind="tool_action"))
        assert [e.event_id for e in tools] == ["a5", "a3", "a1"]
        some, _ = await store.audit.query(AuditQuery(run_id="r2", status="started", agent_id=AGENT))
        assert [e.event_id for e in some] == ["a2"]
        between, _ = await store.audit.query(AuditQuery(after=1002, before=1003))
        assert [e.event_id for e in between] == ["a3", "a2"]

    async def test_audit_prune_drops_the_old(self, store: Store) -> None:
        """At most 1024 at once; younger ones stay, and numbers are not given twice."""
        now = 40 * DAY
        await store.audit.append([event(0, occurred_at=DAY) for _ in range(1500)])
        await store.audit.append([event(1, occurred_at=now)])
        (newest, *_), _ = await store.audit.query(AuditQuery(limit=1))
        assert await store.audit.prune(now=now) == 1024
        assert await store.audit.prune(now=now) == 476
        assert await store.audit.prune(now=now) == 0
        (left,), _ = await store.audit.query(AuditQuery())
        assert left == newest
        assert await store.audit.prune(now=80 * DAY) == 1
        await store.audit.append([event(2)])
        (fresh,), _ = await store.audit.query(AuditQuery())
        assert fresh.sequence > newest.sequence

    async def test_a_reader_works_beside_a_gateway(self, house: StoreHouse) -> None:
        """It sees what is there and is nobody's owner."""
        gateway = await house.open()
        await gateway.journal.accept([message(1)])
        await took(gateway)
        reader = await house.open("boot-r", kind="reader")
        assert (await reader.journal.counts())["pending"] == 1
        await gateway.tasks.put(task(7))
        assert await reader.tasks.get("t7") is not None
        await house.close(reader)
        await gateway.tasks.put(task(8))
        await house.close(gateway)
        store = await house.open("boot-b")
        assert await store.tasks.get("t8") is not None

"""Any order of inbox and outbox operations, with restarts and crashes between them, against a simple model."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from openclaw_store_sqlite.store import SqliteStore

from openclaw_core.sdk import (
    BootId,
    Fence,
    FinishPlan,
    InboxState,
    OutboxState,
    RunId,
    RunStatus,
    SessionId,
    SessionKey,
)
from openclaw_core.testing.contracts.store_backend import message, part

SESSIONS = [SessionKey(f"agent:main:s{n}") for n in range(3)]
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # nothing here depends on a real flush
session_keys = st.sampled_from(SESSIONS)


@dataclass
class Row:
    run: str
    session: SessionKey
    state: str = "new"
    attempt: int = 0
    epoch: int = 0
    not_before: int = 0
    holder: str = ""


@dataclass
class Part:
    idem: str
    target: str
    state: str = "pending"
    attempt: int = 0
    not_before: int = 0


@dataclass
class Model:
    inbox: list[Row] = field(default_factory=list)
    outbox: list[Part] = field(default_factory=list)

    def head(self, session: SessionKey) -> Row | None:
        return next((r for r in self.inbox if r.session == session and r.state in ("new", "running")), None)

    def due(self, now: int) -> list[str]:
        heads: dict[str, Part] = {}
        for item in self.outbox:
            if item.state in ("pending", "sending"):
                heads.setdefault(item.target, item)
        order = {item.idem: index for index, item in enumerate(self.outbox)}
        due = [p for p in heads.values() if p.state == "sending" or p.not_before <= now]
        return [p.idem for p in sorted(due, key=lambda p: order[p.idem])]


class StoreMachine(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY)
        self.model = Model()
        self.boots = 0
        self.now = 1000
        self.open()

    def open(self) -> None:
        self.boots += 1
        self.boot = BootId(f"boot-{self.boots}")
        self.store = SqliteStore(self.folder.name)
        self.runner.run(self.store.start(self.boot, kind="gateway"))

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.runner.run(self.store.aclose())
            self.runner.close()
            self.folder.cleanup()

    @rule(crash=st.booleans())
    def restart(self, crash: bool) -> None:
        if crash:
            self.store.abandon()
        else:
            self.runner.run(self.store.aclose())
        self.open()

    @rule(seconds=st.integers(1, 20))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @rule(number=st.integers(0, 12), session=session_keys)
    def accept(self, number: int, session: SessionKey) -> None:
        (got,) = self.runner.run(self.store.journal.accept([message(number, session=session)]))
        known = next((r for r in self.model.inbox if r.run == f"r{number}"), None)
        assert got.new == (known is None)
        if known is None:
            self.model.inbox.append(Row(run=f"r{number}", session=session))
        else:
            assert got.row.item.session_key == known.session
            assert got.row.state == known.state

    @rule(session=session_keys)
    def claim(self, session: SessionKey) -> None:
        claim = self.runner.run(
            self.store.journal.claim(session, self.boot, now=self.now, new_session_id=SessionId("s"))
        )
        head = self.model.head(session)
        if head is None or head.not_before > self.now or head.holder == self.boot:
            assert claim is None
            return
        assert claim is not None
        head.state, head.attempt, head.holder = "running", head.attempt + 1, self.boot
        head.epoch += 1
        assert (claim.fence.run_id, claim.fence.epoch, claim.row.attempt) == (head.run, head.epoch, head.attempt)
        assert claim.resumed == (head.epoch > 1)

    def held(self, session: SessionKey) -> Row | None:
        head = self.model.head(session)
        return head if head is not None and head.holder == self.boot else None

    @rule(session=session_keys, parts=st.integers(0, 3), to=st.sampled_from(["x", "y"]))
    def finish(self, session: SessionKey, parts: int, to: str) -> None:
        head = self.held(session)
        if head is None:
            return
        items = [part(head.run, number, target=to) for number in range(parts)]
        plan = FinishPlan(inbox_state=InboxState.ANSWERED, status=RunStatus.OK, at=self.now, outbox=items)
        self.runner.run(self.store.journal.finish(Fence(run_id=RunId(head.run), epoch=head.epoch), plan))
        head.state = "answered"
        self.model.outbox += [Part(idem=item.idem, target=to) for item in items]

    @rule(session=session_keys, delay=st.integers(0, 20), refund=st.booleans())
    def release(self, session: SessionKey, delay: int, refund: bool) -> None:
        head = self.held(session)
        if head is None:
            return
        fence = Fence(run_id=RunId(head.run), epoch=head.epoch)
        self.runner.run(self.store.journal.release(fence, now=self.now, not_before=self.now + delay, refund=refund))
        head.state, head.holder, head.not_before = "new", "", self.now + delay
        head.attempt -= int(refund)

    @rule(number=st.integers(0, 12))
    def settle(self, number: int) -> None:
        row = next((r for r in self.model.inbox if r.run == f"r{number}"), None)
        done = self.runner.run(
            self.store.journal.settle_unclaimed(
                RunId(f"r{number}"), InboxState.TOLD, status=RunStatus.ABORTED, at=self.now, error=None
            )
        )
        can = row is not None and row.state in ("new", "running") and row.holder != self.boot
        assert done == can
        if row is not None and can:
            row.state = "told"

    @precondition(lambda self: self.model.outbox)
    @rule(how=st.sampled_from(["sending", "sent", "unknown", "pending"]), delay=st.integers(0, 20))
    def mark(self, how: str, delay: int) -> None:
        rows = self.runner.run(self.store.journal.outbox_due(now=self.now))
        if not rows:
            return
        model = next(p for p in self.model.outbox if p.idem == rows[0].item.idem)
        notice = part("n", len(self.model.outbox), target=model.target) if how == "unknown" else None
        later = self.now + delay if how == "pending" else 0
        self.runner.run(
            self.store.journal.outbox_mark(rows[0].id, OutboxState(how), now=self.now, not_before=later, notice=notice)
        )
        model.state, model.not_before = how, later
        model.attempt += int(how == "sending")
        if notice is not None:
            self.model.outbox.append(Part(idem=notice.idem, target=model.target))

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "store"):
            return
        journal = self.store.journal
        counts = self.runner.run(journal.counts())
        states = [row.state for row in self.model.inbox]
        assert counts["accepted"] == len(states)
        assert counts["pending"] == states.count("new") + states.count("running")
        assert (counts["answered"], counts["told"]) == (states.count("answered"), states.count("told"))
        for state in OutboxState:
            assert counts[f"outbox_{state}"] == [p.state for p in self.model.outbox].count(state)
        heads = [row for row in self.model.inbox if row is self.model.head(row.session)]
        ready = [row.session for row in heads if row.not_before <= self.now and row.holder != self.boot]
        assert self.runner.run(journal.ready_sessions(self.boot, now=self.now)) == ready
        due = self.runner.run(journal.outbox_due(now=self.now))
        assert [row.item.idem for row in due] == self.model.due(self.now)


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(
    max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

"""Lanes: one run per session at a time, a bounded number of sessions at once (behaviour.md 1.4)."""

from __future__ import annotations

import asyncio

from openclaw_core.aio.backoff import Backoff
from openclaw_core.aio.clock import Clock
from openclaw_core.aio.tasks import TaskOwner
from openclaw_core.contracts.store import Journal
from openclaw_core.domain.ids import BootId, RunId, SessionId, SessionKey, new_uuid
from openclaw_core.domain.journal import Claim, InboxState, RunStatus
from openclaw_core.domain.tasks import TaskPatch, TaskStatus
from openclaw_core.errors import FenceLost, RunAborted, SessionBusy, StoreError
from openclaw_core.observe.logging import get_logger
from openclaw_core.runs.hub import RunHub
from openclaw_core.runs.publish import Publisher
from openclaw_core.runs.runner import ActiveRun, Ran, Runner

_log = get_logger("lanes")

_SWEEP_S = 2.0
"""How often work of other (dead or finished) processes is looked for; one indexed query."""
_BUSY_RETRY_S = 0.25


class Dispatcher:
    """Session lanes inside a global lane of `slots` runs."""

    def __init__(
        self,
        runner: Runner,
        journal: Journal,
        hub: RunHub,
        clock: Clock,
        *,
        owner: BootId,
        slots: int,
        busy_timeout_s: float,
    ) -> None:
        self._runner = runner
        self._journal = journal
        self._hub = hub
        self._clock = clock
        self._owner = owner
        self._slots = asyncio.Semaphore(slots)
        self._busy_timeout_s = busy_timeout_s
        self._tasks = TaskOwner("lanes")
        self._lanes: dict[SessionKey, asyncio.Task[None]] = {}
        self._dirty: set[SessionKey] = set()
        self._active: dict[RunId, ActiveRun] = {}
        self._draining = False

    @property
    def active(self) -> list[ActiveRun]:
        """Runs in progress."""
        return list(self._active.values())

    @property
    def lanes(self) -> int:
        """Sessions with work."""
        return len(self._lanes)

    def notify(self, key: SessionKey) -> None:
        """The session has a new message."""
        self._dirty.add(key)
        if key not in self._lanes and not self._draining:
            self._lanes[key] = self._tasks.start(self._lane(key), name=key)

    async def run(self) -> None:
        """Find work that nobody announces (recovery, other processes) until cancelled."""
        while True:
            try:
                for key in await self._journal.ready_sessions(self._owner, now=self._clock.now_ms()):
                    if key not in self._lanes:
                        self.notify(key)
            except StoreError as error:
                _log.warning("cannot look for work", error=error.message)
            await self._clock.sleep(_SWEEP_S)

    async def _lane(self, key: SessionKey) -> None:
        busy_since: float | None = None
        try:
            while not self._draining:
                self._dirty.discard(key)
                async with self._slots:
                    claim = None if self._draining else await self._claim(key)
                    ran = await self._run(claim) if claim is not None else None
                if claim is None:
                    if key in self._dirty:
                        continue
                    return
                if ran is not Ran.BUSY:
                    busy_since = None
                    continue
                busy_since = self._clock.monotonic() if busy_since is None else busy_since
                if self._clock.monotonic() - busy_since >= self._busy_timeout_s:
                    await self._give_up_busy(claim)
                    busy_since = None
                else:
                    await self._clock.sleep(_BUSY_RETRY_S)
        finally:
            self._lanes.pop(key, None)
            if key in self._dirty and not self._draining:
                self.notify(key)

    async def _claim(self, key: SessionKey) -> Claim | None:
        backoff = Backoff(first=0.2, limit=5.0)
        while True:
            try:
                return await self._journal.claim(
                    key, self._owner, now=self._clock.now_ms(), new_session_id=SessionId(new_uuid())
                )
            except StoreError as error:
                _log.warning("cannot claim", session=key, error=error.message)
                await self._clock.sleep(backoff.next())

    async def _run(self, claim: Claim) -> Ran:
        """Run in a task of its own, so that stopping a run does not stop its lane."""
        run_id = claim.row.item.run_id
        active = ActiveRun(run_id=run_id, session_key=claim.row.item.session_key)
        self._active[run_id] = active
        active.task = self._tasks.start(self._guarded(claim, active), name=f"run:{run_id}")
        try:
            return await active.task
        finally:
            self._active.pop(run_id, None)

    async def _guarded(self, claim: Claim, active: ActiveRun) -> Ran:
        try:
            return await self._runner.run(claim, active)
        except FenceLost:
            return Ran.DONE
        except StoreError as error:
            _log.error("run interrupted by the store; it goes on when writing works again", error=error.message)
            await self._recover(claim, "store", refund=True)
            return Ran.DONE
        except Exception as error:  # noqa: BLE001  # a run that stays held would block its session until a restart
            _log.error("run broke off; it is tried again", run=claim.row.item.run_id, error=repr(error), exc_info=error)
            await self._recover(claim, type(error).__name__, refund=False)
            return Ran.DONE

    async def _recover(self, claim: Claim, why: str, *, refund: bool) -> None:
        """Give the claim back as soon as the store takes writes again, so that it is resumed."""
        backoff = Backoff(first=0.5, limit=5.0)
        while True:
            await self._clock.sleep(backoff.next())
            try:
                await self._journal.release(claim.fence, now=self._clock.now_ms(), error=why, refund=refund)
                return
            except FenceLost:
                return
            except StoreError as error:
                _log.warning("store still refuses writes", error=error.message)

    async def _give_up_busy(self, claim: Claim) -> None:
        item = claim.row.item
        error = SessionBusy(f"The session {item.session_key} is in use by another process.")
        await self.settle(item.run_id, error, RunStatus.ERROR, task_id=item.task_id)

    async def settle(
        self, run_id: RunId, error: SessionBusy | RunAborted, status: RunStatus, *, task_id: str | None
    ) -> bool:
        """End a message that does not run; False when it runs or has ended."""
        now = self._clock.now_ms()
        row = await self._journal.inbox_row(run_id)
        if row is None:
            return False
        cancelled = status is RunStatus.ABORTED
        patch = (
            TaskPatch(
                task_id=task_id,
                status=TaskStatus.CANCELLED if cancelled else TaskStatus.FAILED,
                at=now,
                error=error.message,
                terminal_summary=status.value,
            )
            if task_id
            else None
        )
        done = await self._journal.settle_unclaimed(
            run_id,
            InboxState.TOLD,
            status=status,
            at=now,
            error=error.as_dict(),
            outbox=self._runner.deps.plan_reply(row.item, [], error, now),
            task=patch,
        )
        if done:
            ended = {
                "runId": run_id,
                "sessionKey": row.item.session_key,
                "status": status.value,
                "startedAt": now,
                "endedAt": now,
                "result": None,
                "error": error.as_dict(),
            }
            Publisher.end(self._hub, ended)
            self._hub.ended(run_id, ended)
        return done

    async def cancel(self, run_id: RunId, reason: str = "stopped on request") -> bool:
        """Stop a run, or take its message out of the queue; False when there is nothing to stop."""
        error = RunAborted(f"The run was stopped ({reason}).")
        active = self._active.get(run_id)
        if active is not None and active.task is not None:
            if active.ending:
                return False
            if active.abort is None:
                active.abort = error
                active.task.cancel()
            return True
        row = await self._journal.inbox_row(run_id)
        if row is None:
            return False
        return await self.settle(run_id, error, RunStatus.ABORTED, task_id=row.item.task_id)

    async def cancel_session(self, key: SessionKey, reason: str = "stopped on request") -> list[RunId]:
        """Stop everything of one session that runs here."""
        found = [a.run_id for a in self.active if a.session_key == key]
        return [run_id for run_id in found if await self.cancel(run_id, reason)]

    async def drain(self, timeout_s: float) -> bool:
        """Take no new work and wait for the runs in progress; False when some were still running."""
        self._draining = True
        return await self._tasks.drain(timeout_s)

    async def aclose(self) -> None:
        """Cancel what still runs; each run is given back and resumed at the next start."""
        self._draining = True
        await self._tasks.aclose()

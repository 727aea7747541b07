"""One claimed message becomes one finished run."""

from __future__ import annotations

import asyncio
import errno
from contextlib import aclosing
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from openclaw_core.contracts.runtime import Runtime
from openclaw_core.contracts.store import FinishPlan, Transcript
from openclaw_core.domain.ids import RunId, SessionKey
from openclaw_core.domain.journal import Claim, InboxItem, InboxState, RunStatus
from openclaw_core.domain.messages import AssistantMessage, StopReason, UserMessage
from openclaw_core.domain.tasks import TaskPatch, TaskStatus
from openclaw_core.domain.turns import Turn
from openclaw_core.errors import FenceLost, OpenClawError, RunAborted, RunFailed, SessionBusy, StoreError, StoreFull
from openclaw_core.observe.faultpoints import fault_point
from openclaw_core.observe.logging import get_logger, redact, run_context
from openclaw_core.runs import outcome
from openclaw_core.runs.agents import Agent
from openclaw_core.runs.conversation import Conversation
from openclaw_core.runs.deps import RunDeps
from openclaw_core.runs.outcome import RunFacts
from openclaw_core.runs.preparation import prepare, user_blocks
from openclaw_core.runs.publish import Publisher
from openclaw_core.runs.scope import RunScope

_log = get_logger("runs")

MAX_ATTEMPTS = 3
"""Claims of one message before it is a dead letter (reliability.md R15)."""
_ABORTED_TEXT = "Stopped by the owner before the tool finished; whether it took effect is unknown."
_FAILED_TEXT = "The run failed before the tool finished; whether it took effect is unknown."


class Ran(StrEnum):
    """What became of a claim."""

    DONE = "done"
    BUSY = "busy"


@dataclass(slots=True, kw_only=True)
class ActiveRun:
    """A run in progress; `abort` is set by whoever stops it on purpose. Once `ending`, its last
    transaction is under way and it cannot be stopped any more."""

    run_id: RunId
    session_key: SessionKey
    task: asyncio.Task[Ran] | None = None
    abort: RunAborted | None = None
    ending: bool = False
    finished: bool = False
    """The last transaction is committed; there is nothing to give back."""


@dataclass(slots=True, kw_only=True)
class _Ending:
    status: RunStatus
    error: OpenClawError | None = None


class Runner:
    """Runs claims. `deps` may be exchanged between runs; a run keeps what it began with."""

    def __init__(self, deps: RunDeps, *, lock_timeout_s: float) -> None:
        self.deps = deps
        self.lock_timeout_s = lock_timeout_s

    async def run(self, claim: Claim, active: ActiveRun) -> Ran:
        """Run one claim to its durable end.

        Returns BUSY when another process holds the session's write lock: the claim was given back. A
        cancellation without `active.abort` gives the claim back too and passes through.
        """
        deps, item = self.deps, claim.row.item
        run_context.set({"runId": item.run_id, "sessionKey": item.session_key})
        started = deps.clock.now_ms()
        if claim.row.attempt > MAX_ATTEMPTS:
            error = RunFailed(
                f"The message was given up after {MAX_ATTEMPTS} attempts that did not end.",
                code="dead_letter",
                hint="See `openclaw trace` for this run, then send the message again.",
            )
            await self._finish(claim, active, None, RunFacts(), _Ending(status=RunStatus.ERROR, error=error), started)
            return Ran.DONE
        try:
            agent = deps.agents.get(item.agent_id)
        except OpenClawError as error:
            await self._finish(claim, active, None, RunFacts(), _Ending(status=RunStatus.ERROR, error=error), started)
            return Ran.DONE
        try:
            async with deps.store.transcripts.open(
                agent.id, claim.session_id, owner=item.run_id, cwd=str(agent.workspace), timeout_s=self.lock_timeout_s
            ) as transcript:
                await self._locked(claim, active, agent, transcript, started)
        except SessionBusy:
            await deps.store.journal.release(claim.fence, now=deps.clock.now_ms(), error="session_busy", refund=True)
            return Ran.BUSY
        except FenceLost:
            _log.warning("run was taken over by another owner", run=item.run_id)
        except asyncio.CancelledError:
            if active.abort is None or active.ending:
                if not active.finished:
                    await self._give_back(claim)
                raise
            _uncancel()  # stopped before the runtime began
            ending = _Ending(status=RunStatus.ABORTED, error=active.abort)
            await self._finish(claim, active, None, RunFacts(), ending, started)
        return Ran.DONE

    async def _give_back(self, claim: Claim) -> None:
        try:
            await self.deps.store.journal.release(
                claim.fence, now=self.deps.clock.now_ms(), error="stopped", refund=True
            )
        except StoreError as error:
            _log.warning("run could not be given back; the next start resumes it", error=error.message)

    async def _locked(
        self, claim: Claim, active: ActiveRun, agent: Agent, transcript: Transcript, started: int
    ) -> None:
        deps, item = self.deps, claim.row.item
        facts = RunFacts(transcript_path=transcript.path)
        fault_point("run.locked")
        conversation = await deps.history.load(
            transcript,
            run_id=item.run_id,
            session_id=claim.session_id,
            user=UserMessage(content=user_blocks(item.body), timestamp=item.received_at),
            turns=agent.history_turns,
            resumed=claim.resumed or claim.row.attempt > 1,
            at=deps.clock.now_ms(),
        )
        facts.answers = [m for m in conversation.own if isinstance(m, AssistantMessage)]
        fault_point("run.user_line")
        scope: RunScope | None = None
        turn: Turn | None = None
        try:
            turn, scope, runtime = await prepare(deps, claim, agent, conversation, facts)
            publisher = Publisher(deps.hub, turn)
            publisher.start(deps.clock.now_ms())
            _log.info("run begins", model=turn.model.ref, channel=turn.channel, attempt=claim.row.attempt)
            deps.audit.emit(kind="agent_run", action="agent_run.started", status="started", turn=turn)
            await deps.emit("run_started", {"runId": turn.run_id, "sessionKey": turn.session_key})
            ending = _earlier_ending(conversation) or await self._drive(turn, scope, runtime, active, publisher)
        except OpenClawError as error:
            if isinstance(error, StoreError):
                raise
            ending = _Ending(status=RunStatus.ERROR, error=error)
        active.ending = True
        await self._close(ending, scope, conversation)
        await self._finish(claim, active, turn, facts, ending, started, scope)

    async def _drive(
        self, turn: Turn, scope: RunScope, runtime: Runtime, active: ActiveRun, publisher: Publisher
    ) -> _Ending:
        """Iterate the runtime under the run's deadline and say how it ended."""
        limit = turn.limits.timeout_s or None
        deadline = asyncio.timeout(limit)
        try:
            async with deadline, aclosing(runtime.run(turn, scope)) as events:  # type: ignore[type-var]  # an async generator by contract
                async for event in events:
                    publisher.event(event)
            return _Ending(status=RunStatus.OK)
        except asyncio.CancelledError:
            if active.abort is None:
                raise
            _uncancel()
            return _Ending(status=RunStatus.ABORTED, error=active.abort)
        except TimeoutError as error:
            if not deadline.expired():
                return _internal(error)
            text = f"The run did not finish within {limit:g} seconds and was stopped."
            hint = "Raise agents.defaults.timeoutSeconds, or ask for less at once."
            return _Ending(status=RunStatus.TIMEOUT, error=RunFailed(text, code="timeout", hint=hint))
        except StoreError:
            raise
        except OpenClawError as error:
            return _Ending(status=RunStatus.ERROR, error=error)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):  # the run waits for space, as it does for the store
                raise StoreFull("The run could not go on: no space left on the disk.") from error
            return _internal(error)
        except Exception as error:  # noqa: BLE001  # a runtime is a plugin: its failure ends the run, not the process
            return _internal(error)
        finally:
            publisher.flush()

    async def _close(self, ending: _Ending, scope: RunScope | None, conversation: Conversation) -> None:
        """Leave a transcript in which every call has its result, however the run ended."""
        if ending.status is RunStatus.OK or ending.error is None:
            return
        if scope is None:
            await conversation.close_calls(_FAILED_TEXT, at=self.deps.clock.now_ms())
            return
        if ending.status is RunStatus.ABORTED:
            await scope.close(StopReason.ABORTED, _ABORTED_TEXT, code=ending.error.code)
        else:
            message = redact(ending.error.message)
            await scope.close(StopReason.ERROR, _FAILED_TEXT, code=ending.error.code, message=message)

    async def _finish(
        self,
        claim: Claim,
        active: ActiveRun,
        turn: Turn | None,
        facts: RunFacts,
        ending: _Ending,
        started: int,
        scope: RunScope | None = None,
    ) -> None:
        """The last transaction, then everybody who waits."""
        deps, item = self.deps, claim.row.item
        now = deps.clock.now_ms()
        error = ending.error
        reply = outcome.payloads(facts) if ending.status is RunStatus.OK else []
        result: dict[str, Any] | None = None
        if turn is not None:
            meta = outcome.meta(turn, facts, status=ending.status, duration_ms=now - started, error=error)
            result = outcome.result(reply, meta)
        state = InboxState.ANSWERED if ending.status is RunStatus.OK else InboxState.TOLD
        if error is not None and error.code == "dead_letter":
            state = InboxState.DEAD
        parts = deps.plan_reply(item, reply, error, now)
        fault_point("run.finish.before")
        await deps.store.journal.finish(
            claim.fence,
            FinishPlan(
                inbox_state=state,
                status=ending.status,
                at=now,
                outbox=parts,
                result=result,
                error=error.as_dict() if error is not None else None,
                task=_task_patch(item, ending, now),
                steps=tuple(scope.unwritten) if scope is not None else (),
                session_fields=outcome.session_fields(
                    turn, facts, status=ending.status, started_at=started, ended_at=now
                )
                if turn is not None
                else {},
            ),
        )
        active.finished = True
        fault_point("run.finish.after")
        code = error.code if error is not None else ""
        _log.info("run ended", status=ending.status.value, code=code, duration_ms=now - started)
        if turn is not None:
            deps.audit.emit(
                kind="agent_run",
                action="agent_run.finished",
                status=_AUDIT_STATUS[ending.status],
                turn=turn,
                error_code=code,
                duration_ms=now - started,
            )
        ended = {
            "runId": item.run_id,
            "sessionKey": item.session_key,
            "status": ending.status.value,
            "startedAt": started,
            "endedAt": now,
            "result": result,
            "error": error.as_dict() if error is not None else None,
            "queued": bool(parts),
        }
        Publisher.end(deps.hub, ended)
        deps.hub.ended(item.run_id, ended)
        await deps.emit("run_finished", {"runId": item.run_id, "status": ending.status.value})


_AUDIT_STATUS = {
    RunStatus.OK: "succeeded",
    RunStatus.ERROR: "failed",
    RunStatus.ABORTED: "cancelled",
    RunStatus.TIMEOUT: "timed_out",
}
_TASK_STATUS = {
    RunStatus.OK: TaskStatus.SUCCEEDED,
    RunStatus.ERROR: TaskStatus.FAILED,
    RunStatus.ABORTED: TaskStatus.CANCELLED,
    RunStatus.TIMEOUT: TaskStatus.TIMED_OUT,
}


def _task_patch(item: InboxItem, ending: _Ending, now: int) -> TaskPatch | None:
    if item.task_id is None:
        return None
    ok = ending.status is RunStatus.OK
    return TaskPatch(
        task_id=item.task_id,
        status=_TASK_STATUS[ending.status],
        at=now,
        error=None if ending.error is None else redact(ending.error.message),
        terminal_summary="completed" if ok else ending.status.value,
        terminal_outcome="succeeded" if ok else None,
    )


def _earlier_ending(conversation: Conversation) -> _Ending | None:
    """How the run has ended already, if a crash came between its closing line and its last transaction: the
    person is still to be told."""
    last = conversation.own[-1] if conversation.own else None
    if not isinstance(last, AssistantMessage):
        return None
    if last.stop_reason is StopReason.ABORTED:
        return _Ending(status=RunStatus.ABORTED, error=RunAborted("The run was stopped."))
    if last.stop_reason is not StopReason.ERROR:
        return None
    status = RunStatus.TIMEOUT if last.error_code == "timeout" else RunStatus.ERROR
    text = last.error_message or "The run failed."
    return _Ending(status=status, error=RunFailed(text, code=last.error_code or RunFailed.code))


def _uncancel() -> None:
    """The cancellation was meant for the runtime; what follows must not be cut short by it."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


def _internal(error: BaseException) -> _Ending:
    _log.error("run failed by an internal error", error=repr(error), exc_info=error)
    text = f"The run failed by an internal error ({type(error).__name__})."
    return _Ending(
        status=RunStatus.ERROR, error=RunFailed(text, code="internal", hint="See the gateway log for details.")
    )

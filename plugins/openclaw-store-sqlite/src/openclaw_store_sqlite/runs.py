"""Runs: who works on which session, under which epoch, and how it ended."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from openclaw_core.sdk import (
    AgentId,
    BootId,
    Claim,
    Fence,
    FenceLost,
    FinishPlan,
    InboxRow,
    InboxState,
    RunId,
    RunRow,
    RunStatus,
    SessionId,
    SessionKey,
    StepRow,
    StepState,
    TaskId,
)
from openclaw_store_sqlite import inbox, outbox, sessions, tasks
from openclaw_store_sqlite.encoding import pack, pack_optional, text, unpack, unpack_optional
from openclaw_store_sqlite.owners import Owners

_COLUMNS = (
    "run_id, session_key, session_id, agent_id, epoch, owner, status, started_at, ended_at, task_id, channel,"
    " result, error, meta"
)
_GET = f"SELECT {_COLUMNS} FROM runs WHERE run_id = ?"  # noqa: S608  # constant
_HELD = f"SELECT {_COLUMNS} FROM runs WHERE session_key = ? AND held = 1"  # noqa: S608  # constant
_LATEST = f"SELECT {_COLUMNS} FROM runs ORDER BY seq DESC LIMIT ?"  # noqa: S608  # constant
_LATEST_OF = f"SELECT {_COLUMNS} FROM runs WHERE session_key = ? ORDER BY seq DESC LIMIT ?"  # noqa: S608  # constant
_READY = """
SELECT i.session_key, i.owner, i.not_before, r.owner
FROM inbox i LEFT JOIN runs r ON r.session_key = i.session_key AND r.held = 1
WHERE i.ord IN (SELECT MIN(ord) FROM inbox WHERE state IN ('new', 'running') GROUP BY session_key)
ORDER BY i.ord
"""
_STEP = """
INSERT INTO steps (run_id, k, kind, name, state, call_id, digest, started_at, ended_at, meta, result)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run_id, k) DO UPDATE SET kind = excluded.kind, name = excluded.name, state = excluded.state,
  call_id = excluded.call_id, digest = excluded.digest, started_at = excluded.started_at,
  ended_at = excluded.ended_at, meta = excluded.meta, result = excluded.result
"""


def row_of(values: Sequence[Any]) -> RunRow:
    """The row of selected columns."""
    return RunRow(
        run_id=RunId(values[0]),
        session_key=SessionKey(values[1]),
        session_id=SessionId(values[2]),
        agent_id=AgentId(values[3]),
        epoch=values[4],
        owner=BootId(values[5]),
        status=RunStatus(values[6]),
        started_at=values[7],
        ended_at=values[8],
        task_id=TaskId(values[9]) if values[9] is not None else None,
        channel=values[10],
        result=unpack_optional(values[11]),
        error=unpack_optional(values[12]),
        meta=unpack(values[13]),
    )


def get(connection: sqlite3.Connection, run_id: RunId) -> RunRow | None:
    """Journal.run."""
    found = connection.execute(_GET, (text(run_id),)).fetchone()
    return None if found is None else row_of(found)


def latest(connection: sqlite3.Connection, session_key: SessionKey | None, limit: int) -> list[RunRow]:
    """Journal.runs."""
    if session_key is None:
        return [row_of(values) for values in connection.execute(_LATEST, (limit,))]
    return [row_of(values) for values in connection.execute(_LATEST_OF, (text(session_key), limit))]


def holder(connection: sqlite3.Connection, owners: Owners, session_key: SessionKey, owner: BootId) -> RunRow | None:
    """Journal.holder."""
    found = connection.execute(_HELD, (text(session_key),)).fetchone()
    if found is None or found[5] == owner or not owners.alive(found[5]):
        return None
    return row_of(found)


def ready(connection: sqlite3.Connection, owners: Owners, owner: BootId, now: int) -> list[SessionKey]:
    """Journal.ready_sessions."""
    known: dict[str, bool] = {}

    def alive(boot: str) -> bool:
        if boot not in known:
            known[boot] = owners.alive(boot)
        return known[boot]

    out: list[SessionKey] = []
    for key, wanted_by, not_before, held_by in connection.execute(_READY).fetchall():
        if not_before > now or (wanted_by is not None and wanted_by != owner and alive(wanted_by)):
            continue
        if held_by is not None and (held_by == owner or alive(held_by)):
            continue
        out.append(SessionKey(key))
    return out


def claim(
    connection: sqlite3.Connection,
    owners: Owners,
    session_key: SessionKey,
    owner: BootId,
    *,
    now: int,
    new_session_id: SessionId,
) -> Claim | None:
    """Journal.claim. Order is kept: a row that waits for its time holds back the later ones."""
    held = connection.execute(_HELD, (text(session_key),)).fetchone()
    if held is not None and (held[5] == owner or owners.alive(held[5])):
        return None
    found = connection.execute(inbox.OLDEST, (text(session_key),)).fetchone()
    if found is None:
        return None
    row = inbox.row_of(found)
    wanted_by = row.item.owner
    if row.not_before > now or (wanted_by is not None and wanted_by != owner and owners.alive(wanted_by)):
        return None
    connection.execute("UPDATE inbox SET state = 'running', attempt = attempt + 1 WHERE ord = ?", (row.ord,))
    claimed = InboxRow(
        item=row.item,
        ord=row.ord,
        state=InboxState.RUNNING,
        attempt=row.attempt + 1,
        not_before=row.not_before,
        error=row.error,
    )
    fence, session_id, resumed = _hold(connection, row, owner, now=now, new_session_id=new_session_id)
    if row.item.task_id is not None:
        tasks.start(connection, row.item.task_id, now)
    override = sessions.model_override(connection, session_key)
    return Claim(row=claimed, fence=fence, session_id=session_id, resumed=resumed, model_override=override)


def _hold(
    connection: sqlite3.Connection, row: InboxRow, owner: BootId, *, now: int, new_session_id: SessionId
) -> tuple[Fence, SessionId, bool]:
    """Insert the run row, or take it over with the next epoch; it stays in the transcript it began in."""
    item = row.item
    before = connection.execute("SELECT epoch, session_id FROM runs WHERE run_id = ?", (text(item.run_id),)).fetchone()
    session_id = sessions.ensure(connection, item.session_key, item.agent_id, new_session_id=new_session_id, now=now)
    if before is not None:
        epoch = before[0] + 1
        connection.execute(
            "UPDATE runs SET epoch = ?, owner = ?, held = 1, status = 'active', ended_at = NULL WHERE run_id = ?",
            (epoch, owner, text(item.run_id)),
        )
        return Fence(run_id=item.run_id, epoch=epoch), SessionId(before[1]), True
    connection.execute(
        "INSERT INTO runs (run_id, session_key, session_id, agent_id, epoch, owner, held, status, started_at, task_id,"
        " channel) VALUES (?, ?, ?, ?, 1, ?, 1, 'active', ?, ?, ?)",
        (
            text(item.run_id),
            text(item.session_key),
            text(session_id),
            text(item.agent_id),
            owner,
            now,
            item.task_id,
            text(item.channel),
        ),
    )
    return Fence(run_id=item.run_id, epoch=1), session_id, False


def _check(connection: sqlite3.Connection, fence: Fence) -> tuple[str, str]:
    """Session key and session id of the fenced run; raises FenceLost."""
    found = connection.execute(
        "SELECT session_key, session_id FROM runs WHERE run_id = ? AND epoch = ? AND held = 1",
        (text(fence.run_id), fence.epoch),
    ).fetchone()
    if found is None:
        raise FenceLost(
            f"Run {fence.run_id} is no longer held under epoch {fence.epoch}.",
            hint="Another process has taken the run over and will finish it.",
        )
    return found[0], found[1]


def write_steps(connection: sqlite3.Connection, fence: Fence, steps: Sequence[StepRow]) -> None:
    """Journal.write_steps."""
    _check(connection, fence)
    _put_steps(connection, steps)


def _put_steps(connection: sqlite3.Connection, steps: Sequence[StepRow]) -> None:
    for step in steps:
        connection.execute(
            _STEP,
            (
                text(step.run_id),
                step.k,
                text(step.kind),
                text(step.name),
                step.state.value,
                text(step.call_id),
                text(step.digest),
                step.started_at,
                step.ended_at,
                pack(step.meta),
                pack_optional(step.result),
            ),
        )


def steps_of(connection: sqlite3.Connection, run_id: RunId) -> list[StepRow]:
    """Journal.steps."""
    rows = connection.execute(
        "SELECT run_id, k, kind, name, state, call_id, digest, started_at, ended_at, meta, result"
        " FROM steps WHERE run_id = ? ORDER BY k",
        (text(run_id),),
    )
    return [
        StepRow(
            run_id=RunId(values[0]),
            k=values[1],
            kind=values[2],
            name=values[3],
            state=StepState(values[4]),
            call_id=values[5],
            digest=values[6],
            started_at=values[7],
            ended_at=values[8],
            meta=unpack(values[9]),
            result=unpack_optional(values[10]),
        )
        for values in rows
    ]


def finish(connection: sqlite3.Connection, fence: Fence, plan: FinishPlan) -> None:
    """Journal.finish."""
    key, session_id = _check(connection, fence)
    run_id = text(fence.run_id)
    why = str(plan.error.get("message", "")) if plan.error else ""
    connection.execute(
        "UPDATE inbox SET state = ?, error = ? WHERE run_id = ?", (plan.inbox_state.value, text(why), run_id)
    )
    connection.execute(
        "UPDATE runs SET held = 0, status = ?, ended_at = ?, result = ?, error = ?, meta = ? WHERE run_id = ?",
        (
            plan.status.value,
            plan.at,
            pack_optional(plan.result),
            pack_optional(plan.error),
            pack(plan.meta),
            run_id,
        ),
    )
    _put_steps(connection, plan.steps)
    outbox.add(connection, plan.outbox)
    if plan.task is not None:
        tasks.apply_patch(connection, plan.task)
    # Nothing about an old transcript goes into the entry of a session that was reset meanwhile.
    sessions.merge(connection, key, plan.session_fields, plan.at, session_id=session_id)


def release(
    connection: sqlite3.Connection, fence: Fence, *, now: int, not_before: int, error: str, refund: bool
) -> None:
    """Journal.release."""
    _check(connection, fence)
    run_id = text(fence.run_id)
    connection.execute(
        "UPDATE inbox SET state = 'new', not_before = ?, error = ?, attempt = attempt - ? WHERE run_id = ?",
        (not_before, text(error), int(refund), run_id),
    )
    connection.execute("UPDATE runs SET held = 0 WHERE run_id = ?", (run_id,))
    tasks.requeue(connection, run_id, now)

"""The task ledger (behaviour.md 11.1)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from openclaw_core.sdk import RunStatus, TaskPatch, TaskRow, TaskStatus
from openclaw_store_sqlite.encoding import text
from openclaw_store_sqlite.writer import Writer

RETENTION_MS = 7 * 24 * 3600 * 1000
"""How long an ended task is kept (behaviour.md 11.1)."""

LOST_AFTER_MS = 5 * 60 * 1000
"""How long a task may stand unfinished without a run behind it (behaviour.md 11.1)."""

_COLUMNS = (
    "task_id, runtime, run_id, session_key, agent_id, task, status, created_at, label, owner_key,"
    " requester_session_key, child_session_key, parent_task_id, source_id, scope_kind, delivery_status, notify_policy,"
    " started_at, ended_at, last_event_at, cleanup_after, error, progress_summary, terminal_summary, terminal_outcome"
)
_INSERT = (
    f"INSERT INTO tasks ({_COLUMNS}) VALUES ({', '.join('?' * 25)})"  # noqa: S608  # constant
    " ON CONFLICT (task_id) DO NOTHING"
)
_GET = f"SELECT {_COLUMNS} FROM tasks WHERE task_id = ?"  # noqa: S608  # constant
_FIND = (
    f"SELECT {_COLUMNS} FROM tasks"  # noqa: S608  # constant
    " WHERE run_id = ?1 OR session_key = ?1 OR child_session_key = ?1"
    " ORDER BY run_id = ?1 DESC, created_at DESC, rowid DESC LIMIT 1"
)
_LIST = (
    f"SELECT {_COLUMNS} FROM tasks"  # noqa: S608  # constant
    " WHERE (?1 = '' OR runtime = ?1) AND (?2 = '' OR status = ?2) ORDER BY created_at DESC, rowid DESC LIMIT ?3"
)
_UPDATE = """
UPDATE tasks SET status = ?, last_event_at = ?, started_at = COALESCE(started_at, ?), ended_at = ?, cleanup_after = ?,
  error = COALESCE(?, error), terminal_summary = COALESCE(?, terminal_summary),
  terminal_outcome = COALESCE(?, terminal_outcome), delivery_status = COALESCE(?, delivery_status)
WHERE task_id = ?
"""
_UNFINISHED = """
SELECT t.task_id, MAX(t.created_at, COALESCE(t.started_at, 0), COALESCE(t.last_event_at, 0)),
       i.state, r.status, r.ended_at
FROM tasks t LEFT JOIN runs r ON r.run_id = t.run_id LEFT JOIN inbox i ON i.run_id = t.run_id
WHERE t.status IN ('queued', 'running')
"""
_ENDED_AS = {
    RunStatus.OK: TaskStatus.SUCCEEDED,
    RunStatus.ERROR: TaskStatus.FAILED,
    RunStatus.ABORTED: TaskStatus.CANCELLED,
    RunStatus.TIMEOUT: TaskStatus.TIMED_OUT,
}


def _row(v: Sequence[Any]) -> TaskRow:
    return TaskRow(
        task_id=v[0],
        runtime=v[1],
        run_id=v[2],
        session_key=v[3],
        agent_id=v[4],
        task=v[5],
        status=TaskStatus(v[6]),
        created_at=v[7],
        label=v[8],
        owner_key=v[9],
        requester_session_key=v[10],
        child_session_key=v[11],
        parent_task_id=v[12],
        source_id=v[13],
        scope_kind=v[14],
        delivery_status=v[15],
        notify_policy=v[16],
        started_at=v[17],
        ended_at=v[18],
        last_event_at=v[19],
        cleanup_after=v[20],
        error=v[21],
        progress_summary=v[22],
        terminal_summary=v[23],
        terminal_outcome=v[24],
    )


def put(connection: sqlite3.Connection, row: TaskRow) -> None:
    """Insert a task unless its id is known."""
    connection.execute(
        _INSERT,
        (
            text(row.task_id),
            text(row.runtime),
            text(row.run_id),
            text(row.session_key),
            text(row.agent_id),
            text(row.task),
            row.status.value,
            row.created_at,
            text(row.label),
            text(row.owner_key),
            text(row.requester_session_key),
            text(row.child_session_key),
            text(row.parent_task_id),
            text(row.source_id),
            text(row.scope_kind),
            text(row.delivery_status),
            text(row.notify_policy),
            row.started_at,
            row.ended_at,
            row.last_event_at,
            row.cleanup_after,
            text(row.error),
            text(row.progress_summary),
            text(row.terminal_summary),
            text(row.terminal_outcome),
        ),
    )


def get(connection: sqlite3.Connection, task_id: str) -> TaskRow | None:
    """TaskLedger.get."""
    found = connection.execute(_GET, (text(task_id),)).fetchone()
    return None if found is None else _row(found)


def find(connection: sqlite3.Connection, any_id: str) -> TaskRow | None:
    """TaskLedger.find."""
    found = get(connection, any_id)
    if found is None:
        values = connection.execute(_FIND, (text(any_id),)).fetchone()
        found = None if values is None else _row(values)
    return found


def latest(connection: sqlite3.Connection, runtime: str, status: str, limit: int) -> list[TaskRow]:
    """TaskLedger.list."""
    return [_row(values) for values in connection.execute(_LIST, (text(runtime), text(status), limit))]


def start(connection: sqlite3.Connection, task_id: str, now: int) -> None:
    """The task's run was claimed."""
    connection.execute(
        "UPDATE tasks SET status = 'running', started_at = COALESCE(started_at, ?1), last_event_at = ?1"
        " WHERE task_id = ?2 AND status IN ('queued', 'running')",
        (now, text(task_id)),
    )


def requeue(connection: sqlite3.Connection, run_id: str, now: int) -> None:
    """The task's run was given back unfinished; `run_id` as stored."""
    connection.execute(
        "UPDATE tasks SET status = 'queued', last_event_at = ? WHERE status = 'running'"
        " AND task_id = (SELECT task_id FROM inbox WHERE run_id = ?)",
        (now, run_id),
    )


def apply_patch(connection: sqlite3.Connection, patch: TaskPatch) -> None:
    """Change a task. Of one that has ended, only the delivery status may still change."""
    task_id = text(patch.task_id)
    found = connection.execute(
        "SELECT status, created_at, started_at FROM tasks WHERE task_id = ?", (task_id,)
    ).fetchone()
    if found is None:
        return
    if TaskStatus(found[0]).terminal:
        if patch.delivery_status is not None:
            connection.execute(
                "UPDATE tasks SET delivery_status = ?, last_event_at = ? WHERE task_id = ?",
                (text(patch.delivery_status), patch.at, task_id),
            )
        return
    # The clock may have been set back meanwhile: an end never lies before its start.
    ended = max(patch.at, found[1], found[2] or 0) if patch.status.terminal else None
    connection.execute(
        _UPDATE,
        (
            patch.status.value,
            patch.at,
            patch.at if patch.status is TaskStatus.RUNNING else None,
            ended,
            None if ended is None else ended + RETENTION_MS,
            _optional(patch.error),
            _optional(patch.terminal_summary),
            _optional(patch.terminal_outcome),
            _optional(patch.delivery_status),
            task_id,
        ),
    )


def _optional(value: str | None) -> str | None:
    return None if value is None else text(value)


def sweep(connection: sqlite3.Connection, now: int) -> int:
    """TaskLedger.sweep."""
    changed = connection.execute("DELETE FROM tasks WHERE cleanup_after <= ?", (now,)).rowcount
    for task_id, moved_at, inbox_state, run_status, run_ended in connection.execute(_UNFINISHED).fetchall():
        if inbox_state in ("new", "running") or max(moved_at, run_ended or 0) > now - LOST_AFTER_MS:
            continue
        ended_as = _ENDED_AS.get(RunStatus(run_status)) if run_status is not None else None
        patch = TaskPatch(
            task_id=task_id,
            status=ended_as or TaskStatus.LOST,
            at=now,
            error=None if ended_as is not None else "The run behind this task no longer exists.",
        )
        apply_patch(connection, patch)
        changed += 1
    return changed


class SqliteTaskLedger:
    """See openclaw_core.contracts.store.TaskLedger."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    async def put(self, row: TaskRow) -> None:
        """See TaskLedger."""
        await self._writer.write("task_put", lambda c: put(c, row))

    async def patch(self, patch: TaskPatch) -> TaskRow | None:
        """See TaskLedger."""

        def op(connection: sqlite3.Connection) -> TaskRow | None:
            apply_patch(connection, patch)
            return get(connection, patch.task_id)

        return await self._writer.write("task_patch", op)

    async def get(self, task_id: str) -> TaskRow | None:
        """See TaskLedger."""
        return await self._writer.read(lambda c: get(c, task_id))

    async def find(self, any_id: str) -> TaskRow | None:
        """See TaskLedger."""
        return await self._writer.read(lambda c: find(c, any_id))

    async def list(self, *, runtime: str = "", status: str = "", limit: int = 500) -> list[TaskRow]:
        """See TaskLedger."""
        return await self._writer.read(lambda c: latest(c, runtime, status, limit))

    async def sweep(self, *, now: int) -> int:
        """See TaskLedger."""
        return await self._writer.write("task_sweep", lambda c: sweep(c, now))

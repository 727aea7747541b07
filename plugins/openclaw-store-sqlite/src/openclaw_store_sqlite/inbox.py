"""Inbox rows: acceptance, exactly once, and the end of messages that never ran."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from openclaw_core.sdk import (
    Accepted,
    AgentId,
    BootId,
    CursorUpdate,
    InboxItem,
    InboxRow,
    InboxState,
    OutboxItem,
    OutboxState,
    RunId,
    RunStatus,
    SessionKey,
    TaskId,
    TaskPatch,
    TaskRow,
)
from openclaw_store_sqlite import outbox, tasks
from openclaw_store_sqlite.encoding import dumps, pack_optional, text, unpack
from openclaw_store_sqlite.owners import Owners
from openclaw_store_sqlite.prune import forgotten

_COLUMNS = (
    "channel, account, event_key, session_key, agent_id, run_id, sender, kind, body, received_at, target, thread,"
    " owner, task_id, ord, state, attempt, not_before, error"
)
_INSERT = """
INSERT INTO inbox (channel, account, event_key, session_key, agent_id, run_id, sender, kind, body, received_at,
                   target, thread, owner, task_id, state)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'new') ON CONFLICT DO NOTHING
"""
_BY_EVENT = f"SELECT {_COLUMNS} FROM inbox WHERE channel = ? AND account = ? AND event_key = ?"  # noqa: S608  # constant
_BY_RUN = f"SELECT {_COLUMNS} FROM inbox WHERE run_id = ?"  # noqa: S608  # constant
# One statement, so that it sees one moment while other processes write.
_COUNTS = """
SELECT 'accepted', COALESCE(MAX(ord), 0) FROM inbox
UNION ALL SELECT state, COUNT(*) FROM inbox GROUP BY state
UNION ALL SELECT 'outbox_' || state, COUNT(*) FROM outbox GROUP BY state
"""
OLDEST = (
    f"SELECT {_COLUMNS} FROM inbox"  # noqa: S608  # constant
    " WHERE session_key = ? AND state IN ('new', 'running') ORDER BY ord LIMIT 1"
)
"""The oldest unfinished row of a session."""


def row_of(values: Sequence[Any]) -> InboxRow:
    """The row of selected columns."""
    owner, task = values[12], values[13]
    item = InboxItem(
        channel=values[0],
        account=values[1],
        event_key=values[2],
        session_key=SessionKey(values[3]),
        agent_id=AgentId(values[4]),
        run_id=RunId(values[5]),
        sender=values[6],
        kind=values[7],
        body=unpack(values[8]),
        received_at=values[9],
        target=values[10],
        thread=values[11],
        owner=BootId(owner) if owner is not None else None,
        task_id=TaskId(task) if task is not None else None,
    )
    return InboxRow(
        item=item,
        ord=values[14],
        state=InboxState(values[15]),
        attempt=values[16],
        not_before=values[17],
        error=values[18],
    )


def get(connection: sqlite3.Connection, run_id: str) -> InboxRow | None:
    """The row of a run id."""
    found = connection.execute(_BY_RUN, (text(run_id),)).fetchone()
    return None if found is None else row_of(found)


def accept_one(connection: sqlite3.Connection, item: InboxItem) -> Accepted:
    """Store one message unless its event key or run id is known."""
    done = connection.execute(
        _INSERT,
        (
            text(item.channel),
            text(item.account),
            text(item.event_key),
            text(item.session_key),
            text(item.agent_id),
            text(item.run_id),
            text(item.sender),
            text(item.kind),
            dumps(item.body),
            item.received_at,
            text(item.target),
            text(item.thread),
            item.owner,
            item.task_id,
        ),
    )
    if done.rowcount == 1 and done.lastrowid is not None:
        return Accepted(new=True, row=InboxRow(item=item, ord=done.lastrowid, state=InboxState.NEW))
    found = connection.execute(_BY_EVENT, (text(item.channel), text(item.account), text(item.event_key))).fetchone()
    if found is None:
        found = connection.execute(_BY_RUN, (text(item.run_id),)).fetchone()
    return Accepted(new=False, row=row_of(found))


def accept(
    connection: sqlite3.Connection,
    items: Sequence[InboxItem],
    cursor: CursorUpdate | None,
    new_tasks: Sequence[TaskRow],
) -> list[Accepted]:
    """Journal.accept."""
    out: list[Accepted] = []
    known_tasks: set[str] = set()
    known_runs: set[str] = set()
    for item in items:
        accepted = accept_one(connection, item)
        out.append(accepted)
        if not accepted.new:
            known_tasks.add(item.task_id or "")
            known_runs.add(item.run_id)
    for task in new_tasks:
        if task.task_id not in known_tasks and task.run_id not in known_runs:
            tasks.put(connection, task)
    if cursor is not None:
        connection.execute(
            "INSERT INTO cursors (channel, account, value) VALUES (?, ?, ?)"
            " ON CONFLICT (channel, account) DO UPDATE SET value = excluded.value",
            (text(cursor.channel), text(cursor.account), text(cursor.value)),
        )
    return out


def cursor(connection: sqlite3.Connection, channel: str, account: str) -> str | None:
    """Journal.cursor."""
    found = connection.execute(
        "SELECT value FROM cursors WHERE channel = ? AND account = ?", (text(channel), text(account))
    ).fetchone()
    return None if found is None else str(found[0])


def settle(
    connection: sqlite3.Connection,
    owners: Owners,
    run_id: RunId,
    state: InboxState,
    *,
    status: RunStatus,
    at: int,
    error: Mapping[str, Any] | None,
    notices: Sequence[OutboxItem],
    task: TaskPatch | None,
) -> bool:
    """Journal.settle_unclaimed. A row whose runner died counts as not running."""
    row = get(connection, run_id)
    if row is None or row.state.final:
        return False
    run = connection.execute("SELECT owner, held FROM runs WHERE run_id = ?", (text(run_id),)).fetchone()
    if run is not None and run[1] and owners.alive(run[0]):
        return False
    why = str(error.get("message", "")) if error else ""
    connection.execute("UPDATE inbox SET state = ?, error = ? WHERE ord = ?", (state.value, text(why), row.ord))
    packed = pack_optional(error)
    if run is None:
        connection.execute(
            "INSERT INTO runs (run_id, session_key, session_id, agent_id, epoch, owner, held, status, started_at,"
            " ended_at, task_id, channel, error)"
            " VALUES (?, ?, COALESCE((SELECT session_id FROM sessions WHERE key = ?), ''), ?, 0, ?, 0,"
            " ?, ?, ?, ?, ?, ?)",
            (
                text(run_id),
                text(row.item.session_key),
                text(row.item.session_key),
                text(row.item.agent_id),
                owners.me,
                status.value,
                at,
                at,
                row.item.task_id,
                text(row.item.channel),
                packed,
            ),
        )
    else:
        connection.execute(
            "UPDATE runs SET held = 0, epoch = epoch + 1, status = ?, ended_at = ?, error = ? WHERE run_id = ?",
            (status.value, at, packed, text(run_id)),
        )
    outbox.add(connection, notices)
    if task is not None:
        tasks.apply_patch(connection, task)
    return True


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Journal.counts. Accepted is the highest number given out, so a lost row would show as a difference."""
    out = dict.fromkeys(("accepted", "answered", "told", "dead", "ignored", "pending"), 0)
    out.update((f"outbox_{state.value}", 0) for state in OutboxState)
    for name, number in connection.execute(_COUNTS):
        out["pending" if name in ("new", "running") else name] += number
    out["forgotten"] = forgotten(connection)
    return out

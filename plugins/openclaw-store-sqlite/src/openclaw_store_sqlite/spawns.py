"""Child runs and the announcement of their end, exactly once."""

from __future__ import annotations

import sqlite3

from openclaw_core.sdk import InboxItem, RunId, SpawnRow, TaskRow
from openclaw_store_sqlite import inbox
from openclaw_store_sqlite.encoding import pack, text


def open_spawn(connection: sqlite3.Connection, row: SpawnRow, item: InboxItem, task: TaskRow | None) -> None:
    """Journal.spawn_open; a child that is booked already stays as it is."""
    connection.execute(
        "INSERT INTO spawns (child_run, child_session, parent_session, state, created_at, ended_at, announced, meta)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (child_run) DO NOTHING",
        (
            text(row.child_run),
            text(row.child_session),
            text(row.parent_session),
            text(row.state),
            row.created_at,
            row.ended_at,
            int(row.announced),
            pack(row.meta),
        ),
    )
    inbox.accept(connection, [item], None, [task] if task is not None else [])


def finish_spawn(connection: sqlite3.Connection, child_run: RunId, *, state: str, at: int, announce: InboxItem) -> bool:
    """Journal.spawn_finish; False also for a child that was never booked."""
    done = connection.execute(
        "UPDATE spawns SET state = ?, ended_at = ?, announced = 1 WHERE child_run = ? AND announced = 0",
        (text(state), at, text(child_run)),
    )
    if done.rowcount != 1:
        return False
    inbox.accept_one(connection, announce)
    return True

"""Forgetting what has long been settled, a piece at a time."""

from __future__ import annotations

import sqlite3

AT_ONCE = 500
"""Messages forgotten in one transaction, so that a turn never waits long for it."""

_OLD = (
    "SELECT run_id FROM inbox WHERE ord <= (SELECT coalesce(max(ord), 0) - ? FROM inbox)"
    " AND state NOT IN ('new', 'running') AND received_at < ?"
    " AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.run_id = inbox.run_id AND o.state IN ('pending', 'sending'))"
    " AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.run_id = inbox.run_id) ORDER BY ord LIMIT ?"
)


def prune(connection: sqlite3.Connection, before: int, keep: int) -> int:
    """Journal.prune. The last `keep` messages stay whatever their age, so that `trace` has something to show;
    what a task row still points to stays as long as the task."""
    runs = [(row[0],) for row in connection.execute(_OLD, (keep, before, AT_ONCE))]
    for table in ("steps", "outbox", "runs", "inbox"):
        connection.executemany(f"DELETE FROM {table} WHERE run_id = ?", runs)  # noqa: S608  # names from the line above
    if runs:
        connection.execute(
            "INSERT INTO cursors VALUES ('', 'forgotten', ?) ON CONFLICT DO UPDATE SET value = value + excluded.value",
            (len(runs),),
        )
    return len(runs)


def forgotten(connection: sqlite3.Connection) -> int:
    """How many messages were forgotten since the beginning: part of the reconciliation."""
    found = connection.execute("SELECT value FROM cursors WHERE channel = '' AND account = 'forgotten'").fetchone()
    return int(found[0]) if found is not None else 0

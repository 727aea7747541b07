"""Outbox rows: the parts of replies on their way to a channel."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from openclaw_core.sdk import FenceLost, OutboxItem, OutboxRow, OutboxState, RunId, SessionKey
from openclaw_store_sqlite.encoding import dumps, text, unpack
from openclaw_store_sqlite.owners import Owners

_COLUMNS = (
    "id, idem, channel, account, target, session_key, run_id, part, kind, body, created_at, thread, state, attempt,"
    " not_before, remote_id, error, updated_at, owner"
)
_INSERT = """
INSERT INTO outbox (idem, channel, account, target, session_key, run_id, part, kind, body, created_at, thread,
                    state, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?) ON CONFLICT (idem) DO NOTHING
"""
_HEADS = (
    f"SELECT {_COLUMNS} FROM outbox WHERE id IN"  # noqa: S608  # constant
    " (SELECT MIN(id) FROM outbox WHERE state IN ('pending', 'sending') GROUP BY channel, account, target)"
    " ORDER BY id"
)
_OF_RUN = f"SELECT {_COLUMNS} FROM outbox WHERE run_id = ? ORDER BY part, id"  # noqa: S608  # constant


def row_of(values: Sequence[Any]) -> OutboxRow:
    """The row of selected columns."""
    item = OutboxItem(
        idem=values[1],
        channel=values[2],
        account=values[3],
        target=values[4],
        session_key=SessionKey(values[5]),
        run_id=RunId(values[6]),
        part=values[7],
        kind=values[8],
        body=unpack(values[9]),
        created_at=values[10],
        thread=values[11],
    )
    return OutboxRow(
        id=values[0],
        item=item,
        state=OutboxState(values[12]),
        attempt=values[13],
        not_before=values[14],
        remote_id=values[15],
        error=values[16],
        updated_at=values[17],
    )


def add(connection: sqlite3.Connection, items: Sequence[OutboxItem]) -> None:
    """Queue parts; those whose `idem` is known are left out."""
    for item in items:
        connection.execute(
            _INSERT,
            (
                text(item.idem),
                text(item.channel),
                text(item.account),
                text(item.target),
                text(item.session_key),
                text(item.run_id),
                item.part,
                text(item.kind),
                dumps(item.body),
                item.created_at,
                text(item.thread),
                item.created_at,
            ),
        )


def due(connection: sqlite3.Connection, owners: Owners, now: int, limit: int) -> list[OutboxRow]:
    """Journal.outbox_due: a part that another living owner is sending is its business alone."""
    out: list[OutboxRow] = []
    for values in connection.execute(_HEADS).fetchall():
        if len(out) >= limit:
            break
        if values[12] == OutboxState.PENDING.value:
            if values[14] > now:
                continue
        elif values[18] != owners.me and owners.alive(values[18] or ""):
            continue
        out.append(row_of(values))
    return out


def mark(
    connection: sqlite3.Connection,
    owners: Owners,
    row_id: int,
    state: OutboxState,
    *,
    now: int,
    remote_id: str,
    error: str,
    not_before: int,
    notice: OutboxItem | None,
) -> None:
    """Journal.outbox_mark. Raises FenceLost where `sending` would take a part from another living owner, or
    would send one again that has reached its final state. A final state stays as it is."""
    found = connection.execute("SELECT state, owner FROM outbox WHERE id = ?", (row_id,)).fetchone()
    present = OutboxState(found[0]) if found is not None else None
    sending = state is OutboxState.SENDING
    is_open = present in (OutboxState.PENDING, OutboxState.SENDING)
    foreign = present is OutboxState.SENDING and found[1] != owners.me and owners.alive(found[1] or "")
    if foreign or (sending and not is_open):
        raise FenceLost(
            f"Outbox part {row_id} is not this process's to send.", hint="Another process has taken care of it."
        )
    if not is_open:
        return
    connection.execute(
        "UPDATE outbox SET state = ?, attempt = attempt + ?, not_before = ?, error = ?, updated_at = ?, owner = ?,"
        " remote_id = CASE WHEN ? = '' THEN remote_id ELSE ? END WHERE id = ?",
        (
            state.value,
            int(sending),
            not_before,
            text(error),
            now,
            owners.me if sending else None,
            text(remote_id),
            text(remote_id),
            row_id,
        ),
    )
    if notice is not None:
        add(connection, [notice])


def of_run(connection: sqlite3.Connection, run_id: RunId) -> list[OutboxRow]:
    """Journal.outbox_of."""
    return [row_of(values) for values in connection.execute(_OF_RUN, (text(run_id),))]

"""The audit index (behaviour.md 11.3)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from openclaw_core.sdk import AuditEvent, AuditQuery, InvalidRequest
from openclaw_store_sqlite.encoding import text
from openclaw_store_sqlite.writer import Writer

# All of behaviour.md 11.3.
_KEEP_MS = 30 * 24 * 3600 * 1000
_KEEP_ROWS = 100_000
_PRUNE_AT_ONCE = 1024
_LIMIT = 500

_COLUMNS = (
    "event_id, occurred_at, kind, action, status, actor_type, actor_id, agent_id, session_key, session_id, run_id,"
    " tool_call_id, tool_name, error_code, duration_ms, source_sequence"
)
_INSERT = f"INSERT INTO audit ({_COLUMNS}) VALUES ({', '.join('?' * 16)})"  # noqa: S608  # constant
_QUERY = (
    f"SELECT sequence, {_COLUMNS} FROM audit"  # noqa: S608  # constant
    " WHERE sequence < ?1 AND (?2 = '' OR agent_id = ?2) AND (?3 = '' OR session_key = ?3)"
    " AND (?4 = '' OR run_id = ?4) AND (?5 = '' OR kind = ?5) AND (?6 = '' OR status = ?6)"
    " AND (?7 IS NULL OR occurred_at >= ?7) AND (?8 IS NULL OR occurred_at <= ?8)"
    " ORDER BY sequence DESC LIMIT ?9"
)
_PRUNE = """
DELETE FROM audit WHERE sequence IN (SELECT sequence FROM audit ORDER BY sequence LIMIT ?1)
  AND (occurred_at < ?2 OR sequence <= (SELECT MAX(sequence) FROM audit) - ?3)
"""
_NEWEST = 2**63 - 1


def _event(v: Sequence[Any]) -> AuditEvent:
    return AuditEvent(
        sequence=v[0],
        event_id=v[1],
        occurred_at=v[2],
        kind=v[3],
        action=v[4],
        status=v[5],
        actor_type=v[6],
        actor_id=v[7],
        agent_id=v[8],
        session_key=v[9],
        session_id=v[10],
        run_id=v[11],
        tool_call_id=v[12],
        tool_name=v[13],
        error_code=v[14],
        duration_ms=v[15],
        source_sequence=v[16],
    )


def append(connection: sqlite3.Connection, events: Sequence[AuditEvent]) -> None:
    """AuditIndex.append."""
    connection.executemany(
        _INSERT,
        [
            (
                text(e.event_id),
                e.occurred_at,
                text(e.kind),
                text(e.action),
                text(e.status),
                text(e.actor_type),
                text(e.actor_id),
                text(e.agent_id),
                text(e.session_key),
                text(e.session_id),
                text(e.run_id),
                text(e.tool_call_id),
                text(e.tool_name),
                text(e.error_code),
                e.duration_ms,
                e.source_sequence,
            )
            for e in events
        ],
    )


def select(connection: sqlite3.Connection, wanted: AuditQuery) -> tuple[list[AuditEvent], str | None]:
    """AuditIndex.query. Both time bounds are inclusive. Raises InvalidRequest for a cursor that is not ours."""
    below = _NEWEST
    if wanted.cursor:
        number = wanted.cursor.removeprefix("s")
        if number == wanted.cursor or not (number.isascii() and number.isdigit()) or len(number) > 18:
            raise InvalidRequest("The cursor is not valid.", hint="Use the nextCursor of the page before, or none.")
        below = int(number)
    limit = min(max(wanted.limit, 1), _LIMIT)
    rows = connection.execute(
        _QUERY,
        (
            below,
            text(wanted.agent_id),
            text(wanted.session_key),
            text(wanted.run_id),
            text(wanted.kind),
            text(wanted.status),
            wanted.after,
            wanted.before,
            limit + 1,
        ),
    ).fetchall()
    events = [_event(values) for values in rows[:limit]]
    return events, (f"s{events[-1].sequence}" if len(rows) > limit else None)


def prune(connection: sqlite3.Connection, now: int) -> int:
    """AuditIndex.prune. Looks at the oldest 1024 rows alone, so its cost does not grow with the table."""
    return connection.execute(_PRUNE, (_PRUNE_AT_ONCE, now - _KEEP_MS, _KEEP_ROWS)).rowcount


class SqliteAuditIndex:
    """See openclaw_core.contracts.store.AuditIndex."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    async def append(self, events: Sequence[AuditEvent]) -> None:
        """See AuditIndex."""
        await self._writer.write("audit", lambda c: append(c, events))

    async def query(self, query: AuditQuery) -> tuple[list[AuditEvent], str | None]:
        """See AuditIndex."""
        return await self._writer.read(lambda c: select(c, query))

    async def prune(self, *, now: int) -> int:
        """See AuditIndex."""
        return await self._writer.write("audit_prune", lambda c: prune(c, now))

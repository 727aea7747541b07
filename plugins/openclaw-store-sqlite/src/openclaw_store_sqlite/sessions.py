"""The session index: which transcript a session key points to now."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from openclaw_core.sdk import AgentId, SessionEntry, SessionId, SessionKey
from openclaw_store_sqlite.encoding import dumps, text, unpack
from openclaw_store_sqlite.writer import Writer

_COLUMNS = "key, agent_id, session_id, updated_at, session_started_at, fields"
_GET = f"SELECT {_COLUMNS} FROM sessions WHERE key = ?"  # noqa: S608  # constant
_LIST = f"SELECT {_COLUMNS} FROM sessions ORDER BY updated_at DESC, key LIMIT ?"  # noqa: S608  # constant
_LIST_OF = (
    f"SELECT {_COLUMNS} FROM sessions WHERE agent_id = ?"  # noqa: S608  # constant
    " ORDER BY updated_at DESC, key LIMIT ?"
)
_INSERT = (
    "INSERT INTO sessions (key, agent_id, session_id, updated_at, session_started_at, fields)"
    " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING"
)

# What describes one transcript and ends with it; everything else is a preference of the conversation.
_PER_TRANSCRIPT = frozenset(
    {
        "status",
        "startedAt",
        "endedAt",
        "runtimeMs",
        "abortedLastRun",
        "sessionFile",
        "systemSent",
        "inputTokens",
        "outputTokens",
        "totalTokens",
        "totalTokensFresh",
        "cacheRead",
        "cacheWrite",
        "estimatedCostUsd",
        "contextTokens",
        "contextBudgetStatus",
        "compactionCount",
        "memoryFlushAt",
        "memoryFlushCompactionCount",
        "skillsSnapshot",
        "systemPromptReport",
    }
)


def _entry(values: Sequence[Any]) -> SessionEntry:
    return SessionEntry(
        key=SessionKey(values[0]),
        agent_id=AgentId(values[1]),
        session_id=SessionId(values[2]),
        updated_at=values[3],
        session_started_at=values[4],
        fields=unpack(values[5]),
    )


def get(connection: sqlite3.Connection, key: SessionKey) -> SessionEntry | None:
    """SessionIndex.get."""
    found = connection.execute(_GET, (text(key),)).fetchone()
    return None if found is None else _entry(found)


def put(connection: sqlite3.Connection, entry: SessionEntry) -> bool:
    """Insert an entry unless the key has one."""
    done = connection.execute(
        _INSERT,
        (
            text(entry.key),
            text(entry.agent_id),
            text(entry.session_id),
            entry.updated_at,
            entry.session_started_at,
            dumps(entry.fields),
        ),
    )
    return done.rowcount == 1


def ensure(
    connection: sqlite3.Connection, key: SessionKey, agent_id: AgentId, *, new_session_id: SessionId, now: int
) -> SessionId:
    """The transcript a key points to; the entry is made when there is none. Its wide fields are not read."""
    found = connection.execute("SELECT session_id FROM sessions WHERE key = ?", (text(key),)).fetchone()
    if found is not None:
        return SessionId(found[0])
    put(
        connection,
        SessionEntry(key=key, agent_id=agent_id, session_id=new_session_id, updated_at=now, session_started_at=now),
    )
    return new_session_id


def model_override(connection: sqlite3.Connection, key: SessionKey) -> str:
    """The entry's ``modelOverride``, read by SQLite alone: the wide fields are not decoded for it."""
    found = connection.execute(
        "SELECT json_extract(fields, '$.modelOverride') FROM sessions WHERE key = ?", (text(key),)
    ).fetchone()
    return found[0] if found is not None and isinstance(found[0], str) else ""


def merge(
    connection: sqlite3.Connection, key: str, fields: Mapping[str, Any], now: int, *, session_id: str | None = None
) -> None:
    """SessionIndex.update; with `session_id` only if the entry still points to that transcript."""
    found = connection.execute("SELECT session_id, fields FROM sessions WHERE key = ?", (text(key),)).fetchone()
    if found is None or (session_id is not None and found[0] != session_id):
        return
    if fields:
        connection.execute(
            "UPDATE sessions SET updated_at = ?, fields = ? WHERE key = ?",
            (now, dumps({**unpack(found[1]), **fields}), text(key)),
        )
    else:
        connection.execute("UPDATE sessions SET updated_at = ? WHERE key = ?", (now, text(key)))


def reset(
    connection: sqlite3.Connection, key: SessionKey, *, new_session_id: SessionId, now: int
) -> SessionEntry | None:
    """SessionIndex.reset; None, and nothing is made, for a key without entry."""
    old = get(connection, key)
    if old is None:
        return None
    kept = {name: value for name, value in old.fields.items() if name not in _PER_TRANSCRIPT}
    connection.execute(
        "UPDATE sessions SET session_id = ?, updated_at = ?, session_started_at = ?, fields = ? WHERE key = ?",
        (text(new_session_id), now, now, dumps(kept), text(key)),
    )
    return old


def latest(connection: sqlite3.Connection, agent_id: AgentId | None, limit: int) -> list[SessionEntry]:
    """SessionIndex.list."""
    if agent_id is None:
        return [_entry(values) for values in connection.execute(_LIST, (limit,))]
    return [_entry(values) for values in connection.execute(_LIST_OF, (text(agent_id), limit))]


class SqliteSessionIndex:
    """See openclaw_core.contracts.store.SessionIndex."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    async def get(self, key: SessionKey) -> SessionEntry | None:
        """See SessionIndex."""
        return await self._writer.read(lambda c: get(c, key))

    async def ensure(self, key: SessionKey, agent_id: AgentId, *, new_session_id: SessionId, now: int) -> SessionEntry:
        """See SessionIndex."""
        found = await self.get(key)
        if found is not None:
            return found

        def op(connection: sqlite3.Connection) -> SessionEntry | None:
            ensure(connection, key, agent_id, new_session_id=new_session_id, now=now)
            return get(connection, key)

        made = await self._writer.write("session_ensure", op)
        assert made is not None
        return made

    async def update(self, key: SessionKey, fields: Mapping[str, Any], *, now: int) -> None:
        """See SessionIndex; a key without entry is left alone."""
        await self._writer.write("session_update", lambda c: merge(c, key, fields, now))

    async def reset(self, key: SessionKey, *, new_session_id: SessionId, now: int) -> SessionEntry | None:
        """See SessionIndex."""
        return await self._writer.write(
            "session_reset", lambda c: reset(c, key, new_session_id=new_session_id, now=now)
        )

    async def list(self, *, agent_id: AgentId | None = None, limit: int = 100) -> list[SessionEntry]:
        """See SessionIndex."""
        return await self._writer.read(lambda c: latest(c, agent_id, limit))

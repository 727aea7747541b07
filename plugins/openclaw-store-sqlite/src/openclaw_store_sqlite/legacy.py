"""Sessions of the original, read once from its ``sessions.json`` files, which stay as they are."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from openclaw_core.sdk import AgentId, SessionEntry, SessionId, SessionKey, get_logger
from openclaw_store_sqlite import sessions
from openclaw_store_sqlite.places import SAFE

_log = get_logger("store")
_COLUMNS = frozenset({"sessionId", "updatedAt", "sessionStartedAt"})
_MAX_BYTES = 256 * 1024 * 1024


def import_sessions(connection: sqlite3.Connection, agents: Path) -> int:
    """Fill an empty session table from ``<agents>/*/sessions/sessions.json``; returns the number of entries."""
    if connection.execute("SELECT 1 FROM sessions LIMIT 1").fetchone() is not None:
        return 0
    files = sorted(agents.glob("*/sessions/sessions.json")) if agents.is_dir() else []
    if not files:
        return 0
    count = 0
    connection.execute("BEGIN IMMEDIATE")
    try:
        for file in files:
            count += sum(sessions.put(connection, entry) for entry in _entries(file))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    if count:
        _log.info("sessions of an earlier installation taken over", count=count)
    return count


def _entries(file: Path) -> Iterator[SessionEntry]:
    agent = file.parent.parent.name
    try:
        if not SAFE.fullmatch(agent) or file.stat().st_size > _MAX_BYTES:
            return
        data = json.loads(file.read_text(encoding="utf-8", errors="surrogatepass"))
    except (OSError, ValueError, RecursionError) as error:
        _log.warning("a session index cannot be read and was passed over", file=str(file), error=str(error))
        return
    if not isinstance(data, dict):
        _log.warning("a session index cannot be read and was passed over", file=str(file), error="not an object")
        return
    for key, raw in data.items():
        entry = _entry(key, raw, agent)
        if entry is not None:
            yield entry


def _entry(key: str, raw: Any, agent: str) -> SessionEntry | None:
    if not key or not isinstance(raw, Mapping):
        return None
    session_id = raw.get("sessionId")
    if not isinstance(session_id, str) or not SAFE.fullmatch(session_id):
        return None
    updated = _time(raw.get("updatedAt"))
    return SessionEntry(
        key=SessionKey(key),
        agent_id=AgentId(agent),
        session_id=SessionId(session_id),
        updated_at=updated,
        session_started_at=_time(raw.get("sessionStartedAt")) or updated,
        fields={name: value for name, value in raw.items() if name not in _COLUMNS},
    )


def _time(value: Any) -> int:
    """Epoch milliseconds, 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        return 0
    return int(value)

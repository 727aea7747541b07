"""The store: everything durable of one state directory."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from openclaw_core.sdk import (
    AuditIndex,
    BootId,
    Clock,
    Journal,
    SessionIndex,
    Store,
    StoreEnv,
    StoreError,
    SystemClock,
    TaskLedger,
    Transcripts,
    get_logger,
)
from openclaw_store_sqlite.audit import SqliteAuditIndex
from openclaw_store_sqlite.database import open_database
from openclaw_store_sqlite.journal import SqliteJournal
from openclaw_store_sqlite.legacy import import_sessions
from openclaw_store_sqlite.owners import Owners
from openclaw_store_sqlite.places import Places
from openclaw_store_sqlite.sessions import SqliteSessionIndex
from openclaw_store_sqlite.tail import TailCache
from openclaw_store_sqlite.tasks import SqliteTaskLedger
from openclaw_store_sqlite.transcripts import JsonlTranscripts
from openclaw_store_sqlite.writer import Writer, checkpoint

if TYPE_CHECKING:
    from openclaw_store_sqlite.config import SqliteStoreConfig

_log = get_logger("store")
_KINDS = ("gateway", "local", "reader")


class SqliteStore:
    """See openclaw_core.contracts.store.Store. May be started once."""

    def __init__(
        self,
        state_dir: str,
        *,
        busy_timeout_ms: int = 5000,
        cached_sessions: int = 256,
        cached_bytes: int = 16 * 1024 * 1024,
        clock: Clock | None = None,
    ) -> None:
        self._places = Places(state_dir)
        self._busy_timeout_ms = busy_timeout_ms
        self._writer = Writer()
        self._owners = Owners(self._places.locks)
        cache = TailCache(sessions=cached_sessions, size=cached_bytes)
        self._transcripts = JsonlTranscripts(self._writer, self._places, cache, clock or SystemClock())
        self.journal: Journal = SqliteJournal(self._writer, self._owners)
        self.transcripts: Transcripts = self._transcripts
        self.sessions: SessionIndex = SqliteSessionIndex(self._writer)
        self.tasks: TaskLedger = SqliteTaskLedger(self._writer)
        self.audit: AuditIndex = SqliteAuditIndex(self._writer)

    async def start(self, boot_id: BootId, *, kind: str) -> None:
        """See Store."""
        if kind not in _KINDS:
            raise StoreError(f"'{kind}' is not a kind of store user.", hint=f"Use one of {', '.join(_KINDS)}.")
        await self._writer.start(lambda: self._connect(boot_id, owner=kind != "reader"), self._owners.leave)

    def _connect(self, boot_id: BootId, *, owner: bool) -> sqlite3.Connection:
        self._places.create()
        dead = self._owners.dead() if owner else []
        connection = open_database(
            self._places.database, self._places.opening, busy_timeout_ms=self._busy_timeout_ms, unclean=bool(dead)
        )
        try:
            import_sessions(connection, self._places.agents)
            if owner:
                self._owners.register(boot_id)
            if dead:
                _log.info("the last stop was not clean; the database was checked", processes=len(dead))
                self._owners.remove(dead)
        except BaseException:
            self._owners.leave()
            connection.close()
            raise
        return connection

    async def aclose(self) -> None:
        """See Store; may be called twice."""
        try:
            await self._writer.aclose(checkpoint)
        finally:
            self._owners.leave()

    def abandon(self) -> None:
        """Let go of everything without flushing, as a killed process would; for crash tests."""
        self._writer.abandon()
        self._transcripts.abandon()
        self._owners.abandon()


def create(env: StoreEnv) -> Store:
    """The factory named in the plugin's spec; `env.config` is a SqliteStoreConfig or None."""
    config: SqliteStoreConfig | None = env.config
    if config is None:
        return SqliteStore(env.state_dir)
    return SqliteStore(
        env.state_dir,
        busy_timeout_ms=config.busy_timeout_ms,
        cached_sessions=config.cached_sessions,
        cached_bytes=config.cached_bytes,
    )

"""The database file: creation, migration, settings."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from openclaw_core.sdk import StoreError
from openclaw_store_sqlite.version import APPLICATION_ID, check, judge

_JOURNAL_LIMIT = 64 * 1024 * 1024  # bytes the write-ahead log keeps after a checkpoint
_AUTOCHECKPOINT = 1000  # pages, reliability.md 6.2
_OPEN_WAIT_S = 30.0  # another process that creates or migrates the file
_POLL_S = 0.02


def migrations() -> list[str]:
    """The SQL scripts of the package in order: number n brings version n - 1 to version n."""
    folder = resources.files("openclaw_store_sqlite") / "migrations"
    scripts = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda e: e.name)
    return [entry.read_text(encoding="utf-8") for entry in scripts]


def open_database(
    path: Path, lock: Path, *, busy_timeout_ms: int, unclean: bool, scripts: Sequence[str] | None = None
) -> sqlite3.Connection:
    """Open, create or migrate the file and return the connection of this thread.

    `lock` keeps two processes from creating or migrating at once. `unclean` asks for a check of the
    file. Raises StoreVersionError before anything is touched, StoreError when the check fails.
    """
    steps = migrations() if scripts is None else scripts
    with _opening(lock):
        check(path, len(steps))
        _private(path)
        connection = sqlite3.connect(path, timeout=busy_timeout_ms / 1000, isolation_level=None, cached_statements=256)
        try:
            _settings(connection)
            _migrate(connection, path, steps)
            if connection.execute("PRAGMA journal_mode=WAL").fetchone()[0] != "wal":
                raise StoreError(
                    f"{path} cannot be used with a write-ahead log.",
                    hint="Keep the state directory on a local disk, not on a network file system.",
                )
            if unclean:
                _verify(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def _private(path: Path) -> None:
    """Let only the owner read the file, new or old; SQLite gives its side files the same mode."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        os.fchmod(fd, 0o600)
    finally:
        os.close(fd)


def _settings(connection: sqlite3.Connection) -> None:
    for pragma in (
        "synchronous=FULL",
        "foreign_keys=ON",
        "fullfsync=ON",  # macOS only; elsewhere without effect
        "temp_store=MEMORY",
        f"wal_autocheckpoint={_AUTOCHECKPOINT}",
        f"journal_size_limit={_JOURNAL_LIMIT}",
    ):
        connection.execute(f"PRAGMA {pragma}").fetchone()


def _migrate(connection: sqlite3.Connection, path: Path, scripts: Sequence[str]) -> None:
    """Bring the file to the newest version, one transaction for each step.

    A new file is written before it is switched to the write-ahead log, so that its marks are in its
    first page from the start.
    """
    version = _number(connection, "user_version")
    if version or _number(connection, "schema_version"):
        judge(path, version, _number(connection, "application_id"), len(scripts))
    for number, script in enumerate(scripts[version:], start=version + 1):
        try:
            connection.executescript(
                f"BEGIN IMMEDIATE;\n{script}\n"
                f"PRAGMA application_id={APPLICATION_ID};\nPRAGMA user_version={number};\nCOMMIT;"
            )
        except sqlite3.Error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _verify(connection: sqlite3.Connection, path: Path) -> None:
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise StoreError(
            f"{path} is damaged: {found}",
            hint="Restore the database file from a backup, or move it away to start a new one; transcripts stay.",
            code="store_corrupt",
        )


@contextmanager
def _opening(lock: Path) -> Iterator[None]:
    fd = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        pause = threading.Event()
        waited = 0.0
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if waited >= _OPEN_WAIT_S:
                    raise StoreError(
                        "Another process is opening the state for too long.",
                        hint="See which other openclaw process uses this state directory, and stop it.",
                        code="store_locked",
                    ) from None
                pause.wait(_POLL_S)
                waited += _POLL_S
        yield
    finally:
        os.close(fd)

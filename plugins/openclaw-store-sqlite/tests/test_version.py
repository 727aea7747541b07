"""Databases of other versions and other programs are refused untouched; the version before is brought forward."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from openclaw_store_sqlite.database import migrations, open_database
from openclaw_store_sqlite.store import SqliteStore
from openclaw_store_sqlite.version import APPLICATION_ID, check

from openclaw_core.sdk import BootId, StoreError, StoreVersionError
from openclaw_core.testing.contracts.store import StoreHouse
from openclaw_core.testing.contracts.store_backend import message

ID = f"PRAGMA application_id={APPLICATION_ID};"


def database(path: Path, script: str) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()


def unfolded(path: Path, script: str) -> None:
    """A database whose newest header lies in its write-ahead log, as after a kill."""
    work = path.with_name("work")
    connection = sqlite3.connect(work)
    connection.executescript(f"{ID} PRAGMA user_version=1; CREATE TABLE t (x); PRAGMA journal_mode=WAL;")
    connection.executescript(script)
    shutil.copy(work, path)
    shutil.copy(f"{work}-wal", f"{path}-wal")
    connection.close()
    work.unlink()


FOREIGN: dict[str, Callable[[Path], None]] = {
    "newer": lambda path: database(path, f"{ID} PRAGMA user_version=99; CREATE TABLE t (x);"),
    "other program": lambda path: database(path, "PRAGMA application_id=7; PRAGMA user_version=1; CREATE TABLE t (x);"),
    "no program": lambda path: database(path, "CREATE TABLE t (x);"),
    "newer in the log": lambda path: unfolded(path, "PRAGMA user_version=99; INSERT INTO t VALUES (1);"),
    "garbage": lambda path: path.write_bytes(b"not a database at all" * 100) and None,
    "one byte": lambda path: path.write_bytes(b"S") and None,
    "newer in WAL mode": lambda path: database(
        path, f"{ID} PRAGMA journal_mode=WAL; PRAGMA user_version=99; CREATE TABLE t (x);"
    ),
}


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("user", ["gateway", "reader"])
async def test_unknown_state_is_not_touched(state: Path, kind: str, user: str) -> None:
    folder = state / "state"
    folder.mkdir(parents=True)
    file = folder / "openclaw-py.sqlite"
    FOREIGN[kind](file)
    before = {entry.name: (entry.read_bytes(), entry.stat().st_mtime_ns) for entry in folder.iterdir()}
    store = SqliteStore(str(state))
    with pytest.raises(StoreVersionError) as caught:
        await store.start(BootId("b"), kind=user)
    assert caught.value.hint
    after = {entry.name: (entry.read_bytes(), entry.stat().st_mtime_ns) for entry in folder.iterdir()}
    assert after == before
    assert not list((state / "locks").glob("boot-*"))
    await store.aclose()


def test_too_old_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    database(file, f"{ID} PRAGMA user_version=1; CREATE TABLE t (x);")
    check(file, 1)
    check(file, 2)
    with pytest.raises(StoreVersionError, match="too old"):
        check(file, 3)


def test_the_version_before_is_brought_forward(tmp_path: Path) -> None:
    file, lock = tmp_path / "x.sqlite", tmp_path / "lock"
    scripts = ["CREATE TABLE t (x); INSERT INTO t VALUES (41);", "ALTER TABLE t ADD COLUMN y; UPDATE t SET y = x + 1;"]

    def opened(count: int, extra: str = "") -> sqlite3.Connection:
        wanted = [*scripts[: count - 1], scripts[count - 1] + extra]
        return open_database(file, lock, busy_timeout_ms=100, unclean=True, scripts=wanted)

    opened(1).close()
    with pytest.raises(sqlite3.Error):
        opened(2, "INSERT INTO nowhere VALUES (1);")
    again = opened(1)  # the failed step left nothing behind
    assert again.execute("SELECT * FROM t").fetchall() == [(41,)]
    again.close()
    forward = opened(2)
    assert forward.execute("SELECT * FROM t").fetchall() == [(41, 42)]
    assert forward.execute("PRAGMA user_version").fetchone() == (2,)
    assert forward.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with pytest.raises(StoreVersionError, match="newer"):
        check(file, 1)  # the header tells, while the database is still open
    forward.close()


async def test_settings(house: StoreHouse, state: Path) -> None:
    store = await house.open()
    assert isinstance(store, SqliteStore)

    def pragmas(connection: sqlite3.Connection) -> list[object]:
        names = ("application_id", "user_version", "journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    assert await store._writer.read(pragmas) == [APPLICATION_ID, len(migrations()), "wal", 2, 1, 5000]
    await store.journal.accept([message(1)])
    with (state / "state" / "openclaw-py.sqlite").open("rb") as file:
        assert file.read(100)[68:72] == APPLICATION_ID.to_bytes(4, "big")


async def test_damage_is_named_after_an_unclean_stop(house: StoreHouse, state: Path) -> None:
    store = await house.open()
    await store.journal.accept([message(n, body={"text": "x" * 3000}) for n in range(50)])
    await house.close(store)
    file = state / "state" / "openclaw-py.sqlite"
    with file.open("r+b") as raw:
        raw.seek(4096)
        raw.write(os.urandom(8192))
    (state / "locks" / "boot-dead.lock").touch()
    for _ in range(2):  # found again as long as it is there
        broken = SqliteStore(str(state))
        with pytest.raises(StoreError) as caught:
            await broken.start(BootId("b"), kind="gateway")
        assert caught.value.code == "store_corrupt"
        await broken.aclose()

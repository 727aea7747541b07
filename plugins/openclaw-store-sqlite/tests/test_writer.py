"""The writer thread: group commit, failures of one among many, and its end."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from openclaw_store_sqlite.writer import Writer

from openclaw_core.sdk import StoreError, StoreFull


class Bench:
    """A writer over one table, with a log of the statements that begin and end transactions."""

    def __init__(self, path: Path) -> None:
        self.writer = Writer()
        self.statements: list[str] = []
        self.gate = threading.Event()
        self.undone = 0
        self._path = path

    def connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, timeout=0.1)
        connection.execute("CREATE TABLE IF NOT EXISTS t (x INTEGER UNIQUE)")
        connection.set_trace_callback(self.statements.append)
        return connection

    def undo(self) -> None:
        self.undone += 1

    async def held_up(self) -> asyncio.Future[object]:
        """Keep the thread busy until the gate opens, so that what follows waits together."""
        started = asyncio.Event()
        loop = asyncio.get_running_loop()

        def block() -> None:
            loop.call_soon_threadsafe(started.set)
            self.gate.wait(30)

        blocked = asyncio.ensure_future(self.writer.file(block))
        await started.wait()
        return blocked

    async def rows(self) -> list[int]:
        return [x for (x,) in await self.writer.read(lambda c: c.execute("SELECT x FROM t ORDER BY x").fetchall())]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path / "x.sqlite")
    await bench.writer.start(bench.connect, bench.undo)
    yield bench
    await bench.writer.aclose(lambda _c: None)


def insert(value: int, then: Exception | None = None):  # a small closure
    def op(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO t VALUES (?)", (value,))
        if then is not None:
            raise then
        return value

    return op


async def test_what_waits_together_is_committed_together(bench: Bench) -> None:
    blocked = await bench.held_up()
    jobs = [asyncio.ensure_future(bench.writer.write("x", insert(n))) for n in range(200)]
    await asyncio.sleep(0)
    bench.gate.set()
    assert await asyncio.gather(*jobs) == list(range(200))
    await blocked
    assert bench.statements.count("COMMIT") == 1
    assert await bench.rows() == list(range(200))


async def test_one_that_fails_is_rolled_back_alone(bench: Bench) -> None:
    blocked = await bench.held_up()
    jobs = [
        asyncio.ensure_future(bench.writer.write("x", op))
        for op in (insert(1), insert(2, KeyError("mine")), insert(1), insert(3))
    ]
    await asyncio.sleep(0)
    bench.gate.set()
    one, two, double, three = await asyncio.gather(*jobs, return_exceptions=True)
    await blocked
    assert (one, three) == (1, 3)
    assert isinstance(two, KeyError)
    assert isinstance(double, StoreError)
    assert bench.statements.count("COMMIT") == 1
    assert await bench.rows() == [1, 3]


async def test_one_that_fails_alone_leaves_nothing(bench: Bench) -> None:
    with pytest.raises(ZeroDivisionError):
        await bench.writer.write("x", insert(1, ZeroDivisionError()))
    with pytest.raises(StoreFull):
        await bench.writer.write("x", insert(1, OSError(28, "no space")))
    assert await bench.rows() == []


async def test_a_lost_transaction_is_done_one_by_one(bench: Bench) -> None:
    """SQLite may end a transaction by itself, as on a full disk: the innocent ones are carried out all the same."""

    def fatal(connection: sqlite3.Connection) -> None:
        connection.execute("ROLLBACK")
        raise sqlite3.OperationalError("gone")

    blocked = await bench.held_up()
    jobs = [asyncio.ensure_future(bench.writer.write("x", op)) for op in (insert(1), fatal, insert(2))]
    await asyncio.sleep(0)
    bench.gate.set()
    one, gone, two = await asyncio.gather(*jobs, return_exceptions=True)
    await blocked
    assert (one, two) == (1, 2)
    assert isinstance(gone, StoreError)
    assert await bench.rows() == [1, 2]


async def test_a_database_locked_by_others_is_named(bench: Bench, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "x.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError) as caught:
        await bench.writer.write("x", insert(1))
    assert caught.value.code == "store_locked"
    assert caught.value.hint
    other.execute("ROLLBACK")
    other.close()
    assert await bench.writer.write("x", insert(1)) == 1


async def test_a_cancelled_caller_does_not_stop_the_others(bench: Bench) -> None:
    blocked = await bench.held_up()
    jobs = [asyncio.ensure_future(bench.writer.write("x", insert(n))) for n in range(3)]
    await asyncio.sleep(0)
    jobs[1].cancel()
    bench.gate.set()
    assert await jobs[2] == 2
    await blocked
    assert jobs[1].cancelled()
    assert await bench.rows() == [0, 1, 2]


async def test_more_callers_than_places_all_get_their_turn(bench: Bench) -> None:
    blocked = await bench.held_up()
    jobs = [asyncio.ensure_future(bench.writer.write("x", insert(n))) for n in range(6000)]
    await asyncio.sleep(0)
    assert bench.writer._queue.qsize() < 4096
    bench.gate.set()
    await asyncio.gather(*jobs)
    await blocked
    assert len(await bench.rows()) == 6000
    assert bench.statements.count("COMMIT") < 100


async def test_the_end(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "x.sqlite")
    with pytest.raises(StoreError):
        await bench.writer.read(lambda c: c.execute("SELECT 1"))
    await bench.writer.start(bench.connect, bench.undo)
    last = asyncio.ensure_future(bench.writer.write("x", insert(7)))
    await asyncio.sleep(0)
    seen: list[int] = []
    await bench.writer.aclose(lambda c: seen.extend(x for (x,) in c.execute("SELECT x FROM t")))
    assert (await last, seen) == (7, [7])
    await bench.writer.aclose(lambda c: None)
    with pytest.raises(StoreError) as caught:
        await bench.writer.write("x", insert(8))
    assert caught.value.code == "store_closed"
    ran: list[int] = []
    assert bench.writer.post(lambda: ran.append(1)) is None
    assert ran == [1]
    assert bench.undone == 0


async def test_a_failed_start(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "missing" / "x.sqlite")
    with pytest.raises(StoreError):
        await bench.writer.start(bench.connect, bench.undo)
    with pytest.raises(StoreError):
        await bench.writer.read(lambda c: None)

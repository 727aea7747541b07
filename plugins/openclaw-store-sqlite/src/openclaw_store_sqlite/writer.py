"""The one thread that touches the disk: group commit for the database, flushes for transcripts."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from openclaw_core.sdk import StoreError, get_logger
from openclaw_store_sqlite.failure import translate
from openclaw_store_sqlite.faults import FAULTS, after, before

_log = get_logger("store")
T = TypeVar("T")

_WRITE, _READ, _FILE, _STOP = range(4)
_QUEUE = 4096  # jobs that may wait; callers beyond it wait for their turn
_BATCH = 512  # jobs in one commit
_IDLE_S = 2.0  # quiet time before the write-ahead log is folded back


class _Job:
    __slots__ = ("error", "fn", "future", "kind", "name", "result", "second", "slot")

    def __init__(
        self, kind: int, name: str, fn: Callable[..., Any], future: asyncio.Future[Any] | None, *, slot: bool = True
    ) -> None:
        self.kind = kind
        self.name = name
        self.fn = fn
        self.future = future
        self.slot = slot
        self.result: Any = None
        self.error: BaseException | None = None
        self.second: Callable[[], Any] | None = None


class Writer:
    """Runs database operations and file operations of many coroutines on one thread.

    Writes that wait together share one ``BEGIN IMMEDIATE ... COMMIT``, each in its own savepoint; their
    callers go on after the commit. An operation may be run twice (alone, when the shared commit failed),
    so it must change nothing but the database. A caller that is cancelled stops waiting; its operation is
    still carried out, in order.
    """

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._slots = asyncio.Semaphore(_QUEUE)
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._open = False

    async def start(self, connect: Callable[[], sqlite3.Connection], undo: Callable[[], None]) -> None:
        """Start the thread and open the connection in it; raises what `connect` raises. `undo` is run there
        when the caller was cancelled and the connection opened all the same."""
        self._loop = asyncio.get_running_loop()
        opened: asyncio.Future[None] = self._loop.create_future()
        self._thread = threading.Thread(target=self._main, args=(connect, opened), name="store-writer", daemon=True)
        self._thread.start()
        self._open = True
        try:
            await opened
        except BaseException:
            self._stop(undo)
            raise

    async def write(self, name: str, fn: Callable[[sqlite3.Connection], T]) -> T:
        """Run `fn` in a transaction; returns after the commit has reached the disk."""
        result: T = await self._submit(_WRITE, name, fn)
        return result

    async def read(self, fn: Callable[[sqlite3.Connection], T]) -> T:
        """Run `fn` outside of a transaction."""
        result: T = await self._submit(_READ, "read", fn)
        return result

    async def file(self, fn: Callable[[], T]) -> T:
        """Run a file operation."""
        result: T = await self._submit(_FILE, "file", fn)
        return result

    async def file_synced(self, fn: Callable[[], Callable[[], T]]) -> T:
        """Run a file operation in two halves: `fn` writes, what it returns flushes. The first halves of all
        that wait together come before the flushes, which then cost little more than one."""
        result: T = await self._submit(_FILE, "synced", fn)
        return result

    def post(self, fn: Callable[[], object]) -> asyncio.Future[Any] | None:
        """Queue a file operation at once, even when the caller is being cancelled; the future may be awaited
        or left. On a closed store it is run on the spot."""
        if not self._open or self._loop is None:
            fn()
            return None
        future: asyncio.Future[Any] = self._loop.create_future()
        self._queue.put(_Job(_FILE, "file", fn, future, slot=False))
        return future

    async def aclose(self, last: Callable[[sqlite3.Connection], None]) -> None:
        """Finish what is queued, run `last`, close the connection and end the thread."""
        if not self._open or self._loop is None:
            return
        self._open = False
        done: asyncio.Future[Any] = self._loop.create_future()
        self._queue.put(_Job(_STOP, "stop", last, done, slot=False))
        await done
        if self._thread is not None:
            self._thread.join()

    def abandon(self) -> None:
        """Take no more work; the thread ends after what is queued, and nobody waits for it."""
        self._stop(_nothing)

    def _stop(self, last: Callable[[], None]) -> None:
        self._open = False
        self._queue.put(_Job(_STOP, "stop", lambda _connection: last(), None, slot=False))

    async def _submit(self, kind: int, name: str, fn: Callable[..., Any]) -> Any:
        await self._slots.acquire()
        if not self._open or self._loop is None:
            self._slots.release()
            raise StoreError("The store is closed.", hint="The process is ending; start it again.", code="store_closed")
        future: asyncio.Future[Any] = self._loop.create_future()
        self._queue.put(_Job(kind, name, fn, future))
        return await future

    # ---- on the loop ------------------------------------------------------------------------

    def _settle(self, jobs: Sequence[_Job]) -> None:
        for job in jobs:
            if job.slot:
                self._slots.release()
            future = job.future
            if future is None or future.done():
                continue
            if job.error is None:
                future.set_result(job.result)
            else:
                future.set_exception(job.error)

    # ---- on the thread ----------------------------------------------------------------------

    def _deliver(self, jobs: Sequence[_Job]) -> None:
        if not jobs or self._loop is None:
            return
        try:
            self._loop.call_soon_threadsafe(self._settle, jobs)
        except RuntimeError:  # the loop is closed: nobody waits any more, the work itself is done
            _log.debug("finished after the end of the loop", jobs=len(jobs))

    def _main(self, connect: Callable[[], sqlite3.Connection], opened: asyncio.Future[None]) -> None:
        first = _Job(_READ, "open", connect, opened, slot=False)
        try:
            connection = connect()
        except Exception as error:  # noqa: BLE001  # handed to the caller of `start`
            first.error = translate(error)
            self._deliver([first])
            return
        self._deliver([first])
        dirty = False
        while True:
            try:
                job = self._queue.get(timeout=_IDLE_S) if dirty else self._queue.get()
            except queue.Empty:
                dirty = False
                checkpoint(connection)
                continue
            jobs = [job]
            while job.kind != _STOP and len(jobs) < _BATCH:
                try:
                    job = self._queue.get_nowait()
                except queue.Empty:
                    break
                jobs.append(job)
            dirty = self._run(connection, jobs) or dirty
            if job.kind == _STOP:
                self._end(connection, job)
                return

    def _run(self, connection: sqlite3.Connection, jobs: list[_Job]) -> bool:
        writes = [job for job in jobs if job.kind == _WRITE]
        if writes:
            if len(writes) == 1:
                _commit_alone(connection, writes[0])
            else:
                _commit_group(connection, writes)
            for job in writes:
                if job.error is not None:
                    job.error = translate(job.error)
            if len(writes) == len(jobs):
                self._deliver(jobs)
                return True
            self._deliver(writes)
        others = [job for job in jobs if job.kind in (_READ, _FILE)]
        for job in others:
            try:
                if job.kind == _READ:
                    job.result = job.fn(connection)
                elif job.name == "synced":
                    job.second = job.fn()
                else:
                    job.result = job.fn()
            except Exception as error:  # noqa: BLE001  # each caller gets its own
                job.error = translate(error)
        for job in others:
            if job.second is not None:
                try:
                    job.result = job.second()
                except Exception as error:  # noqa: BLE001  # each caller gets its own
                    job.error = translate(error)
        self._deliver(others)
        return bool(writes)

    def _end(self, connection: sqlite3.Connection, job: _Job) -> None:
        try:
            job.fn(connection)
        except Exception as error:  # noqa: BLE001  # handed to the caller of `aclose`
            job.error = translate(error)
        try:
            connection.close()
        except sqlite3.Error as error:
            job.error = job.error or translate(error)
        self._deliver([job])


def _nothing() -> None:
    return None


def checkpoint(connection: sqlite3.Connection) -> None:
    """Fold the write-ahead log back as far as no reader needs it; never waits, and may fail on a full disk."""
    try:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    except sqlite3.Error as error:  # nothing is lost, the log only stays longer
        _log.warning("checkpoint failed", error=str(error))


def _rollback(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:  # SQLite ends the transaction by itself after some errors
        try:
            connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            _log.error("rollback failed", error=str(error))


def _commit_alone(connection: sqlite3.Connection, job: _Job) -> None:
    job.error = None
    try:
        connection.execute("BEGIN IMMEDIATE")
        job.result = job.fn(connection)
        if FAULTS:
            before(f"store.{job.name}.before_commit")
        connection.execute("COMMIT")
    except Exception as error:  # noqa: BLE001  # handed to the caller
        job.error = error
        _rollback(connection)
        return
    if FAULTS:
        after(f"store.{job.name}.after_commit")


def _commit_group(connection: sqlite3.Connection, jobs: Sequence[_Job]) -> None:
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        for job in jobs:
            job.error = error
        return
    whole = all(_in_savepoint(connection, job) for job in jobs)
    if whole:
        try:
            connection.execute("COMMIT")
        except sqlite3.Error:
            whole = False
    if not whole:  # disk full or worse: the shared transaction is gone, so each gets its own verdict
        _rollback(connection)
        for job in jobs:
            _commit_alone(connection, job)
        return
    if FAULTS:
        for job in jobs:
            if job.error is None:
                after(f"store.{job.name}.after_commit")


def _in_savepoint(connection: sqlite3.Connection, job: _Job) -> bool:
    """Run one operation; False when the transaction around it was lost."""
    try:
        connection.execute("SAVEPOINT op")
        job.result = job.fn(connection)
        if FAULTS:
            before(f"store.{job.name}.before_commit")
        connection.execute("RELEASE op")
    except Exception as error:  # noqa: BLE001  # handed to the caller
        job.error = error
        if not connection.in_transaction:
            return False
        try:
            connection.execute("ROLLBACK TO op")
            connection.execute("RELEASE op")
        except sqlite3.Error:
            return False
    return True

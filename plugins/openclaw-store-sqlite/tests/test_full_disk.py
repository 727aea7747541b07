"""A disk that is really full: clear errors, nothing acknowledged is lost, work goes on when there is space."""

from __future__ import annotations

import ctypes
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from openclaw_store_sqlite.store import SqliteStore

from openclaw_core.sdk import AgentId, BootId, RunId, SessionId, StoreFull
from openclaw_core.testing.contracts.store_backend import message, reconcile

SIZE = 2 * 1024 * 1024


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A memory file system of 2 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    target = os.fsencode(folder)
    if libc.mount(b"tmpfs", target, b"tmpfs", 0, b"size=%d" % SIZE) != 0:
        pytest.skip(f"mounting a small tmpfs is not permitted here: {os.strerror(ctypes.get_errno())}")
    try:
        yield folder
    finally:
        libc.umount2(target, 2)


async def test_a_full_disk(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(SIZE // 2))
    state = small_disk / "state"
    store = SqliteStore(str(state))
    await store.start(BootId("a"), kind="gateway")
    known: list[str] = []
    written: list[str] = []
    opened = store.transcripts.open(AgentId("main"), SessionId("one"), owner="t", cwd="/", timeout_s=1)
    async with opened as transcript:

        async def fill(first: int) -> None:
            full = set()
            for number in range(first, first + 2000):
                try:
                    await store.journal.accept([message(number, body={"text": "x" * 700})])
                    known.append(f"r{number}")
                except StoreFull as error:
                    assert error.hint
                    full.add("journal")
                try:
                    await transcript.append([{"type": "message", "id": f"l{number}", "text": "x" * 700}])
                    written.append(f"l{number}")
                except StoreFull:
                    full.add("transcript")
                if len(full) == 2:
                    return
            raise AssertionError("the disk never became full")

        await fill(0)
        before = len(known), len(written)
        assert min(before) > 0
        assert (await reconcile(store))["accepted"] == len(known)
        ballast.unlink()
        await fill(5000)
        assert len(known) > before[0]
        assert len(written) > before[1]
    await store.aclose()
    lines = (state / "agents" / "main" / "sessions" / "one.jsonl").read_bytes()
    assert lines.endswith(b"\n")
    database = sqlite3.connect(state / "state" / "openclaw-py.sqlite")
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert [run for (run,) in database.execute("SELECT run_id FROM inbox ORDER BY ord")] == known
    database.close()
    again = SqliteStore(str(state))
    await again.start(BootId("b"), kind="reader")
    found = [line async for line in again.transcripts.read(AgentId("main"), SessionId("one"))]
    assert [line["id"] for line in found[1:]] == written
    assert await again.journal.inbox_row(RunId(known[-1])) is not None
    await again.aclose()

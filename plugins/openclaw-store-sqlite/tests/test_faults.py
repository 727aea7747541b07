"""The store killed, and the disk full, at every fault point of a turn."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from openclaw_store_sqlite.store import SqliteStore

from openclaw_core.sdk import AuditQuery, BootId, InboxState, RunId, TaskStatus
from openclaw_core.testing.contracts.store_backend import AGENT, MAIN, reconcile

FILE = Path(__file__).with_name("turn_program.py")
NEEDED = {
    *(f"store.{op}.{side}_commit" for side in ("before", "after") for op in (
        "accept", "claim", "steps", "finish", "outbox_mark", "spawn_open", "spawn_finish", "audit", "session_update"
    )),
    *(f"store.transcript.{point}" for point in ("before_write", "half", "before_sync", "after_sync")),
}  # fmt: skip


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("turn_program", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PROGRAM = load()


def turn(state: Path, boot: str, **faults: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **faults}
    if faults:
        env["OPENCLAW_TEST_FAULTS"] = "1"
    command = [sys.executable, str(FILE), str(state), boot]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The names of all passages of one undisturbed turn."""
    folder = tmp_path_factory.mktemp("points")
    log = folder / "log"
    done = turn(folder / "state", "b", OPENCLAW_FAULT_LOG=str(log))
    assert done.returncode == 0, done.stderr
    return [line.split(" ", 1)[1] for line in log.read_text().splitlines()]


async def judge(state: Path, *, unknown: int = 0) -> None:
    """Everything is there, once."""
    store = SqliteStore(str(state))
    await store.start(BootId("judge"), kind="gateway")
    counts = await reconcile(store)
    assert (counts["accepted"], counts["answered"], counts["pending"]) == (3, 1, 2)
    row, ended = await store.journal.inbox_row(RunId("r1")), await store.tasks.get("t1")
    assert row is not None
    assert ended is not None
    assert (row.state, ended.status) == (InboxState.ANSWERED, TaskStatus.SUCCEEDED)
    assert (counts["outbox_sent"], counts["outbox_unknown"]) == (2, unknown)  # a notice for each that is unknown
    assert counts["outbox_pending"] == counts["outbox_sending"] == 0
    entry = await store.sessions.get(MAIN)
    assert entry is not None
    assert entry.fields == {"status": "done", "label": "x"}
    lines = [line async for line in store.transcripts.read(AGENT, entry.session_id)]
    assert [(line.get("id"), line.get("parentId")) for line in lines[1:]] == [("u", None), ("a", "u"), ("t", "a")]
    assert lines[0]["type"] == "session"
    events, _ = await store.audit.query(AuditQuery())
    assert 1 <= len(events) <= 2  # the second attempt writes its own
    await store.aclose()
    assert not list((state / "locks").glob("boot-*"))


def test_every_write_has_its_points(points: list[str]) -> None:
    assert set(points) >= NEEDED


@pytest.mark.slow
def test_killed_at_every_point(tmp_path: Path, points: list[str]) -> None:
    for number, name in enumerate(points, start=1):
        state = tmp_path / str(number)
        killed = turn(state, "first", OPENCLAW_CRASH_AT=str(number))
        assert killed.returncode == -9, (name, killed.stderr)
        asyncio.run(recover(state))
        sending = name == "store.outbox_mark.after_commit" and points[:number].count(name) % 2 == 1
        sending = sending or (name == "store.outbox_mark.before_commit" and points[:number].count(name) % 2 == 0)
        asyncio.run(judge(state, unknown=int(sending)))


async def recover(state: Path) -> None:
    store = SqliteStore(str(state))
    await store.start(BootId("second"), kind="gateway")
    await PROGRAM.run(store, "second")
    await store.aclose()


@pytest.mark.slow
def test_full_at_every_point(tmp_path: Path, points: list[str]) -> None:
    """The write that did not fit says so and leaves nothing; done again, it is done once."""
    for number, name in enumerate(points, start=1):
        state = tmp_path / str(number)
        done = turn(state, "first", OPENCLAW_ENOSPC_AT=str(number))
        assert done.returncode == 0, (name, done.stderr)
        after = name.endswith((".after_commit", ".after_sync"))
        assert done.stdout == ("" if after else "full: disk_full\n"), name
        asyncio.run(judge(state))

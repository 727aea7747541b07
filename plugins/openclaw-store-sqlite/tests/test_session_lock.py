"""The session lock: what a dead process left behind never holds anybody up, a living holder does."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from openclaw_store_sqlite.session_lock import SessionLock

from openclaw_core.sdk import AgentId, SessionBusy, SessionId
from openclaw_core.testing.contracts.store import StoreHouse

HOLD = """
import sys
from pathlib import Path
from openclaw_store_sqlite.session_lock import SessionLock
lock = SessionLock(Path(sys.argv[1]))
assert lock.acquire("other") is None
transcript = Path(sys.argv[1]).with_suffix("")
for number in range(3):
    with transcript.open("ab") as file:
        file.write(b'{"type":"message","id":"other%d","parentId":null}\\n' % number)
    print(number, flush=True)
    sys.stdin.readline()
if sys.argv[2] == "release":
    lock.release()
"""


@pytest.fixture
def sleeper() -> Iterator[int]:
    """The number of a living process that has nothing to do with us."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process.pid
    process.communicate(b"\n")


def left_over(kind: str, sleeper: int) -> bytes:
    told: dict[str, object] = {"createdAt": "2026-01-01T00:00:00.000Z", "starttime": 1}
    match kind:
        case "recycled":
            return json.dumps({"pid": sleeper, **told}).encode()
        case "own":
            return json.dumps({"pid": os.getpid(), **told}).encode()
        case "dead":
            return json.dumps({"pid": 4_194_303, **told}).encode()
        case "text":
            return json.dumps({"pid": str(sleeper), **told}).encode()
        case "deep":
            return b"[" * 4000
        case _:
            return b"\x00\xffgarbage"


@pytest.mark.parametrize("kind", ["recycled", "own", "dead", "garbage", "text", "deep"])
async def test_a_stale_lock_is_no_lock(
    house: StoreHouse, sessions: Path, sleeper: int, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = await house.open()
    sessions.mkdir(parents=True)
    lock = sessions / "one.jsonl.lock"
    lock.write_bytes(left_over(kind, sleeper))
    logging.getLogger("openclaw").propagate = True
    with caplog.at_level(logging.INFO, logger="openclaw.store"):
        async with store.transcripts.open(AgentId("main"), SessionId("one"), owner="t", cwd="/", timeout_s=0) as t:
            assert json.loads(lock.read_bytes())["pid"] == os.getpid()
            await t.append([{"type": "message", "id": "a", "parentId": None}])
    told = {id(record) for record in caplog.records if record.message == "stale session lock removed"}
    assert len(told) == 1  # one record, through however many handlers earlier tests left behind
    assert not lock.exists()


@pytest.mark.parametrize("end", ["release", "die"])
async def test_a_living_holder_is_waited_for(house: StoreHouse, sessions: Path, end: str) -> None:
    """No line of ours comes between its lines; then it is our turn, at once."""
    store = await house.open()
    main, one = AgentId("main"), SessionId("one")
    async with store.transcripts.open(main, one, owner="t", cwd="/", timeout_s=0):
        pass
    lock = sessions / "one.jsonl.lock"
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLD, str(lock), end, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdin is not None
    assert other.stdout is not None
    assert await other.stdout.readline() == b"0\n"
    with pytest.raises(SessionBusy) as caught:
        async with store.transcripts.open(main, one, owner="t", cwd="/", timeout_s=0.05):
            raise AssertionError("two holders")
    assert str(other.pid) in caught.value.message
    assert str(lock) in caught.value.message
    assert caught.value.details["pid"] == other.pid

    async def turn() -> None:
        async with store.transcripts.open(main, one, owner="t", cwd="/", timeout_s=30) as transcript:
            await transcript.append([{"type": "message", "id": "ours", "parentId": None}])

    waiting = asyncio.ensure_future(turn())
    for number in (1, 2):
        other.stdin.write(b"\n")
        assert await other.stdout.readline() == b"%d\n" % number
        assert not waiting.done()
    other.stdin.write(b"\n")
    await asyncio.wait_for(waiting, 20)
    assert await other.wait() == 0
    seen = [json.loads(text) for text in (sessions / "one.jsonl").read_bytes().splitlines()[1:]]
    assert [entry["id"] for entry in seen] == ["other0", "other1", "other2", "ours"]
    assert seen[-1]["parentId"] == "other2"


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    """Many that take and give back: whoever locked a file that was removed meanwhile does not hold the lock."""
    path = tmp_path / "x.lock"
    inside: list[int] = []
    worst: list[int] = []

    def work(number: int) -> None:
        lock = SessionLock(path)
        taken = 0
        while taken < 300:
            if lock.acquire(f"worker {number}") is None:
                inside.append(number)
                worst.append(len(inside))
                inside.remove(number)
                lock.release()
                taken += 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert len(worst) == 1200
    assert max(worst) == 1


armed: list[Callable[[], None]] = []


def on_event(event: str, _args: tuple[object, ...]) -> None:
    if event == "fcntl.flock" and armed:
        armed.pop()()


sys.addaudithook(on_event)


def test_a_file_removed_at_the_last_moment_is_not_the_lock(tmp_path: Path) -> None:
    """Between opening the file and locking it, its holder gives it back and a third takes a new one."""
    path = tmp_path / "x.lock"
    first, second, third = SessionLock(path), SessionLock(path), SessionLock(path)
    assert first.acquire("first") is None

    def overtake() -> None:
        first.release()
        assert third.acquire("third") is None

    armed.append(overtake)
    holder = second.acquire("second")
    assert not armed
    assert holder is not None
    assert holder.owner == "third"
    third.release()
    assert second.acquire("second") is None
    second.release()


def test_giving_back_and_taking(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    first, second = SessionLock(path), SessionLock(path)
    for _ in range(20):
        assert first.acquire("a") is None
        busy = second.acquire("b")
        assert busy is not None
        assert (busy.pid, busy.owner) == (os.getpid(), "a")
        first.release()
        assert second.acquire("b") is None
        second.release()
    assert not path.exists()

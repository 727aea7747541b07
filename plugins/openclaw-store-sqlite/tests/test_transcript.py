"""Transcripts on disk: other programs, the cache, the lock of a cancelled caller, short writes."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from openclaw_store_sqlite.lines import encode
from openclaw_store_sqlite.store import SqliteStore
from openclaw_store_sqlite.tail import Tail, TailCache

from openclaw_core.sdk import AgentId, SessionCorrupt, SessionId, StoreError, Transcript
from openclaw_core.testing.contracts.store import StoreHouse

MAIN = AgentId("main")
ONE = SessionId("one")


def line(ident: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "id": ident, "parentId": None, **more}


def write(store: Any, session: SessionId = ONE) -> AbstractAsyncContextManager[Transcript]:
    return store.transcripts.open(MAIN, session, owner="test", cwd="/work", timeout_s=5)


def ids(lines: list[Mapping[str, Any]]) -> list[Any]:
    return [entry.get("id") for entry in lines]


def chain(file: Path) -> list[tuple[Any, Any]]:
    return [(entry["id"], entry["parentId"]) for entry in map(json.loads, file.read_bytes().split(b"\n")[1:-1])]


async def test_lines_of_other_programs_are_ours(house: StoreHouse, sessions: Path) -> None:
    store = await house.open()
    file = sessions / "one.jsonl"
    async with write(store) as transcript:
        await transcript.append([line("a")])
    with file.open("ab") as other:
        other.write('{"type": "message", "id": "x", "parentId": "a", "message": {"content": "é\u2028"}}\n'.encode())
        other.write(b'{"type":"custom","id":"y","parentId":"x"}')  # without its newline
    async with write(store) as transcript:
        assert ids(await transcript.tail(min_entries=9)) == ["a", "x", "y"]
        await transcript.append([line("x"), line("b")])
        with file.open("ab") as other:  # even while the lock is held
            other.write(encode(line("z", parentId="b")))
        await transcript.append([line("c")])
        assert ids(await transcript.tail(min_entries=9)) == ["a", "x", "y", "b", "z", "c"]
        with file.open("ab") as other:
            other.write(b'{"id":"half')
        await transcript.append([line("d")])
    assert chain(file) == [("a", None), ("x", "a"), ("y", "x"), ("b", "y"), ("z", "b"), ("c", "z"), ("d", "c")]
    assert b'{"id":"half' in (sessions / "one.jsonl.quarantine").read_bytes()


async def test_a_replaced_or_shortened_file_is_read_anew(house: StoreHouse, sessions: Path) -> None:
    store = await house.open()
    file = sessions / "one.jsonl"
    async with write(store) as transcript:
        await transcript.append([line("a"), line("b")])
    whole = file.read_bytes()
    new = file.with_name("new")
    new.write_bytes(whole + encode(line("c", parentId="b")) + encode(line("d", parentId="c")))
    new.replace(file)
    async with write(store) as transcript:
        assert ids(await transcript.tail(min_entries=9)) == ["a", "b", "c", "d"]
    os.truncate(file, len(whole))
    async with write(store) as transcript:
        assert ids(await transcript.tail(min_entries=9)) == ["a", "b"]
        await transcript.append([line("c")])
    assert chain(file)[-1] == ("c", "b")


async def test_files_are_private(house: StoreHouse, state: Path, sessions: Path) -> None:
    store = await house.open()
    async with write(store) as transcript:
        await transcript.append([line("a")])
        lock = json.loads((sessions / "one.jsonl.lock").read_text())
        assert lock["pid"] == os.getpid()
        assert set(lock) == {"pid", "createdAt", "starttime", "owner"}
        for file in (
            sessions / "one.jsonl",
            sessions / "one.jsonl.lock",
            *state.glob("state/*"),
            *state.glob("locks/*"),
        ):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert not (sessions / "one.jsonl.lock").exists()
    for folder in (sessions, state / "state", state / "locks"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder


async def test_what_is_not_a_file_is_refused(house: StoreHouse, sessions: Path) -> None:
    store = await house.open()
    sessions.mkdir(parents=True)
    os.mkfifo(sessions / "one.jsonl")
    (sessions / "two.jsonl").symlink_to("/etc/hostname")
    with pytest.raises(SessionCorrupt):
        await write(store).__aenter__()
    with pytest.raises(StoreError):
        await write(store, SessionId("two")).__aenter__()
    assert not list(sessions.glob("*.lock"))


async def test_a_cancelled_caller_keeps_nothing(house: StoreHouse) -> None:
    """Cancelled at any of its waits, the lock is free afterwards and the file whole."""
    store = await house.open()

    async def turn(number: int) -> None:
        async with write(store) as transcript:
            await transcript.append([line(f"{number}-a")])
            await transcript.append([line(f"{number}-b")])

    for steps in range(12):
        task = asyncio.ensure_future(turn(steps))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        async with store.transcripts.open(MAIN, ONE, owner="t", cwd="/", timeout_s=0) as transcript:
            seen = ids(await transcript.tail(min_entries=999))
            assert len(seen) == len(set(seen))


async def test_appends_that_were_not_awaited_are_kept_in_order(house: StoreHouse, sessions: Path) -> None:
    store = await house.open()
    async with write(store) as transcript:
        await asyncio.gather(*(transcript.append([line(f"n{i}")]) for i in range(50)))
        assert ids(await transcript.tail(min_entries=99)) == [f"n{i}" for i in range(50)]
    assert [ident for ident, _ in chain(sessions / "one.jsonl")] == [f"n{i}" for i in range(50)]


async def test_a_closed_transcript_takes_nothing(house: StoreHouse) -> None:
    store = await house.open()
    async with write(store) as transcript:
        pass
    with pytest.raises(SessionCorrupt):
        await transcript.append([line("a")])


async def test_an_interrupted_run_is_found_far_back(house: StoreHouse, sessions: Path) -> None:
    """A replay in a new process finds its first line behind a megabyte of its own results."""
    store = await house.open()
    async with write(store) as transcript:
        await transcript.append([line("first")])
        for number in range(200):
            await transcript.append([line(f"big{number}", text="x" * 10_000)])
    house.crash(store)
    store = await house.open("boot-b")
    async with write(store) as transcript:
        await transcript.append([line("first")])
        await transcript.append([line("big0"), line("last", text='"id":"first2"')])
        await transcript.append([line("first2")])
    found = [ident for ident, _ in chain(sessions / "one.jsonl")]
    assert found == ["first", *(f"big{i}" for i in range(200)), "last", "first2"]


def test_reading_back_costs_what_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    file.write_bytes(
        encode({"type": "session"}) + b"".join(encode(line(f"n{i}", text="x" * 200)) for i in range(20_000))
    )
    size = file.stat().st_size
    fd = os.open(file, os.O_RDONLY)
    broken: list[object] = []
    try:
        tail = Tail(device=0, inode=0, end=size)
        tail.back(fd, 50, None, broken.append)
        assert ids(tail.view(50, None)) == [f"n{i}" for i in range(19_950, 20_000)]
        assert tail.end - tail.start < 128 * 1024
        tail.back(fd, 50, "n15000", broken.append)
        assert ids(tail.view(50, "n15000"))[0] == "n15000"
        assert tail.start > size // 3
        tail.back(fd, 50, "nowhere", broken.append)
        assert tail.start == 0
        assert ids(tail.view(10**6, None)) == [f"n{i}" for i in range(20_000)]
    finally:
        os.close(fd)
    assert broken == []


def test_the_cache_is_bounded(tmp_path: Path) -> None:
    def tail(lines: int) -> Tail:
        made = Tail(device=0, inode=0, end=0)
        for number in range(lines):
            made.add(number * 100, {"id": f"n{number}"})
        made.end = lines * 100
        return made

    cache = TailCache(sessions=3, size=200_000)
    long = tail(5000)
    long.cold = False
    cache.put(tmp_path / "long", long)
    assert len(long.entries) == len(long.offsets) == len(long.ids) == 512
    assert long.start == 4488 * 100
    assert long.leaf == "n4999"
    for name in "abc":
        cache.put(tmp_path / name, tail(10))
    assert cache.take(tmp_path / "long") is None  # the fourth
    assert cache.take(tmp_path / "a") is not None
    asked = tail(3000)
    asked.view(2500, None)
    cache.put(tmp_path / "wide", asked)
    assert cache.take(tmp_path / "wide") is None  # more bytes than all may have
    assert cache.take(tmp_path / "b") is None


SHORT = """
import asyncio, json, resource, sys
from openclaw_core.sdk import AgentId, BootId, SessionId, StoreFull
from openclaw_store_sqlite.store import SqliteStore

async def main():
    store = SqliteStore(sys.argv[1])
    await store.start(BootId("short"), kind="gateway")
    async with store.transcripts.open(AgentId("main"), SessionId("one"), owner="t", cwd="/", timeout_s=1) as transcript:
        await transcript.append([{"id": "a"}])
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))  # bytes a file may have
        try:
            await transcript.append([{"id": "b", "text": "x" * 1000}])
        except StoreFull as error:
            print(error.code)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        await transcript.append([{"id": "c"}])
    await store.aclose()

asyncio.run(main())
"""


def test_a_short_write_is_cut_back(state: Path, sessions: Path) -> None:
    """The kernel takes the first bytes of a line and no more: the same as on a full disk."""
    done = subprocess.run([sys.executable, "-c", SHORT, str(state)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "disk_full\n"), done.stderr
    assert chain(sessions / "one.jsonl") == [("a", None), ("c", "a")]


async def test_archives_of_one_moment_do_not_replace_each_other(house: StoreHouse, sessions: Path) -> None:
    store = await house.open()
    assert isinstance(store, SqliteStore)
    for ident in "ab":
        async with write(store) as transcript:
            await transcript.append([line(ident)])
        await store.transcripts.archive(MAIN, ONE, reason="reset", at=1_700_000_000_123)
    names = sorted(file.name for file in sessions.iterdir())
    assert names == [
        "one.jsonl.reset.2023-11-14T22-13-20.123Z",
        "one.jsonl.reset.2023-11-14T22-13-20.123Z-1",
    ]

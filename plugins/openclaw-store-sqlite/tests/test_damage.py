"""Damaged transcripts: every complete line is recovered, broken bytes are set aside, nothing is deleted."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from openclaw_store_sqlite.lines import encode
from openclaw_store_sqlite.store import SqliteStore

from openclaw_core.sdk import AgentId, BootId, SessionId

HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/"}
TEXTS = ["plain", "a\u2028b\u2029c", "nul\x00 cr\r nel\x85", "lone \ud83d", "\U0001f980 é", '"}\\n{"']
ENTRIES: list[dict[str, Any]] = [
    {"type": "message", "id": f"l{i}", "parentId": f"l{i - 1}" if i else None, "message": {"content": text}}
    for i, text in enumerate(TEXTS)
]
PIECES = [encode(HEADER), *(encode(entry) for entry in ENTRIES)]
WHOLE = b"".join(PIECES)
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # thousands of flushes are not what is tested here


async def recover(store: SqliteStore, root: Path, name: str, damaged: bytes) -> tuple[list[Any], bytes, bytes]:
    """Open, read and extend a damaged file: its lines, its bytes after that, the bytes set aside."""
    folder = root / "agents" / "main" / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.jsonl"
    file.write_bytes(damaged)
    session = SessionId(name)
    async with store.transcripts.open(AgentId("main"), session, owner="t", cwd="/", timeout_s=1) as transcript:
        lines = list(await transcript.tail(min_entries=1000))
        await transcript.append([{"type": "message", "id": "next", "parentId": None}])
        assert (await transcript.tail(min_entries=1000))[:-1] == lines
    parents = [entry.get("id") for entry in lines if isinstance(entry.get("id"), str)]
    read = [entry async for entry in store.transcripts.read(AgentId("main"), session)]
    assert [entry for entry in read if entry.get("type") != "session"][:-1] == lines
    assert read[-1] == {"type": "message", "id": "next", "parentId": parents[-1] if parents else None}
    aside = folder / f"{name}.jsonl.quarantine"
    return lines, file.read_bytes(), aside.read_bytes() if aside.exists() else b""


def with_store(work: Callable[[SqliteStore, Path], Any]) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            store = SqliteStore(folder)
            await store.start(BootId("b"), kind="gateway")
            try:
                await work(store, Path(folder))
            finally:
                await store.aclose()

    asyncio.run(run())


def complete(size: int) -> int:
    """How many whole objects the first `size` bytes hold, the header included."""
    end, count = 0, 0
    for piece in PIECES:
        end += len(piece)
        if end - 1 > size:
            break
        count += 1
    return count


def test_cut_at_every_byte() -> None:
    async def work(store: SqliteStore, root: Path) -> None:
        for size in range(len(WHOLE) + 1):
            lines, after, aside = await recover(store, root, f"cut{size}", WHOLE[:size])
            count = complete(size)
            assert lines == ENTRIES[: max(0, count - 1)], size
            kept = b"".join(PIECES[:count])
            assert after.startswith(kept), size
            assert WHOLE[len(kept) : size] in aside, size
            assert all(isinstance(json.loads(line), dict) for line in after.splitlines() if line), size

    with_store(work)


def test_zero_filled_tail() -> None:
    async def work(store: SqliteStore, root: Path) -> None:
        for size in range(0, len(WHOLE) + 1, 7):
            for zeros in (1, 4096, 70_000):
                lines, after, aside = await recover(store, root, f"z{size}-{zeros}", WHOLE[:size] + bytes(zeros))
                assert lines == ENTRIES[: max(0, complete(size) - 1)]
                assert b"\0" not in after
                assert bytes(zeros) in aside

    with_store(work)


@settings(deadline=None, max_examples=40)
@given(flips=st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 7)), min_size=12, max_size=12))
def test_flipped_bits_cost_their_own_line(flips: list[tuple[int, int]]) -> None:
    async def work(store: SqliteStore, root: Path) -> None:
        for number, (position, bit) in enumerate(flips):
            damaged = bytearray(WHOLE)
            damaged[position] ^= 1 << bit
            lines, after, aside = await recover(store, root, f"f{number}", bytes(damaged))
            begin = 0
            hit: set[int] = set()  # of PIECES, the header being number 0
            for index, piece in enumerate(PIECES):
                if begin <= position < begin + len(piece):
                    hit.add(index)
                    if position == begin + len(piece) - 1:
                        hit.add(index + 1)  # its newline is gone: two lines have become one
                begin += len(piece)
            untouched = [entry for index, entry in enumerate(ENTRIES, start=1) if index not in hit]
            assert [entry for entry in lines if entry in untouched] == untouched
            for index in hit & set(range(len(PIECES))):
                begin = sum(map(len, PIECES[:index]))
                assert bytes(damaged[begin : begin + len(PIECES[index]) - 1]) in after + aside  # never deleted

    with_store(work)


def test_broken_lines_in_the_middle_are_set_aside_once() -> None:
    async def work(store: SqliteStore, root: Path) -> None:
        bad = [b"{half", b"\xff\xfe", b"[1]", b"null", b'{"a":' * 100_000, b'{"n":' + b"9" * 10_000 + b"}"]
        damaged = PIECES[0] + PIECES[1] + b"\n".join(bad) + b"\n\n  \n" + PIECES[2]
        lines, after, aside = await recover(store, root, "mid", damaged)
        assert lines == ENTRIES[:2]
        assert after.startswith(damaged)
        assert all(b"\n" + piece + b"\n" in aside for piece in bad)
        await store.aclose()
        again = SqliteStore(str(root))
        await again.start(BootId("c"), kind="gateway")
        assert (await recover(again, root, "other", WHOLE))[0] == ENTRIES
        async with again.transcripts.open(AgentId("main"), SessionId("mid"), owner="t", cwd="/", timeout_s=1) as t:
            assert len(await t.tail(min_entries=99)) == 3
        assert (root / "agents" / "main" / "sessions" / "mid.jsonl.quarantine").read_bytes() == aside
        await again.aclose()

    with_store(work)


@settings(deadline=None, max_examples=60)
@given(text=st.text(st.characters(exclude_categories=())))
def test_any_text_is_one_line(text: str) -> None:
    data = encode({"id": "x", "text": text})
    assert data.count(b"\n") == 1
    assert len(data.decode("ascii").splitlines()) == 1
    assert json.loads(data)["text"] == json.loads(json.dumps(text))

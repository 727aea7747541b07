"""The transcripts' part of the store contract."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from openclaw_core.contracts.store import Store, Transcript
from openclaw_core.domain.ids import AgentId, SessionId
from openclaw_core.errors import OpenClawError, SessionBusy
from openclaw_core.testing.contracts.store_backend import AGENT, BackendFixtures, StoreHouse

SESSION = SessionId("5f0c2a4e-0000-4000-8000-000000000001")
HOSTILE = "one\u2028two\u2029three\x00four\rfive\x85six \ud83d lone \U0001f980"


def line(ident: str, text: str = "hello") -> dict[str, Any]:
    """A message line."""
    return {"type": "message", "id": ident, "parentId": None, "message": {"role": "user", "content": text}}


def write(store: Store, session: SessionId = SESSION, *, wait: float = 5.0) -> AbstractAsyncContextManager[Transcript]:
    """Open for writing."""
    return store.transcripts.open(AGENT, session, owner="test", cwd="/work", timeout_s=wait)


async def everything(store: Store, session: SessionId = SESSION) -> list[Mapping[str, Any]]:
    """All readable lines."""
    return [entry async for entry in store.transcripts.read(AGENT, session)]


def ids(lines: list[Mapping[str, Any]]) -> list[str]:
    """The ids of lines."""
    return [entry["id"] for entry in lines]


class TranscriptContract(BackendFixtures):
    """Append-only records under a write lock."""

    async def test_lines_form_one_chain_under_a_header(self, store: Store) -> None:
        """The header first, then every line with the id of the one before it."""
        assert not await store.transcripts.exists(AGENT, SESSION)
        assert await everything(store) == []
        async with write(store) as transcript:
            await transcript.append([line("a"), line("b")])
            await transcript.append([line("c")])
        assert await store.transcripts.exists(AGENT, SESSION)
        header, *lines = await everything(store)
        assert (header["type"], header["version"], header["id"], header["cwd"]) == ("session", 3, SESSION, "/work")
        assert header["timestamp"].endswith("Z")
        assert [(entry["id"], entry["parentId"]) for entry in lines] == [("a", None), ("b", "a"), ("c", "b")]

    async def test_known_lines_are_not_appended_again(self, house: StoreHouse) -> None:
        """A replay after a crash adds what is missing."""
        store = await house.open()
        async with write(store) as transcript:
            await transcript.append([line("a"), line("b")])
            await transcript.append([line("b"), line("a"), line("b")])
        house.crash(store)
        store = await house.open("boot-b")
        async with write(store) as transcript:
            await transcript.append([line("a"), line("b", "changed"), line("c"), line("c")])
        lines = (await everything(store))[1:]
        assert ids(lines) == ["a", "b", "c"]
        assert lines[2]["parentId"] == "b"
        assert lines[1]["message"]["content"] == "hello"

    async def test_tail_reaches_as_far_as_asked(self, house: StoreHouse) -> None:
        """The last lines in order, further back to a line by its id, all when there are fewer; never the header."""
        store = await house.open()
        async with write(store) as transcript:
            assert await transcript.tail(min_entries=5) == []
            for start in range(0, 3000, 100):
                await transcript.append([line(f"n{i}") for i in range(start, start + 100)])
        await house.close(store)
        store = await house.open("boot-b")
        async with write(store) as transcript:
            assert ids(await transcript.tail(min_entries=3))[-3:] == ["n2997", "n2998", "n2999"]
            far = ids(await transcript.tail(min_entries=3, until_id="n1000"))
            assert far[far.index("n1000") :] == [f"n{i}" for i in range(1000, 3000)]
            assert ids(await transcript.tail(min_entries=10, until_id="absent"))[-1] == "n2999"
            assert ids(await transcript.tail(min_entries=9000)) == [f"n{i}" for i in range(3000)]
            await transcript.append([line("last")])
            assert ids(await transcript.tail(min_entries=2))[-2:] == ["n2999", "last"]

    async def test_any_text_stays_one_line(self, house: StoreHouse) -> None:
        """Line separators of Unicode, NUL, carriage return and a lone surrogate come back as they went in."""
        store = await house.open()
        async with write(store) as transcript:
            await transcript.append([line("a", HOSTILE), line("b")])
        await house.close(store)
        store = await house.open("boot-b")
        async with write(store) as transcript:
            tail = await transcript.tail(min_entries=2)
        assert ids(tail) == ["a", "b"]
        assert tail[0]["message"]["content"] == HOSTILE
        assert (await everything(store))[1:] == tail

    async def test_the_lock_keeps_others_out_and_names_its_holder(self, house: StoreHouse) -> None:
        """Not re-entrant, also between processes; free after the holder's end, orderly or not."""
        one, two = await house.open("boot-a"), await house.open("boot-b")
        async with write(one) as transcript:
            await transcript.append([line("a")])
            for other in (one, two):
                with pytest.raises(SessionBusy) as caught:
                    async with write(other, wait=0.0):
                        raise AssertionError("the lock was given twice")
                assert caught.value.code == "session_busy"
                assert SESSION in caught.value.message
        async with write(two, wait=0.0) as transcript:
            await transcript.append([line("b")])
        held = write(one)
        await held.__aenter__()
        house.crash(one)
        async with write(two, wait=0.0) as transcript:
            assert ids(await transcript.tail(min_entries=9)) == ["a", "b"]

    async def test_an_error_inside_gives_the_lock_back(self, store: Store) -> None:
        """Whatever happens in the block, the session is free afterwards."""

        async def fails() -> None:
            async with write(store) as transcript:
                await transcript.append([line("a")])
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await fails()
        async with write(store, wait=0.0) as transcript:
            assert ids(await transcript.tail(min_entries=9)) == ["a"]

    async def test_an_archived_transcript_is_gone_but_kept(self, store: Store) -> None:
        """The session starts anew; archiving what is not there does nothing."""
        await store.transcripts.archive(AGENT, SESSION, reason="reset", at=1)
        async with write(store) as transcript:
            await transcript.append([line("a")])
        await store.transcripts.archive(AGENT, SESSION, reason="reset", at=1_700_000_000_000)
        assert not await store.transcripts.exists(AGENT, SESSION)
        async with write(store) as transcript:
            assert await transcript.tail(min_entries=9) == []
            await transcript.append([line("b")])
        assert ids(await everything(store))[1:] == ["b"]

    @pytest.mark.parametrize("bad", ["", "../x", "a/b", ".hidden", "a\x00b", "x" * 129, "..", "a\nb"])
    async def test_ids_are_not_paths(self, store: Store, bad: str) -> None:
        """An id that could leave its directory is refused with an error for people."""
        with pytest.raises(OpenClawError):
            async with write(store, SessionId(bad)):
                raise AssertionError("opened")
        with pytest.raises(OpenClawError):
            await store.transcripts.exists(AgentId(bad), SESSION)

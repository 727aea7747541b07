"""What the store contract needs from a store under test, and rows to put into it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol

import pytest

from openclaw_core.contracts.store import Store
from openclaw_core.domain.ids import AgentId, BootId, RunId, SessionId, SessionKey, TaskId
from openclaw_core.domain.journal import Claim, InboxItem, OutboxItem
from openclaw_core.domain.tasks import TaskRow, TaskStatus

MAIN = SessionKey("agent:main:main")
"""The session that most tests use."""

AGENT = AgentId("main")
"""The agent that all tests use."""


class StoreBackend(Protocol):
    """One place that holds state, and stores over it."""

    def make(self) -> Store:
        """A store over the same state, not started."""
        ...

    def crash(self, store: Store) -> None:
        """Let go of a started store as if its process had been killed: nothing is flushed or released in order."""
        ...


class StoreHouse:
    """Opens stores over one backend and closes them at the end of the test."""

    def __init__(self, backend: StoreBackend) -> None:
        self._backend = backend
        self._stores: list[Store] = []

    async def open(self, boot: str = "boot-a", *, kind: str = "gateway") -> Store:
        """A started store, as another process would have it."""
        store = self._backend.make()
        await store.start(BootId(boot), kind=kind)
        self._stores.append(store)
        return store

    def crash(self, store: Store) -> None:
        """Kill a store."""
        self._stores.remove(store)
        self._backend.crash(store)

    async def close(self, store: Store) -> None:
        """Close a store in order."""
        self._stores.remove(store)
        await store.aclose()

    async def aclose(self) -> None:
        """Close what is open."""
        for store in list(self._stores):
            await self.close(store)


class BackendFixtures:
    """The fixtures shared by all parts of the contract."""

    @pytest.fixture
    def backend(self) -> StoreBackend:
        """The store under test; to be overridden."""
        raise NotImplementedError("override the `backend` fixture with a StoreBackend of your store")

    @pytest.fixture
    async def house(self, backend: StoreBackend) -> AsyncIterator[StoreHouse]:
        """Opens stores; closes them after the test."""
        house = StoreHouse(backend)
        yield house
        await house.aclose()

    @pytest.fixture
    async def store(self, house: StoreHouse) -> Store:
        """A started store with the boot id ``boot-a``."""
        return await house.open()


def message(number: int, *, session: str = MAIN, **changes: Any) -> InboxItem:
    """An inbox item ``e<number>`` of run ``r<number>``."""
    values: dict[str, Any] = {
        "channel": "irc",
        "account": "default",
        "event_key": f"e{number}",
        "session_key": SessionKey(session),
        "agent_id": AGENT,
        "run_id": RunId(f"r{number}"),
        "sender": "person",
        "kind": "message",
        "body": {"text": f"message {number}"},
        "received_at": 1000 + number,
        **changes,
    }
    return InboxItem(**values)


def part(run: str, number: int = 0, *, target: str = "room", **changes: Any) -> OutboxItem:
    """Part `number` of the reply of a run."""
    values: dict[str, Any] = {
        "idem": f"{run}:{number}",
        "channel": "irc",
        "account": "default",
        "target": target,
        "session_key": MAIN,
        "run_id": RunId(run),
        "part": number,
        "kind": "reply",
        "body": {"text": f"part {number}"},
        "created_at": 2000,
        **changes,
    }
    return OutboxItem(**values)


def task(number: int, **changes: Any) -> TaskRow:
    """Task ``t<number>`` of run ``r<number>``."""
    values: dict[str, Any] = {
        "task_id": f"t{number}",
        "runtime": "cli",
        "run_id": f"r{number}",
        "session_key": MAIN,
        "agent_id": AGENT,
        "task": "say hello",
        "status": TaskStatus.QUEUED,
        "created_at": 1000 + number,
        **changes,
    }
    return TaskRow(**values)


def with_task(number: int) -> InboxItem:
    """`message` that belongs to `task` of the same number."""
    return message(number, task_id=TaskId(f"t{number}"))


async def take(store: Store, boot: str = "boot-a", *, session: str = MAIN, now: int = 5000) -> Claim | None:
    """Claim for a boot id."""
    return await store.journal.claim(SessionKey(session), BootId(boot), now=now, new_session_id=SessionId("s-1"))


async def took(store: Store, boot: str = "boot-a", *, session: str = MAIN, now: int = 5000) -> Claim:
    """Claim that must succeed."""
    claim = await take(store, boot, session=session, now=now)
    assert claim is not None
    return claim


async def reconcile(store: Store) -> Mapping[str, int]:
    """The counts, checked for accepted = answered + told + dead + ignored + pending."""
    counts = await store.journal.counts()
    assert counts["accepted"] == sum(counts[k] for k in ("answered", "told", "dead", "ignored", "pending"))
    return counts

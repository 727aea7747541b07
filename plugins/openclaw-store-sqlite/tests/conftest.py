"""Stores over a temporary state directory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from openclaw_store_sqlite.store import SqliteStore

from openclaw_core.testing.contracts.store import StoreHouse


class SqliteBackend:
    """Stores over one state directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def make(self) -> SqliteStore:
        return SqliteStore(str(self.directory))

    def crash(self, store: object) -> None:
        assert isinstance(store, SqliteStore)
        store.abandon()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The state directory, which does not exist yet."""
    return tmp_path / "state-dir"


@pytest.fixture
def backend(state: Path) -> SqliteBackend:
    """What opens stores over it."""
    return SqliteBackend(state)


@pytest.fixture
async def house(backend: SqliteBackend) -> AsyncIterator[StoreHouse]:
    """Opens stores and closes them after the test."""
    house = StoreHouse(backend)
    yield house
    await house.aclose()


@pytest.fixture
def sessions(state: Path) -> Path:
    """Where the transcripts of agent main lie."""
    return state / "agents" / "main" / "sessions"

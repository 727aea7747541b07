"""The store keeps the contract of all stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from openclaw_store_sqlite.store import SqliteStore, create

from openclaw_core.sdk import Store, StoreEnv
from openclaw_core.testing.contracts.store import StoreBackend, StoreContract


class SqliteBackend:
    """Stores over one state directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def make(self) -> Store:
        return create(StoreEnv(state_dir=str(self.directory)))

    def crash(self, store: Store) -> None:
        assert isinstance(store, SqliteStore)
        store.abandon()


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> StoreBackend:
        return SqliteBackend(tmp_path / "state-dir")

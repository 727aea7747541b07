"""The store keeps the contract of all stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from openclaw_store_sqlite.config import SqliteStoreConfig
from openclaw_store_sqlite.store import SqliteStore, create

from openclaw_core.sdk import Store, StoreEnv
from openclaw_core.testing.contracts.store import StoreBackend, StoreContract


class Backend:
    def __init__(self, directory: Path, config: SqliteStoreConfig | None) -> None:
        self._env = StoreEnv(state_dir=str(directory), config=config)

    def make(self) -> Store:
        return create(self._env)

    def crash(self, store: Store) -> None:
        assert isinstance(store, SqliteStore)
        store.abandon()


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> StoreBackend:
        return Backend(tmp_path / "state-dir", None)


class TestWithTheSmallestCache(StoreContract):
    """Nothing is remembered from one opening of a transcript to the next."""

    @pytest.fixture
    def backend(self, tmp_path: Path) -> StoreBackend:
        config = SqliteStoreConfig.model_validate({"cachedSessions": 1, "cachedBytes": 65536, "busyTimeoutMs": 1000})
        return Backend(tmp_path / "state-dir", config)

"""What the store plugin offers: the default store."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import StoreSpec, hookimpl


@hookimpl
def openclaw_stores() -> Iterable[StoreSpec]:
    """SQLite and JSONL on this machine's disk."""
    return [
        StoreSpec(
            id="sqlite",
            summary="SQLite journal and JSONL transcripts in the state directory",
            factory="openclaw_store_sqlite.store:create",
            config_model="openclaw_store_sqlite.config:SqliteStoreConfig",
            default=True,
        )
    ]

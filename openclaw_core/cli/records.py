"""Reading the store beside a running gateway, for commands that only look."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from openclaw_core.cli.state import CliState
from openclaw_core.contracts.store import Store
from openclaw_core.domain.ids import BootId, new_uuid

T = TypeVar("T")


def read_store(state: CliState, look: Callable[[Store], Awaitable[T]]) -> T:
    """Open the store as a reader, look, close. Raises what the store raises."""
    from openclaw_core.gateway.engine import open_store

    async def work() -> T:
        plugins = state.plugins("store")
        state.paths.ensure()
        store = open_store(state.paths, plugins)
        await store.start(BootId(new_uuid()), kind="reader")
        try:
            return await look(store)
        finally:
            await store.aclose()

    return asyncio.run(work())

"""The door into core, as a channel's tests see it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from openclaw_core.domain.channels import AcceptOutcome, Inbound


class RecordingInbox:
    """Implements the contract `ChannelInbox`: keeps what a channel hands over and lets tests wait for it.

    `fail` is asked before each event is taken; an exception it returns is raised instead (StoreFull).
    """

    def __init__(self) -> None:
        self.events: list[Inbound] = []
        """Accepted events in order, duplicates left out."""
        self.offered: list[Inbound] = []
        """Every event that was offered."""
        self.connections: list[str] = []
        self.losses: list[tuple[str, str]] = []
        """(account, reason) of each `disconnected`."""
        self.fail: Callable[[Inbound], Exception | None] = lambda event: None
        self._cursors: dict[str, str] = {}
        self._keys: set[tuple[str, str]] = set()
        self._changed = asyncio.Event()

    async def accept(self, event: Inbound, *, cursor: str | None = None) -> AcceptOutcome:
        """See the contract."""
        self.offered.append(event)
        if (error := self.fail(event)) is not None:
            self._wake()
            raise error
        if cursor is not None:
            self._cursors[event.account] = cursor
        key = (event.account, event.event_key)
        outcome = AcceptOutcome.DUPLICATE if key in self._keys else AcceptOutcome.ACCEPTED
        if outcome is AcceptOutcome.ACCEPTED:
            self._keys.add(key)
            self.events.append(event)
        self._wake()
        return outcome

    async def cursor(self, account: str = "default") -> str | None:
        """See the contract."""
        return self._cursors.get(account)

    def connected(self, account: str = "default") -> None:
        """See the contract."""
        self.connections.append(account)
        self._wake()

    def disconnected(self, reason: str, account: str = "default") -> None:
        """See the contract."""
        self.losses.append((account, reason))
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def until(self, condition: Callable[[RecordingInbox], bool], *, timeout: float = 10.0) -> None:
        """Wait until `condition(self)` holds. Raises TimeoutError after `timeout` seconds."""
        async with asyncio.timeout(timeout):
            while not condition(self):
                await self._changed.wait()

    async def event(self, number: int, *, timeout: float = 10.0) -> Inbound:
        """The accepted event `number`, from 1."""
        await self.until(lambda inbox: len(inbox.events) >= number, timeout=timeout)
        return self.events[number - 1]

    async def connection(self, number: int = 1, *, timeout: float = 10.0) -> None:
        """Wait for the `number`-th report of a working connection."""
        await self.until(lambda inbox: len(inbox.connections) >= number, timeout=timeout)

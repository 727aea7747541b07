"""The channel: where messages enter and leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from openclaw_core.domain.channels import AcceptOutcome, Inbound, Outbound, Receipt


class ChannelInbox(Protocol):
    """The door into core."""

    async def accept(self, event: Inbound, *, cursor: str | None = None) -> AcceptOutcome:
        """Authorise, gate, dedupe and store one event. Durable when it returns; acknowledge the
        platform only then. Raises StoreFull when it could not be stored: do not acknowledge."""
        ...

    async def cursor(self, account: str = "default") -> str | None:
        """The cursor stored with the last accepted event."""
        ...

    def connected(self, account: str = "default") -> None:
        """Report a working connection (resets the restart back-off, wakes the outbox)."""
        ...

    def disconnected(self, reason: str, account: str = "default") -> None:
        """Report a lost connection that the channel itself will restore."""
        ...


class Channel(Protocol):
    """One configured channel with all its accounts."""

    async def run(self, inbox: ChannelInbox) -> None:
        """Connect and receive until cancelled. Raise ChannelDisconnected to be started again with
        back-off, ChannelAuthError to be stopped and reported."""
        ...

    async def send(self, message: Outbound) -> Receipt:
        """Send one part. Raises DeliveryFailed. Only the outbox calls this."""
        ...

    async def find_sent(self, message: Outbound) -> Receipt | None:
        """For readable channels: the message if it did arrive; others return None."""
        ...

    async def typing(self, account: str, target: str) -> None:
        """Show that an answer is being written, where the platform can; cheap, may do nothing."""
        ...

    async def aclose(self) -> None:
        """Disconnect."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelEnv:
    """What a channel factory gets: its id, its validated configuration model, a state folder."""

    channel_id: str
    config: Any
    state_dir: str
    version: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)

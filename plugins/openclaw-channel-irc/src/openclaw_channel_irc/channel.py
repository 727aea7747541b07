"""The channel ``irc``: all its accounts."""

from __future__ import annotations

import asyncio

from openclaw_channel_irc.account import CONFIRM_S, TICK_S, Account
from openclaw_channel_irc.config import IrcConfig
from openclaw_core.sdk import (
    Backoff,
    ChannelAuthError,
    ChannelDisconnected,
    ChannelEnv,
    ChannelInbox,
    Clock,
    DeliveryFailed,
    Outbound,
    Receipt,
    Service,
    SystemClock,
    TaskOwner,
    supervise,
)


class IrcChannel:
    """Implements the contract `Channel`.

    A single account ends `run` when its connection is lost, so core restores it; of several, each is
    restored here, so that one broken server costs only its own account.
    """

    def __init__(
        self, env: ChannelEnv, *, clock: Clock | None = None, tick_s: float = TICK_S, confirm_s: float = CONFIRM_S
    ) -> None:
        config: IrcConfig = env.config
        self._clock = clock or SystemClock()
        self._accounts = {
            name: Account(name, settings, clock=self._clock, tick_s=tick_s, confirm_s=confirm_s)
            for name, settings in config.resolved().items()
            if settings.enabled
        }

    async def run(self, inbox: ChannelInbox) -> None:
        """See the contract."""
        if not self._accounts:
            raise ChannelAuthError("No IRC account is enabled.", hint="Set enabled: true for one of them.")
        if len(self._accounts) == 1:
            for only in self._accounts.values():
                await only.run(inbox)
            return
        owner = TaskOwner("irc")
        try:
            tasks = [owner.start(self._keep(one, inbox), name=one.name) for one in self._accounts.values()]
            await asyncio.wait(tasks)
        finally:
            await owner.aclose()
        raise ChannelDisconnected("All IRC accounts have stopped.")

    async def _keep(self, account: Account, inbox: ChannelInbox) -> None:
        backoff = Backoff(first=1.0, limit=300.0)
        account.on_connected = backoff.reset

        async def once() -> None:
            try:
                await account.run(inbox)
            except ChannelDisconnected as error:
                inbox.disconnected(error.message, account.name)
                raise

        await supervise(
            Service(f"irc:{account.name}"), once, backoff=backoff, clock=self._clock, fatal=(ChannelAuthError,)
        )

    async def send(self, message: Outbound) -> Receipt:
        """See the contract. A line is one PRIVMSG of at most 512 bytes; the server has confirmed them all."""
        account = self._accounts.get(message.account)
        if account is None:
            raise DeliveryFailed(f"There is no IRC account {message.account!r}.", retryable=False)
        return await account.send(message)

    async def find_sent(self, message: Outbound) -> Receipt | None:
        """IRC keeps no history that could be asked."""
        return None

    async def typing(self, account: str, target: str) -> None:
        """Most servers do not pass this on; nothing is sent."""

    async def aclose(self) -> None:
        """Connections end with `run`; nothing else is held."""

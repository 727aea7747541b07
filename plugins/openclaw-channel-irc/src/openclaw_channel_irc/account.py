"""One account: a connection, what comes in and what goes out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from openclaw_channel_irc.config import IrcAccount
from openclaw_channel_irc.inbound import to_inbound
from openclaw_channel_irc.lines import to_lines
from openclaw_channel_irc.names import is_target
from openclaw_channel_irc.pace import Pace
from openclaw_channel_irc.wire import Wire
from openclaw_core.sdk import (
    Backoff,
    ChannelDisconnected,
    ChannelInbox,
    Clock,
    DeliveryFailed,
    Inbound,
    Outbound,
    Receipt,
    StoreFull,
    get_logger,
)

_log = get_logger("channel.irc")

REGISTER_S = 45.0
"""From the first byte to the end of the greeting; servers that look up the host take up to 30 s."""
TICK_S = 60.0
"""After so long without a line the server is asked whether it is there."""
CONFIRM_S = 30.0


class Account:
    """Connects, receives and sends for one `IrcAccount`. `run` may be called again after it ended."""

    def __init__(
        self, name: str, settings: IrcAccount, *, clock: Clock, tick_s: float = TICK_S, confirm_s: float = CONFIRM_S
    ) -> None:
        self.name = name
        self.on_connected: Callable[[], None] = lambda: None
        self._settings = settings
        self._clock = clock
        self._tick_s = tick_s
        self._confirm_s = confirm_s
        self._pace = Pace(burst=settings.line_burst, interval=settings.line_interval_ms / 1000, clock=clock)
        self._sending = asyncio.Lock()
        self._wire: Wire | None = None
        self._count = 0

    # ---- receiving ---------------------------------------------------------------------------

    async def run(self, inbox: ChannelInbox) -> None:
        """Receive until cancelled. Raises ChannelDisconnected or ChannelAuthError."""
        settings = self._settings
        sasl = None
        if settings.sasl_username and settings.sasl_password:
            sasl = (settings.sasl_username, settings.sasl_password.reveal())
        wire = Wire(settings.nick, username=settings.username, realname=settings.realname, sasl=sasl)
        wire.on_join_refused = lambda channel, reason: _log.warning(
            "cannot join", account=self.name, channel=channel, reason=reason
        )
        try:
            await self._register(wire)
            self._wire = wire
            inbox.connected(self.name)
            self.on_connected()
            await self._refresh(wire)
            await self._receive(wire, inbox)
        finally:
            self._wire = None
            await wire.close()

    async def _register(self, wire: Wire) -> None:
        settings = self._settings
        try:
            async with asyncio.timeout(REGISTER_S):
                await wire.open(
                    hostname=settings.server,
                    port=settings.real_port,
                    password=settings.password.reveal() if settings.password else None,
                    tls=settings.encrypted,
                    tls_verify=settings.tls_verify,
                )
                while not wire.ready:
                    message = await wire.next_message(REGISTER_S)
                    if message is not None:
                        await wire.handle(message)
        except TimeoutError as error:
            raise ChannelDisconnected(f"The IRC server {settings.server} does not answer.") from error
        except OSError as error:
            raise ChannelDisconnected(f"The IRC server {settings.server} cannot be reached: {error}.") from error

    async def _receive(self, wire: Wire, inbox: ChannelInbox) -> None:
        asked = False
        due = self._clock.monotonic() + self._tick_s
        while True:
            try:
                message = await wire.next_message(self._tick_s)
                asked = False
            except TimeoutError as error:
                if asked:
                    raise ChannelDisconnected("The IRC server no longer answers.") from error
                await wire.rawmsg("PING", self._settings.server)
                asked, message = True, None
            if message is not None:
                await self._take(wire, message, inbox)
            if self._clock.monotonic() >= due:
                due = self._clock.monotonic() + self._tick_s
                await self._refresh(wire)

    async def _take(self, wire: Wire, message: Any, inbox: ChannelInbox) -> None:
        if message.command != "PRIVMSG":
            await wire.handle(message)
            return
        self._count += 1
        event = to_inbound(
            wire,
            message,
            account=self.name,
            server=self._settings.server,
            nick=self._settings.nick,
            now_ms=self._clock.now_ms(),
            count=self._count,
        )
        if event is not None:
            await self._accept(event, inbox)

    async def _accept(self, event: Inbound, inbox: ChannelInbox) -> None:
        """Hand an event to core. IRC sends nothing twice, so while the disk is full we hold it and stop reading."""
        backoff = Backoff(first=0.5, limit=10.0)
        while True:
            try:
                await inbox.accept(event)
                return
            except StoreFull:
                _log.error("no space left; the message waits", account=self.name)
                await self._clock.sleep(backoff.next())

    async def _refresh(self, wire: Wire) -> None:
        """Join the channels we are not in and ask for the configured nick if we have another one."""
        for entry in self._settings.channels:
            name, _, key = entry.partition(" ")
            if not wire.in_channel(name):
                await wire.rawmsg("JOIN", name, *([key] if key else []))
        if not wire.is_same_nick(wire.nickname, self._settings.nick):
            await wire.set_nickname(self._settings.nick)

    # ---- sending -----------------------------------------------------------------------------

    async def send(self, message: Outbound) -> Receipt:
        """Send one part as whole lines, paced, and wait until the server has taken them."""
        if not is_target(message.target):
            raise DeliveryFailed(f"{message.target[:80]!r} is no nick or channel of IRC.", retryable=False)
        async with self._sending:
            wire = self._wire
            if wire is None:
                raise DeliveryFailed("The IRC server is not connected.")
            lines = to_lines(message.text, wire.room(message.target))
            if lines:
                await self._deliver(wire, message.target, lines)
        return Receipt()

    async def _deliver(self, wire: Wire, target: str, lines: list[str]) -> None:
        wire.refused.clear()
        for number, line in enumerate(lines):
            await self._pace.turn()
            if wire is not self._wire:
                raise DeliveryFailed("The connection to the IRC server was lost.", maybe_sent=number > 0)
            try:
                await wire.say(target, line)
            except ChannelDisconnected as error:
                raise DeliveryFailed(error.message, maybe_sent=True) from error
        await wire.confirm(self._confirm_s)
        reason = wire.refused.get(wire.folded(target))
        if reason is not None:
            raise DeliveryFailed(f"The IRC server refused the message to {target}: {reason}.", retryable=False)

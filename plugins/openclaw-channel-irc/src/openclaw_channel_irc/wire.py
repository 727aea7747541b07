"""The pydle client, reduced to what one account needs: no reconnect, no tasks, no surprises.

pydle gives the connection, parsing, capability negotiation, registration and the server's parameters.
We read its socket ourselves, so that lines are handled one after another and reading stops while core
is busy.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Callable
from typing import Any

import pydle

from openclaw_channel_irc.lines import budget, widest_mask
from openclaw_channel_irc.names import fold, nick_of
from openclaw_core.sdk import ChannelAuthError, ChannelDisconnected, ChannelError, DeliveryFailed

SEND_TIMEOUT_S = 30.0
_MAX_NICKS = 5

# Below warning pydle writes every line, passwords included.
_pydle_log = logging.getLogger("openclaw.channel.irc.pydle")
_pydle_log.setLevel(logging.WARNING)

_CONFIRM = "openclaw-"
_UNDELIVERABLE = {"401", "403", "404", "407", "411", "412", "442", "477", "486", "489", "494", "531", "716"}
_JOIN_REFUSED = {"403", "405", "407", "437", "471", "473", "474", "475", "476", "477", "485", "489", "520"}


class Wire(pydle.Client):
    """One connection to a server. `fatal` is set when it can no longer be used."""

    RECONNECT_ON_ERROR = False

    def __init__(self, nick: str, *, username: str, realname: str, sasl: tuple[str, str] | None) -> None:
        self.fatal: ChannelError | None = None
        self.ready = False
        self.mask = widest_mask(nick)
        self.refused: dict[str, str] = {}
        """Targets the server would not deliver to, and what it said, since the last `forget_refusals`."""
        self.on_join_refused: Callable[[str, str], None] = lambda channel, reason: None
        self._sasl = sasl
        self._wanted = nick
        self._pongs: dict[str, asyncio.Future[None]] = {}
        self._serial = 0
        self._writing = asyncio.Lock()
        super().__init__(nick, username=username or nick, realname=realname)

    @property
    def logger(self) -> logging.Logger:
        """pydle assigns loggers named after the server; all its messages go to one of ours."""
        return _pydle_log

    @logger.setter
    def logger(self, value: object) -> None:
        pass

    # ---- reading -----------------------------------------------------------------------------

    async def handle_forever(self) -> None:
        """pydle starts this as a task of its own; `next_message` does the work instead."""

    async def next_message(self, timeout: float) -> Any:
        """The next message of the server; None for a line that is none. Raises TimeoutError after
        `timeout` seconds, ChannelDisconnected at the end of the connection."""
        reader = self.connection.reader if self.connection else None
        if reader is None:
            raise ChannelDisconnected("The connection to the IRC server is closed.")
        try:
            async with asyncio.timeout(timeout):
                line = await reader.readline()
        except TimeoutError:  # is an OSError too
            raise
        except (OSError, ValueError) as error:  # ValueError: a line of more than 64 KiB
            raise ChannelDisconnected(f"The connection to the IRC server broke: {error}.") from error
        if not line.endswith(b"\n"):
            raise ChannelDisconnected("The IRC server closed the connection.")
        self._receive_buffer += line
        try:
            return self._parse_message()
        except (ValueError, pydle.protocol.ProtocolViolation):
            return None

    async def handle(self, message: Any) -> None:
        """Let pydle and the handlers below see a message; raises `fatal` when it ended the connection."""
        command = str(message.command).zfill(3) if isinstance(message.command, int) else message.command
        params = [str(one) for one in message.params]
        if command in _UNDELIVERABLE and len(params) > 2:
            self.refused[self.folded(params[1])] = params[-1]
        if command in _JOIN_REFUSED and len(params) > 2 and self.is_channel(params[1]):
            self.on_join_refused(params[1], params[-1])
        await self.on_raw(message)
        if self.fatal is not None:
            raise self.fatal

    async def on_disconnect(self, expected: bool) -> None:
        """Never reconnect here: core starts the account again."""

    async def on_unknown(self, message: Any) -> None:
        """Servers send many lines that nobody needs."""

    async def whois(self, nickname: str) -> None:
        """pydle asks for every renamed user and waits for the answer in the place where it would be read."""

    # ---- writing -----------------------------------------------------------------------------

    async def _send(self, input: Any) -> None:
        """Everything is written here: returns when the operating system has taken all of it."""
        data = input if isinstance(input, bytes) else str(input).encode("utf-8", "replace")
        writer = self.connection.writer if self.connection else None
        if writer is None or writer.is_closing():
            raise ChannelDisconnected("The connection to the IRC server is closed.")
        async with self._writing:
            try:
                async with asyncio.timeout(SEND_TIMEOUT_S):
                    writer.write(data)
                    await writer.drain()
            except (OSError, TimeoutError) as error:
                writer.transport.abort()
                raise ChannelDisconnected(f"The IRC server does not take data: {error!r}.") from error

    async def open(self, **options: Any) -> None:
        """Connect and begin the registration; `ready` follows while messages are handled."""
        await self.connect(**options)
        # The buffer must be empty before drain() returns, so that "sent" means taken by the system.
        self.connection.writer.transport.set_write_buffer_limits(high=0)

    async def say(self, target: str, line: str) -> None:
        """Send one line that `to_lines` made. The server confirms with `confirm`."""
        await self._send(f"PRIVMSG {target} :{line}\r\n")

    async def confirm(self, timeout: float) -> None:
        """Wait until the server has worked off everything sent so far (it answers a PING in order).

        Raises DeliveryFailed(maybe_sent=True) when it does not, or the connection ends meanwhile.
        """
        self._serial += 1
        token = f"{_CONFIRM}{self._serial}"
        answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pongs[token] = answer
        try:
            await self.rawmsg("PING", token)
            async with asyncio.timeout(timeout):
                await answer
        except (TimeoutError, ChannelDisconnected) as error:
            raise DeliveryFailed("The IRC server did not confirm the message.", maybe_sent=True) from error
        finally:
            self._pongs.pop(token, None)

    def room(self, target: str) -> int:
        """Bytes of text in one line to `target`."""
        return budget(mask=self.mask, target=target)

    def folded(self, name: str) -> str:
        """A name as the server compares it."""
        return fold(name, str(self._case_mapping))

    async def close(self) -> None:
        """Leave politely if the server takes it at once, then close."""
        self.ready = False
        for answer in self._pongs.values():
            if not answer.done():
                answer.set_exception(ChannelDisconnected("The connection to the IRC server is closed."))
        connection = self.connection
        writer = connection.writer if connection else None
        if writer is None:
            return
        try:
            async with asyncio.timeout(0.3):
                if not writer.is_closing():
                    writer.write(b"QUIT :bye\r\n")
                    await writer.drain()
                writer.close()
                await writer.wait_closed()
        except (OSError, TimeoutError):
            writer.transport.abort()
        finally:
            connection.reader = connection.writer = None

    # ---- registration ------------------------------------------------------------------------

    async def on_connect(self) -> None:
        """The greeting is complete."""
        self.ready = True

    async def on_capability_echo_message_available(self, value: Any) -> bool:
        """We know what we said."""
        return False

    async def on_capability_away_notify_available(self, value: Any) -> bool:
        """Nobody asks who is away."""
        return False

    async def on_capability_server_time_available(self, value: Any) -> bool:
        """When a message was said, also behind a bouncer."""
        return True

    async def on_raw_433(self, message: Any) -> None:
        """The nick is taken: go on with another one; the account asks for the right one later."""
        if self.ready or self.registered:
            return
        self._registration_attempts += 1
        if self._registration_attempts > _MAX_NICKS:
            self.fatal = ChannelDisconnected(f"The nick {self._wanted} and its variants are in use.")
            return
        await self.set_nickname(self._wanted + "_" * (self._registration_attempts - 1))

    on_raw_437 = on_raw_433

    async def on_raw_432(self, message: Any) -> None:
        """The nick is not allowed at all."""
        if not self.registered:
            self._refuse(f"The IRC server does not allow the nick {self._wanted}", message)

    async def on_raw_464(self, message: Any) -> None:
        """Wrong server password."""
        self._refuse("The IRC server refused the password", message)

    async def on_raw_465(self, message: Any) -> None:
        """Banned from the server."""
        self._refuse("The IRC server has banned us", message)

    async def on_raw_error(self, message: Any) -> None:
        """The server closes the connection and says why."""
        reason = " ".join(message.params)
        if not self.registered and "password" in reason.lower():
            self._refuse("The IRC server refused the password", message)
        elif self.fatal is None:
            self.fatal = ChannelDisconnected(f"The IRC server closed the connection: {reason}.")

    def _refuse(self, what: str, message: Any) -> None:
        reason = str(message.params[-1]) if message.params else ""
        self.fatal = ChannelAuthError(
            f"{what} ({reason}).", hint="Check nick, password and account of this channel in the configuration."
        )

    # ---- our own mask and nick ---------------------------------------------------------------

    async def on_raw_join(self, message: Any) -> None:
        """Our own JOIN shows the mask under which others see us."""
        self._learn_mask(message)
        await super().on_raw_join(message)

    async def on_raw_nick(self, message: Any) -> None:
        """A new nick of ours makes the mask longer or shorter."""
        ours = self.is_same_nick(self.nickname, nick_of(message.source))
        await super().on_raw_nick(message)
        if ours:
            _, mark, rest = self.mask.partition("!")
            self.mask = f"{self.nickname}{mark}{rest}"

    async def on_raw_396(self, message: Any) -> None:
        """The server shows another host for us: unknown until the next JOIN, so assume the longest."""
        self.mask = widest_mask(self.nickname)

    async def on_raw_pong(self, message: Any) -> None:
        """An answer to `confirm`."""
        answer = self._pongs.get(str(message.params[-1])) if message.params else None
        if answer is not None and not answer.done():
            answer.set_result(None)

    def _learn_mask(self, message: Any) -> None:
        if message.source and "@" in message.source and self.is_same_nick(self.nickname, nick_of(message.source)):
            self.mask = str(message.source)

    # ---- SASL PLAIN --------------------------------------------------------------------------

    async def on_capability_sasl_available(self, value: str | None) -> bool:
        """Wanted when an account is configured and the server offers PLAIN (or does not say what)."""
        return self._sasl is not None and (not value or "PLAIN" in value.upper().split(","))

    async def on_capability_sasl_enabled(self) -> bool | None:
        """Begin; the negotiation ends with 903 or an error."""
        if self._sasl is None:
            return None
        await self.rawmsg("AUTHENTICATE", "PLAIN")
        return True

    async def on_raw_authenticate(self, message: Any) -> None:
        """The server waits for name and password: base64 in pieces of 400, a full last piece followed by ``+``."""
        if self._sasl is None or message.params[:1] != ["+"]:
            return
        name, password = self._sasl
        text = base64.b64encode(f"\0{name}\0{password}".encode()).decode()
        for at in range(0, len(text), 400):
            await self.rawmsg("AUTHENTICATE", text[at : at + 400])
        if len(text) % 400 == 0:
            await self.rawmsg("AUTHENTICATE", "+")

    async def on_raw_903(self, message: Any) -> None:
        """Logged in."""
        await self._capability_negotiated("sasl")

    async def on_raw_904(self, message: Any) -> None:
        """Name or password is wrong, or the account may not be used."""
        self._refuse("The IRC services refused the account", message)

    on_raw_902 = on_raw_904
    on_raw_905 = on_raw_904
    on_raw_906 = on_raw_904
    on_raw_908 = on_raw_904

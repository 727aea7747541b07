"""What ngircd cannot do: services accounts, SASL, tags, servers that misbehave."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from openclaw_channel_irc.channel import IrcChannel
from openclaw_channel_irc.config import IrcConfig

from openclaw_core.sdk import ChannelAuthError, ChannelDisconnected, ChannelEnv, DeliveryFailed, Outbound
from openclaw_core.testing.contracts.channel import running
from openclaw_core.testing.fakes.inbox import RecordingInbox

WELCOME = [
    ":srv 001 bot :Welcome",
    ":srv 005 bot CASEMAPPING=ascii CHANTYPES=# STATUSMSG=@+ :are supported",
    ":srv 422 bot :No MOTD",
]


class Session:
    """The server's side of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.seen: list[str] = []

    def say(self, *lines: str) -> None:
        self.writer.write("".join(f"{line}\r\n" for line in lines).encode())

    async def until(self, start: str) -> str:
        async with asyncio.timeout(10):
            while line := await self.reader.readline():
                self.seen.append(text := line.decode().rstrip("\r\n"))
                if text.startswith(start):
                    return text
        raise AssertionError(f"no {start} in {self.seen}")


Script = Callable[[Session], Awaitable[None]]


@asynccontextmanager
async def scripted(script: Script, **keys: Any) -> AsyncIterator[tuple[IrcChannel, asyncio.Future[None]]]:
    """A channel connected to a server that follows `script`; the future tells how the script ended."""
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await script(Session(reader, writer))
            if not ended.done():
                ended.set_result(None)
        except Exception as error:
            if not ended.done():
                ended.set_exception(error)
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    section = {"server": "127.0.0.1", "port": port, "tls": False, "nick": "bot", "lineIntervalMs": 0} | keys
    try:
        config = IrcConfig.model_validate(section)
        yield IrcChannel(ChannelEnv(channel_id="irc", config=config, state_dir=""), confirm_s=0.5), ended
    finally:
        server.close()
        await server.wait_closed()
        if ended.done():
            ended.exception()


async def greet(session: Session, *capabilities: str) -> None:
    await session.until("USER")
    if capabilities:
        session.say(f":srv CAP * LS :{' '.join(capabilities)}")
        wanted = (await session.until("CAP REQ")).partition(":")[2] or session.seen[-1].split()[-1]
        session.say(f":srv CAP bot ACK :{wanted}")
        await session.until("CAP END")
    session.say(*WELCOME)


async def test_accounts_ids_and_times_of_the_server_are_used() -> None:
    async def script(session: Session) -> None:
        await greet(session, "account-tag", "message-tags", "server-time")
        session.say(
            "@account=Ann;msgid=m1;time=2026-01-02T03:04:05.678Z :Alice!a@h PRIVMSG bot :one",
            "@msgid=m2 :Alice!a@h PRIVMSG bot :two",
            ":Al[ce!a@h PRIVMSG @#Chan :three",
            "@broken",
            ":nobody",
            ":srv PRIVMSG bot :from the server itself",
            ":x!y@z PRIVMSG bot",
            ":account:ann!y@z PRIVMSG bot :four",
        )
        await session.until("QUIT")

    inbox = RecordingInbox()
    async with scripted(script) as (channel, _), running(channel, inbox):
        await inbox.event(4)
    one, two, three, four = inbox.events
    assert (one.sender, one.conversation, one.target) == ("account:ann", "account:ann", "Alice")
    assert (one.event_key, one.timestamp) == ("msgid:m1", 1767323045678)
    assert (two.sender, two.event_key) == ("alice", "msgid:m2")
    assert (three.sender, three.conversation, three.target) == ("al[ce", "#chan", "#Chan")
    assert four.text == "four"


async def test_an_account_tag_without_the_capability_is_not_believed() -> None:
    async def script(session: Session) -> None:
        await greet(session)
        session.say("@account=owner :Mallory!a@h PRIVMSG bot :hi")
        await session.until("QUIT")

    inbox = RecordingInbox()
    async with scripted(script) as (channel, _), running(channel, inbox):
        assert (await inbox.event(1)).sender == "mallory"


@pytest.mark.parametrize("password", ["secret", "x" * 290])
async def test_sasl_plain(password: str) -> None:
    got: list[str] = []

    async def script(session: Session) -> None:
        await session.until("USER")
        session.say(":srv CAP * LS :sasl=PLAIN,EXTERNAL")
        await session.until("CAP REQ")
        session.say(":srv CAP bot ACK :sasl")
        assert await session.until("AUTHENTICATE") == "AUTHENTICATE PLAIN"
        session.say("AUTHENTICATE +")
        while True:
            piece = (await session.until("AUTHENTICATE")).split()[1]
            got.append("" if piece == "+" else piece)
            if len(piece) < 400:
                break
        session.say(":srv 903 bot :ok")
        await session.until("CAP END")
        session.say(*WELCOME)
        await session.until("QUIT")

    async with scripted(script, saslUsername="ann", saslPassword=password) as (channel, ended):
        async with running(channel, RecordingInbox()):
            pass
        await ended
    assert base64.b64decode("".join(got)).decode() == f"\0ann\0{password}"


@pytest.mark.parametrize(
    "refusal",
    [
        ":srv 904 bot :SASL failed",
        ":srv 464 bot :Password incorrect",
        ":srv 465 bot :banned",
        "ERROR :Closing: bad password",
        ":srv 432 * bot :Erroneous",
    ],
)
async def test_refusals_for_good(refusal: str) -> None:
    async def script(session: Session) -> None:
        await session.until("USER")
        session.say(refusal)
        await session.reader.read()

    async with scripted(script) as (channel, _):
        with pytest.raises(ChannelAuthError):
            await channel.run(RecordingInbox())


@pytest.mark.parametrize(
    "bad", [b"ERROR :Closing link\r\n", b"", b":srv 001 bot", b"x" * 70_000, b":srv 433 * bot :in use\r\n" * 8]
)
async def test_a_server_that_goes_away_is_a_lost_connection(bad: bytes) -> None:
    async def script(session: Session) -> None:
        await session.until("USER")
        session.writer.write(bad)

    async with scripted(script) as (channel, _):
        with pytest.raises(ChannelDisconnected):
            await channel.run(RecordingInbox())


@pytest.mark.parametrize("close", [True, False])
async def test_without_confirmation_it_may_have_been_sent(close: bool) -> None:
    async def script(session: Session) -> None:
        await greet(session)
        await session.until("PRIVMSG Alice :hello")
        if not close:
            await session.until("QUIT")

    async with scripted(script) as (channel, _), running(channel, RecordingInbox()):
        with pytest.raises(DeliveryFailed) as failed:
            await channel.send(Outbound(idem="x", account="default", target="Alice", text="hello"))
    assert (failed.value.retryable, failed.value.maybe_sent) == (True, True)


async def test_the_mask_follows_the_server() -> None:
    """After a change of the shown host the longest one is assumed, after a JOIN the real one."""

    async def script(session: Session) -> None:
        await greet(session)
        await session.until("JOIN")
        session.say(":bot!~bot@" + "h" * 20 + " JOIN #c", ":srv 396 bot new.host :is now your displayed host")
        session.say(":Alice!a@h PRIVMSG bot :ready")
        line = await session.until("PRIVMSG")
        assert len(f":bot!{'u' * 11}@{'h' * 63} {line}\r\n") == 512
        session.say(f"PONG srv {(await session.until('PING')).split()[-1]}", ":bot!~bot@short JOIN #c")
        session.say(":Alice!a@h PRIVMSG bot :ready")
        line = await session.until("PRIVMSG")
        assert len(f":bot!~bot@short {line}\r\n") == 512
        session.say(f"PONG srv {(await session.until('PING')).split()[-1]}")
        await session.until("QUIT")

    inbox = RecordingInbox()
    async with scripted(script, channels=["#c"]) as (channel, ended):
        async with running(channel, inbox):
            for number in (1, 2):
                await inbox.event(number)
                await channel.send(Outbound(idem="x", account="default", target="Alice", text="y" * 600))
        await ended

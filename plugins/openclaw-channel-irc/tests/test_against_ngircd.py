from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import pytest
from openclaw_channel_irc.config import IrcConfig

from openclaw_core.sdk import (
    Channel,
    ChannelAuthError,
    ChannelDisconnected,
    ChatType,
    DeliveryFailed,
    Outbound,
)
from openclaw_core.testing.contracts.channel import ChannelCase, ChannelContract, running
from openclaw_core.testing.fakes.inbox import RecordingInbox

if TYPE_CHECKING:
    from conftest import Human, MakeChannel, Server

pytestmark = pytest.mark.peer("ngircd")


class IrcCase(ChannelCase):
    target = "Alice"

    def __init__(self, server: Server, human: Human, make: MakeChannel) -> None:
        self._server, self._human, self._make = server, human, make

    def channel(self) -> Channel:
        return self._make()

    async def say(self, text: str) -> None:
        await self._human.raw(f"PRIVMSG bot :{text}")

    async def heard(self) -> str:
        return await self._human.heard()

    async def break_platform(self) -> None:
        await self._server.stop()

    async def restore_platform(self) -> None:
        await self._human.close()
        await self._server.start()
        await self._human.connect()


class TestIrcContract(ChannelContract):
    @pytest.fixture
    async def channel_case(self, server: Server, human: Human, make_channel: MakeChannel) -> AsyncIterator[IrcCase]:
        yield IrcCase(server, human, make_channel)


def part(target: str, text: str) -> Outbound:
    return Outbound(idem="run:0", account="default", target=target, text=text)


async def test_channel_messages_and_mentions(human: Human, make_channel: MakeChannel) -> None:
    await human.join()
    inbox, channel = RecordingInbox(), make_channel(channels=["#Test"])
    async with running(channel, inbox):
        await human.line("JOIN")
        said = [
            "hello all",
            "BOT: do it",
            "bot, do it",
            "@bot do it",
            "ask bot now",
            "robots are bots",
            "bot-ty",
            "\x01ACTION pats bot\x01",
        ]
        for text in said:
            await human.raw(f"PRIVMSG #test :{text}")
        await human.raw("PRIVMSG #test :\x01VERSION\x01", "NOTICE #test :bot: no", "PRIVMSG #test :end")
        await inbox.event(len(said) + 1)
        assert [(e.text, e.mentioned) for e in inbox.events] == [
            ("hello all", False),
            ("do it", True),
            ("do it", True),
            ("do it", True),
            ("ask bot now", True),
            ("robots are bots", False),
            ("bot-ty", False),
            ("pats bot", True),
            ("end", False),
        ]
        assert {(e.chat_type, e.sender, e.conversation, e.target) for e in inbox.events} == {
            (ChatType.CHANNEL, "alice", "#test", "#test")
        }
        await channel.send(part("#test", "here"))
        assert await human.heard() == "here"


async def test_long_and_hostile_replies_are_whole_lines(human: Human, make_channel: MakeChannel) -> None:
    channel = make_channel()
    async with running(channel, RecordingInbox()):
        text = "first\r\nQUIT :injected\n\n   \nJOIN #evil\r\x01VERSION\x01\0\n" + "äöü👩‍👩‍👧 " * 150 + "x" * 1200
        await channel.send(part("Alice", text))
        await channel.send(part("Alice", "the end"))
        heard = []
        while (raw := await human.raw_line(" PRIVMSG ", " QUIT", " JOIN"))[:-2].partition(b" :")[2] != b"the end":
            assert raw.endswith(b"\r\n")
            assert len(raw) <= 512
            heard.append(raw.decode().rstrip("\r\n").partition(" PRIVMSG Alice :")[2])
        assert heard[:4] == ["first", "QUIT :injected", "JOIN #evil", "VERSION"]
        # ngircd strips the blank at the end of a line
        assert "".join(heard[4:]).replace(" ", "") == "äöü👩‍👩‍👧" * 150 + "x" * 1200
        assert not any(line.startswith("\u200d") or line.endswith("\u200d") for line in heard)


async def test_one_line_is_filled_to_512_bytes(human: Human, make_channel: MakeChannel) -> None:
    """Our own mask is known after a JOIN, so that no byte is given away."""
    await human.join()
    channel = make_channel(channels=["#test"])
    inbox = RecordingInbox()
    async with running(channel, inbox):
        await human.line("JOIN")
        await human.raw("PRIVMSG #test :ping")
        await inbox.event(1)
        await channel.send(part("Alice", "x" * 2000))
        assert len(await human.raw_line(" PRIVMSG ")) == 512


@pytest.mark.parametrize("target", ["a,b", "a b", "", ":x", "a\r\nQUIT", "a\0", "x" * 201])
async def test_a_target_cannot_smuggle(human: Human, make_channel: MakeChannel, target: str) -> None:
    channel = make_channel()
    async with running(channel, RecordingInbox()):
        with pytest.raises(DeliveryFailed) as failed:
            await channel.send(part(target, "hello"))
        assert (failed.value.retryable, failed.value.maybe_sent) == (False, False)


async def test_a_refusal_of_the_server_is_a_failure(human: Human, make_channel: MakeChannel) -> None:
    channel = make_channel()
    async with running(channel, RecordingInbox()):
        for target in ("Nobody", "#nowhere"):
            with pytest.raises(DeliveryFailed) as failed:
                await channel.send(part(target, "hello"))
            assert (failed.value.retryable, failed.value.maybe_sent) == (False, False)
        await channel.send(part("ALICE", "works"))
        assert await human.heard() == "works"


async def test_a_connection_lost_between_lines_may_have_delivered(
    server: Server, human: Human, make_channel: MakeChannel
) -> None:
    channel = make_channel(lineBurst=2, lineIntervalMs=200)
    async with running(channel, RecordingInbox()):
        sending = asyncio.ensure_future(channel.send(part("Alice", "one\ntwo\nthree")))
        assert [await human.heard(), await human.heard()] == ["one", "two"]
        await server.stop()
        with pytest.raises(DeliveryFailed) as failed:
            await sending
        assert (failed.value.retryable, failed.value.maybe_sent) == (True, True)


async def test_a_taken_nick_is_replaced_and_taken_back(server: Server, human: Human, make_channel: MakeChannel) -> None:
    await human.join()
    await human.raw("NICK bot")
    await human.line(" NICK ")
    inbox, channel = RecordingInbox(), make_channel(channels=["#test"], options={"tick_s": 0.2})
    async with running(channel, inbox):
        assert ":bot_!" in await human.line("JOIN")
        await human.raw("PRIVMSG #test :bot: hello", "PRIVMSG #test :bot_: hello")
        await inbox.event(2)
        assert [e.mentioned for e in inbox.events] == [True, True]
        await human.raw("NICK Alice")
        assert ":bot_!" in await human.line(" NICK :bot\r", " NICK bot\r")
        await human.raw("PRIVMSG bot :there you are")
        await inbox.event(3)


async def test_kicked_from_a_channel_it_comes_back(human: Human, make_channel: MakeChannel) -> None:
    await human.join("#own")
    inbox, channel = RecordingInbox(), make_channel(channels=["#own"], options={"tick_s": 0.2})
    async with running(channel, inbox):
        await human.line("JOIN")
        await human.raw("KICK #own bot :out")
        await human.line(" KICK ")
        await human.line("JOIN")


async def test_own_lines_and_empty_lines_are_no_events(human: Human, make_channel: MakeChannel) -> None:
    await human.join()
    inbox, channel = RecordingInbox(), make_channel(channels=["#test"])
    async with running(channel, inbox):
        await human.line("JOIN")
        await channel.send(part("#test", "bot: me"))
        await channel.send(part("bot", "to myself"))
        await channel.send(part("Alice", "\n\n \n"))
        await human.raw("PRIVMSG bot : ", "PRIVMSG bot :\x01PING 1\x01", "PRIVMSG bot :real")
        assert (await inbox.event(1)).text == "real"
        assert len(inbox.events) == 1


async def test_bytes_that_are_no_utf8_arrive_as_text(human: Human, make_channel: MakeChannel) -> None:
    inbox = RecordingInbox()
    async with running(make_channel(), inbox):
        human._writer.write(b"PRIVMSG bot :caf\xe9 \xff\r\n")
        assert (await inbox.event(1)).text == "café ÿ"


async def test_a_wrong_password_is_for_good(locked_server: Server, make_channel: MakeChannel) -> None:
    with pytest.raises(ChannelAuthError):
        await make_channel(port=locked_server.port, password="wrong").run(RecordingInbox())
    async with running(make_channel(port=locked_server.port, password="right"), RecordingInbox()):
        pass


async def test_a_server_that_is_not_there(make_channel: MakeChannel, server: Server) -> None:
    await server.stop()
    with pytest.raises(ChannelDisconnected):
        await make_channel().run(RecordingInbox())


async def test_several_accounts_restore_themselves(server: Server, human: Human, make_channel: MakeChannel) -> None:
    accounts: dict[str, Any] = {
        "one": {"nick": "first"},
        "two": {"nick": "second", "server": "127.0.0.1"},
        "off": {"enabled": False},
    }
    inbox, channel = RecordingInbox(), make_channel(accounts=accounts)
    async with running(channel, inbox) as task:
        await inbox.connection(2)
        assert sorted(inbox.connections) == ["one", "two"]
        await human.raw("PRIVMSG first :a", "PRIVMSG second :b")
        await inbox.event(2)
        assert sorted((e.account, e.text) for e in inbox.events) == [("one", "a"), ("two", "b")]
        await channel.send(Outbound(idem="x", account="two", target="Alice", text="hi"))
        assert "second!" in await human.line(" PRIVMSG ")
        await server.stop()
        await inbox.until(lambda i: len(i.losses) >= 2)
        await server.start()
        await inbox.connection(4, timeout=20)
        assert not task.done()


def test_configuration_errors_name_the_key() -> None:
    for section in (
        {"server": "x"},
        {"nick": "x"},
        {"server": "x", "nick": "no spaces"},
        {"server": "x", "nick": "x", "channels": ["test"]},
        {"server": "x", "nick": "x", "saslUsername": "x"},
        {"server": "x", "nick": "x", "unknown": 1},
        {"server": "x", "accounts": {"a": {}}},
    ):
        with pytest.raises(ValueError):
            IrcConfig.model_validate(section)
    full = {
        "host": "x",
        "nick": "x",
        "dmPolicy": "allowlist",
        "allowFrom": ["a"],
        "groupPolicy": "open",
        "groupAllowFrom": [],
        "groups": {"#x": {}},
        "textChunkLimit": 300,
        "enabled": True,
    }
    assert IrcConfig.model_validate(full).resolved()["default"].real_port == 6697
    for server, tls, port in (("x", False, 6667), ("localhost", None, 6667), ("127.0.0.1", True, 6697)):
        keys = {"server": server, "nick": "x"} | ({} if tls is None else {"tls": tls})
        assert IrcConfig.model_validate(keys).resolved()["default"].real_port == port

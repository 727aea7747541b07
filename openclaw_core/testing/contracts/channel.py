"""What every channel must do. Subclass `ChannelContract` and give the fixture `channel_case`."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import ClassVar

import pytest

from openclaw_core.contracts.channel import Channel
from openclaw_core.domain.channels import AcceptOutcome, ChatType, Inbound, Outbound
from openclaw_core.errors import ChannelDisconnected, DeliveryFailed, StoreFull
from openclaw_core.testing.fakes.inbox import RecordingInbox


class ChannelCase(ABC):
    """A channel, its platform and one person on it."""

    account: ClassVar[str] = "default"

    @abstractmethod
    def channel(self) -> Channel:
        """A fresh channel object, configured for the platform."""

    @property
    @abstractmethod
    def target(self) -> str:
        """Where `send` reaches the person."""

    @abstractmethod
    async def say(self, text: str) -> None:
        """The person writes to the bot directly."""

    @abstractmethod
    async def heard(self) -> str:
        """The next text the person gets from the bot; waits for it."""

    @abstractmethod
    async def break_platform(self) -> None:
        """Cut the connection as a failing platform does."""

    @abstractmethod
    async def restore_platform(self) -> None:
        """Bring platform and person back."""


@asynccontextmanager
async def running(channel: Channel, inbox: RecordingInbox) -> AsyncIterator[asyncio.Task[None]]:
    """Run the channel during the block, from the first working connection on."""
    before = len(inbox.connections)
    task = asyncio.get_running_loop().create_task(channel.run(inbox))
    waiting = asyncio.get_running_loop().create_task(inbox.connection(before + 1, timeout=30))
    try:
        await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        await waiting
        yield task
    finally:
        waiting.cancel()
        task.cancel()
        await asyncio.wait([task, waiting])
        await channel.aclose()


class ChannelContract:
    """Tests of the contract `Channel`."""

    def outbound(self, case: ChannelCase, text: str, *, idem: str = "run:0") -> Outbound:
        """One part for the person."""
        return Outbound(idem=idem, account=case.account, target=case.target, text=text)

    async def test_a_direct_message_arrives_whole(self, channel_case: ChannelCase) -> None:
        """Text, kind, sender and the way back are right."""
        inbox = RecordingInbox()
        channel = channel_case.channel()
        async with running(channel, inbox):
            await channel_case.say("hello, wörld 🙂")
            event = await inbox.event(1)
            assert (event.text, event.chat_type, event.account) == (
                "hello, wörld 🙂",
                ChatType.DIRECT,
                channel_case.account,
            )
            assert event.sender
            assert event.event_key
            assert event.timestamp > 0
            await channel.send(Outbound(idem="run:0", account=event.account, target=event.target, text="back"))
            assert await channel_case.heard() == "back"

    async def test_messages_keep_their_order_and_identity(self, channel_case: ChannelCase) -> None:
        """Equal texts are different events; the order is that of the person."""
        inbox = RecordingInbox()
        async with running(channel_case.channel(), inbox):
            texts = [f"message {n // 2}" for n in range(20)]
            for text in texts:
                await channel_case.say(text)
            await inbox.event(20)
            assert [event.text for event in inbox.events] == texts
            assert len({event.event_key for event in inbox.events}) == 20
            assert len({(event.sender, event.conversation) for event in inbox.events}) == 1

    async def test_a_reply_arrives_whole(self, channel_case: ChannelCase) -> None:
        """Characters of every width survive."""
        inbox = RecordingInbox()
        channel = channel_case.channel()
        async with running(channel, inbox):
            await channel.send(self.outbound(channel_case, "Grüße, 世界, 👩‍👩‍👧, e\u0301"))
            assert await channel_case.heard() == "Grüße, 世界, 👩‍👩‍👧, e\u0301"

    async def test_sending_without_a_connection_says_that_nothing_was_sent(self, channel_case: ChannelCase) -> None:
        """Before the first connection and after the end."""
        inbox = RecordingInbox()
        channel = channel_case.channel()
        with pytest.raises(DeliveryFailed) as before:
            await channel.send(self.outbound(channel_case, "early"))
        async with running(channel, inbox):
            pass
        with pytest.raises(DeliveryFailed) as after:
            await channel.send(self.outbound(channel_case, "late"))
        for failed in (before.value, after.value):
            assert (failed.retryable, failed.maybe_sent) == (True, False)

    async def test_an_unknown_account_is_refused(self, channel_case: ChannelCase) -> None:
        """Sending for an account that is not configured cannot succeed later."""
        with pytest.raises(DeliveryFailed) as failed:
            await channel_case.channel().send(Outbound(idem="x", account="no such", target="x", text="x"))
        assert (failed.value.retryable, failed.value.maybe_sent) == (False, False)

    async def test_cancelling_ends_within_a_second(self, channel_case: ChannelCase) -> None:
        """Also while core takes a message."""
        inbox = RecordingInbox()
        channel = channel_case.channel()
        async with running(channel, inbox) as task:
            task.cancel()
            async with asyncio.timeout(1.0):
                await asyncio.wait([task])
            assert task.cancelled()
        stuck = asyncio.Event()

        class Stuck(RecordingInbox):
            async def accept(self, event: Inbound, *, cursor: str | None = None) -> AcceptOutcome:
                stuck.set()
                await asyncio.Event().wait()
                raise AssertionError

        async with running(channel, Stuck()) as task:
            await channel_case.say("hello")
            await stuck.wait()
            task.cancel()
            async with asyncio.timeout(1.0):
                await asyncio.wait([task])
            assert task.cancelled()

    async def test_a_lost_connection_is_reported_and_restored(self, channel_case: ChannelCase) -> None:
        """`run` ends with ChannelDisconnected, and the next `run` of the same object works."""
        inbox = RecordingInbox()
        channel = channel_case.channel()
        async with running(channel, inbox) as task:
            await channel_case.break_platform()
            async with asyncio.timeout(15):
                await asyncio.wait([task])
            assert isinstance(task.exception(), ChannelDisconnected)
        with pytest.raises(ChannelDisconnected):
            await channel.run(inbox)
        await channel_case.restore_platform()
        async with running(channel, inbox):
            await channel_case.say("again")
            assert (await inbox.event(1)).text == "again"
            await channel.send(self.outbound(channel_case, "yes"))
            assert await channel_case.heard() == "yes"

    async def test_nothing_is_lost_while_core_cannot_store(self, channel_case: ChannelCase) -> None:
        """StoreFull: the event is offered again, in order, under the same key."""
        inbox = RecordingInbox()
        refusals = [StoreFull("full"), None]
        inbox.fail = lambda event: refusals.pop(0) if refusals else None
        async with running(channel_case.channel(), inbox):
            await channel_case.say("one")
            await channel_case.say("two")
            await inbox.event(2, timeout=30)
        assert [event.text for event in inbox.events] == ["one", "two"]
        assert inbox.offered[0].event_key == inbox.offered[1].event_key

    async def test_small_promises(self, channel_case: ChannelCase) -> None:
        """`typing` never raises; `find_sent` of something never sent is None; closing twice is harmless."""
        channel = channel_case.channel()
        await channel.typing(channel_case.account, channel_case.target)
        assert await channel.find_sent(self.outbound(channel_case, "never")) is None
        await channel.aclose()
        await channel.aclose()

"""The channel to the loopback platform."""

import asyncio
import json

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from openclaw_core.sdk import (
    AcceptOutcome,
    ChannelDisconnected,
    ChatType,
    ConversationId,
    DeliveryFailed,
    Inbound,
    Receipt,
    SenderId,
    fault_point,
)


class SweepConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)

    port: int
    dm_policy: str = "allowlist"
    allow_from: list[str] = []
    wrong: str = ""
    """A mistake to make on purpose, to see that the judge notices: ``ack-first``, ``send-twice``."""


class SweepChannel:
    def __init__(self, env):
        self._config = env.config
        self._writer = None
        self._waiting = {}
        self._number = 0

    async def run(self, inbox):
        reader, self._writer = await asyncio.open_connection("127.0.0.1", self._config.port)
        inbox.connected()
        try:
            while line := await reader.readline():
                frame = json.loads(line)
                if "offer" in frame:
                    await self._offered(inbox, frame["offer"])
                else:
                    self._waiting.pop(frame["sent"]).set_result(frame["id"])
        finally:
            for future in self._waiting.values():
                future.cancel()
            self._waiting.clear()
            self._writer.close()
            self._writer = None
        raise ChannelDisconnected("the platform closed the connection")

    async def _offered(self, inbox, offer):
        event = Inbound(
            event_key=offer["key"],
            sender=SenderId(offer["sender"]),
            conversation=ConversationId(offer["sender"]),
            chat_type=ChatType.DIRECT,
            text=offer["text"],
            target=offer["sender"],
        )
        if self._config.wrong == "ack-first":
            await self._write({"ack": offer["key"]})
        fault_point("sweep.offered")
        try:
            outcome = await inbox.accept(event, cursor=offer["key"])
        except Exception as error:
            await self._write({"nack": offer["key"], "why": repr(error)})
            raise ChannelDisconnected("a message could not be stored") from error  # all is offered again, in order
        assert outcome in (AcceptOutcome.ACCEPTED, AcceptOutcome.DUPLICATE), outcome
        fault_point("sweep.ack.before")
        await self._write({"ack": offer["key"]})
        fault_point("sweep.ack.after")

    async def send(self, message):
        if self._writer is None:
            raise ChannelDisconnected("not connected")
        fault_point("sweep.send.before")
        remote = await self._send(message)
        if self._config.wrong == "send-twice":
            remote = await self._send(message)
        fault_point("sweep.send.after")
        return Receipt(remote_id=remote)

    async def _send(self, message):
        self._number += 1
        future = asyncio.get_running_loop().create_future()
        self._waiting[self._number] = future
        sent = {"idem": message.idem, "target": message.target, "text": message.text}
        await self._write({"send": sent, "n": self._number})
        try:
            return await future
        except asyncio.CancelledError:
            if future.cancelled():
                raise DeliveryFailed("the connection was lost", retryable=True, maybe_sent=True) from None
            raise

    async def _write(self, value):
        self._writer.write(json.dumps(value).encode() + b"\n")
        await self._writer.drain()

    async def find_sent(self, message):
        return None

    async def typing(self, account, target):
        return None

    async def aclose(self):
        if self._writer is not None:
            self._writer.close()

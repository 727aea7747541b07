"""The only sender: takes parts from the outbox, in order per conversation, and records what became of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from openclaw_core.aio.backoff import Backoff
from openclaw_core.aio.clock import Clock
from openclaw_core.aio.tasks import TaskOwner
from openclaw_core.contracts.channel import Channel
from openclaw_core.contracts.store import Journal
from openclaw_core.delivery.reply import NOTICE
from openclaw_core.domain.channels import DeliveryGuarantee, Outbound
from openclaw_core.domain.journal import OutboxItem, OutboxRow, OutboxState
from openclaw_core.errors import ChannelDisconnected, DeliveryFailed, FenceLost, StoreError
from openclaw_core.observe.faultpoints import fault_point
from openclaw_core.observe.logging import get_logger, redact

_log = get_logger("delivery")

MAX_ATTEMPTS = 5
_RETRY = (0.5, 30.0)
_SEND_TIMEOUT_S = 600.0
"""Channels with flood limits send a long part slowly; one conversation waits, no other does."""
_IDLE_S = 5.0


@dataclass(slots=True, kw_only=True)
class Outlet:
    """A channel that can send now or later."""

    channel: Channel
    guarantee: DeliveryGuarantee
    connected: Callable[[str], bool]


@dataclass(slots=True)
class OutboxSender:
    """Empties the outbox. `outlets` by channel id; a part of an unknown channel waits."""

    journal: Journal
    clock: Clock
    outlets: Mapping[str, Outlet]
    _tasks: TaskOwner = field(default_factory=lambda: TaskOwner("outbox"))
    _sends: TaskOwner = field(default_factory=lambda: TaskOwner("sending"))
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _busy: set[tuple[str, str, str]] = field(default_factory=set)

    def wake(self) -> None:
        """New parts were queued, or a channel came back."""
        self._wake.set()

    @property
    def sending(self) -> int:
        """Conversations that are being sent to."""
        return len(self._busy)

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            self._wake.clear()
            try:
                rows = await self.journal.outbox_due(now=self.clock.now_ms(), limit=200)
            except StoreError as error:
                _log.warning("cannot read the outbox", error=error.message)
                rows = []
            for row in rows:
                self._start(row)
            try:
                async with asyncio.timeout(_IDLE_S):
                    await self._wake.wait()
            except TimeoutError:
                continue

    def _start(self, row: OutboxRow) -> None:
        item = row.item
        outlet = self.outlets.get(item.channel)
        lane = (item.channel, item.account, item.target)
        if outlet is None or lane in self._busy or not outlet.connected(item.account):
            return
        self._busy.add(lane)
        self._sends.start(self._lane(lane, row, outlet), name=":".join(lane[:2]))

    async def _lane(self, lane: tuple[str, str, str], row: OutboxRow, outlet: Outlet) -> None:
        try:
            await self._deliver(row, outlet)
        except FenceLost as error:
            _log.info("left to its owner", part=row.item.idem, why=error.message)
        finally:
            self._busy.discard(lane)
            self._wake.set()

    async def _deliver(self, row: OutboxRow, outlet: Outlet) -> None:
        """One part, from whatever state a crash left it in."""
        item = row.item
        message = Outbound(
            idem=item.idem,
            account=item.account,
            target=item.target,
            text=str(item.body.get("text", "")),
            thread=item.thread,
            reply_to=str(item.body.get("replyTo", "")),
            attempt=row.attempt + 1,
        )
        if row.state is OutboxState.SENDING:
            if outlet.guarantee is DeliveryGuarantee.READABLE:
                found = await outlet.channel.find_sent(message)
                if found is not None:
                    await self._mark(row, OutboxState.SENT, remote_id=found.remote_id)
                    return
            elif outlet.guarantee is DeliveryGuarantee.PLAIN and item.kind != "notice":
                await self._uncertain(row, "a crash interrupted the sending")
                return
        fault_point("outbox.before_sending")
        await self._mark(row, OutboxState.SENDING)
        fault_point("outbox.sending")
        await self._send(replace(row, state=OutboxState.SENDING, attempt=row.attempt + 1), message, outlet)

    async def _send(self, row: OutboxRow, message: Outbound, outlet: Outlet) -> None:
        try:
            async with asyncio.timeout(_SEND_TIMEOUT_S):
                receipt = await outlet.channel.send(message)
        except (DeliveryFailed, ChannelDisconnected, TimeoutError) as error:
            await self._failed(row, _as_delivery(error), outlet)
            return
        except Exception as error:  # noqa: BLE001  # a channel is a plugin: what it raises is one failed delivery
            _log.error("channel failed to send", channel=row.item.channel, error=repr(error), exc_info=error)
            failure = DeliveryFailed(f"{type(error).__name__} in the channel", retryable=True, maybe_sent=True)
            await self._failed(row, failure, outlet)
            return
        fault_point("outbox.sent_remotely")
        await self._mark(row, OutboxState.SENT, remote_id=receipt.remote_id)
        fault_point("outbox.sent")

    async def _failed(self, row: OutboxRow, error: DeliveryFailed, outlet: Outlet) -> None:
        text = redact(error.message)
        _log.warning("sending failed", channel=row.item.channel, attempt=row.attempt, error=text)
        if error.maybe_sent and outlet.guarantee is DeliveryGuarantee.PLAIN and row.item.kind != "notice":
            await self._uncertain(row, text)
            return
        online = outlet.connected(row.item.account)
        if not error.retryable or (row.attempt >= MAX_ATTEMPTS and online):
            await self._mark(row, OutboxState.FAILED, error=text)
            return
        backoff = Backoff(first=_RETRY[0], limit=_RETRY[1], failures=row.attempt - 1)
        wait = max(backoff.next(), error.retry_after or 0.0)
        await self._mark(row, OutboxState.PENDING, error=text, not_before=self.clock.now_ms() + int(wait * 1000))
        self._tasks.start(self._wake_after(wait), name="retry")

    async def _wake_after(self, seconds: float) -> None:
        """Look again when a delayed part is due, not only at the next idle round."""
        await self.clock.sleep(seconds)
        self._wake.set()

    async def _uncertain(self, row: OutboxRow, why: str) -> None:
        """The part may or may not have arrived: never again silently, and the person is told."""
        item = row.item
        notice = OutboxItem(
            idem=f"{item.idem}:notice",
            channel=item.channel,
            account=item.account,
            target=item.target,
            session_key=item.session_key,
            run_id=item.run_id,
            part=item.part,
            kind="notice",
            body={"text": NOTICE},
            created_at=self.clock.now_ms(),
            thread=item.thread,
        )
        await self._mark(row, OutboxState.UNKNOWN, error=why, notice=notice)

    async def _mark(
        self,
        row: OutboxRow,
        state: OutboxState,
        *,
        remote_id: str = "",
        error: str = "",
        not_before: int = 0,
        notice: OutboxItem | None = None,
    ) -> None:
        """Record a state; while the store refuses writes, wait: the truth must not be lost."""
        backoff = Backoff(first=0.5, limit=5.0)
        while True:
            try:
                await self.journal.outbox_mark(
                    row.id,
                    state,
                    now=self.clock.now_ms(),
                    remote_id=remote_id,
                    error=error,
                    not_before=not_before,
                    notice=notice,
                )
                return
            except FenceLost:
                raise  # final already, or another process has it: asking again would never end
            except StoreError as failure:
                _log.error("cannot record a delivery", state=state.value, error=failure.message)
                await self.clock.sleep(backoff.next())

    async def drain(self, timeout_s: float) -> bool:
        """Wait for the parts that are being sent; False when some were not done in time."""
        return await self._sends.drain(timeout_s)

    async def aclose(self) -> None:
        """Stop sending; parts in flight are settled at the next start."""
        await self._sends.aclose()
        await self._tasks.aclose()


def _as_delivery(error: DeliveryFailed | ChannelDisconnected | TimeoutError) -> DeliveryFailed:
    if isinstance(error, DeliveryFailed):
        return error
    if isinstance(error, ChannelDisconnected):
        return DeliveryFailed(error.message, retryable=True, maybe_sent=False)
    return DeliveryFailed(f"not sent within {_SEND_TIMEOUT_S:g} seconds", retryable=True, maybe_sent=True)

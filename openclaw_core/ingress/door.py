"""The door: every message becomes an inbox row of the session it concerns, then a lane is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from openclaw_core.aio.clock import Clock
from openclaw_core.config.sections.session import SessionSection
from openclaw_core.contracts.store import Accepted, Journal
from openclaw_core.domain.channels import AcceptOutcome, Inbound
from openclaw_core.domain.ids import AgentId, BootId, RunId, SessionKey, TaskId, new_uuid
from openclaw_core.domain.journal import CursorUpdate, InboxItem
from openclaw_core.domain.tasks import TaskRow, TaskStatus
from openclaw_core.errors import InvalidRequest
from openclaw_core.ingress.access import AccessPolicy
from openclaw_core.observe.faultpoints import fault_point
from openclaw_core.observe.logging import get_logger, printable
from openclaw_core.sessions.keys import conversation_key

_log = get_logger("ingress")

MAX_TEXT = 4 * 1024 * 1024
"""Characters of one message; more is refused before anything is stored."""


class Door:
    """Accepts messages of channels and of callers (CLI, RPC)."""

    def __init__(self, journal: Journal, clock: Clock, *, owner: BootId, notify: Callable[[SessionKey], None]) -> None:
        self._journal = journal
        self._clock = clock
        self._owner = owner
        self._notify = notify
        self.refused: Counter[str] = Counter()

    async def channel_event(
        self,
        channel: str,
        policy: AccessPolicy,
        event: Inbound,
        *,
        agent: AgentId,
        session: SessionSection,
        cursor: str | None,
    ) -> AcceptOutcome:
        """One event of a platform. Durable when it returns; refused events only move a counter."""
        refusal = policy.refuse(event)
        if refusal is None and len(event.text) > MAX_TEXT:
            self.refused["too_long"] += 1
            return AcceptOutcome.IGNORED
        if refusal is not None:
            self.refused[refusal.value] += 1
            _log.info("event ignored", channel=channel, reason=refusal.value, sender=printable(str(event.sender)[:80]))
            return AcceptOutcome.IGNORED
        key = conversation_key(
            agent=agent,
            channel=channel,
            account=event.account,
            chat_type=event.chat_type,
            peer=event.sender,
            conversation=event.conversation,
            thread=event.thread,
            dm_scope=session.dm_scope,
            identity_links=session.identity_links,
        )
        item = InboxItem(
            channel=channel,
            account=event.account,
            event_key=event.event_key,
            session_key=key,
            agent_id=agent,
            run_id=RunId(new_uuid()),
            sender=event.sender,
            kind=event.kind,
            body={"text": event.text, "senderName": event.sender_name, "chatType": event.chat_type.value},
            received_at=event.timestamp or self._clock.now_ms(),
            target=event.target,
            thread=event.thread,
            owner=self._owner,
        )
        update = CursorUpdate(channel=channel, account=event.account, value=cursor) if cursor is not None else None
        accepted = (await self._journal.accept([item], cursor=update))[0]
        fault_point("ingress.accepted")
        self._notify(accepted.row.item.session_key)
        return AcceptOutcome.ACCEPTED if accepted.new else AcceptOutcome.DUPLICATE

    async def request(
        self,
        *,
        channel: str,
        run_id: RunId,
        session_key: SessionKey,
        agent: AgentId,
        body: Mapping[str, Any],
        with_task: bool,
    ) -> Accepted:
        """A message of a caller who fetches the result by `run_id`, which is the idempotency key too."""
        text = str(body.get("text", ""))
        if not text.strip() and not body.get("images"):
            raise InvalidRequest("The message is empty.", hint="Say something with --message.")
        if len(text) > MAX_TEXT:
            raise InvalidRequest(
                f"The message has {len(text)} characters; {MAX_TEXT} are allowed.", hint="Put it into a file instead."
            )
        now = self._clock.now_ms()
        task_id = TaskId(new_uuid()) if with_task else None
        item = InboxItem(
            channel=channel,
            account="default",
            event_key=run_id,
            session_key=session_key,
            agent_id=agent,
            run_id=run_id,
            sender="owner",
            kind="message",
            body=body,
            received_at=now,
            owner=self._owner,
            task_id=task_id,
        )
        tasks = [_task(item, task_id, text, now)] if task_id is not None else []
        accepted = (await self._journal.accept([item], tasks=tasks))[0]
        fault_point("ingress.accepted")
        self._notify(accepted.row.item.session_key)
        return accepted


def _task(item: InboxItem, task_id: TaskId, text: str, now: int) -> TaskRow:
    """The ledger row of a CLI run (behaviour.md 11.1)."""
    return TaskRow(
        task_id=task_id,
        runtime="cli",
        run_id=item.run_id,
        session_key=item.session_key,
        agent_id=item.agent_id,
        task=text,
        status=TaskStatus.QUEUED,
        created_at=now,
        owner_key=item.session_key,
        requester_session_key=item.session_key,
        child_session_key=item.session_key,
        source_id=item.run_id,
        last_event_at=now,
    )

"""From the result of a run to the outbox parts of its channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from openclaw_core.delivery.chunking import split
from openclaw_core.domain.channels import TextUnit
from openclaw_core.domain.journal import InboxItem, OutboxItem
from openclaw_core.errors import OpenClawError
from openclaw_core.observe.logging import redact
from openclaw_core.plugin import ChannelSpec

NOTICE = "My last reply may not have reached you. Say 'again' and I will repeat it."
"""Sent once when a crash left it open whether a reply arrived (reliability.md 6.3)."""


class ReplyPlanner:
    """Knows the channels that messages can be sent to."""

    def __init__(self, channels: Mapping[str, ChannelSpec], limits: Mapping[str, int] | None = None) -> None:
        self._channels = channels
        self._limits = limits or {}

    def plan(
        self, item: InboxItem, payloads: Sequence[Mapping[str, Any]], error: OpenClawError | None, now: int
    ) -> list[OutboxItem]:
        """The parts that answer `item`; none for callers that fetch their result themselves (CLI, RPC)."""
        spec = self._channels.get(item.channel)
        if spec is None or not item.target:
            return []
        texts = [str(p.get("text") or "") for p in payloads]
        if error is not None and error.code != "aborted":
            hint = f" {error.hint}" if error.hint else ""
            texts = [redact(f"{error.message}{hint}")]
        return self.parts(item, spec, "\n\n".join(t for t in texts if t), kind="error" if error else "reply", now=now)

    def parts(self, item: InboxItem, spec: ChannelSpec, text: str, *, kind: str, now: int) -> list[OutboxItem]:
        """`text` cut to the channel's limit."""
        limit = min(spec.text_limit, self._limits.get(spec.id, spec.text_limit))
        return [
            OutboxItem(
                idem=f"{item.run_id}:{number}",
                channel=item.channel,
                account=item.account,
                target=item.target,
                session_key=item.session_key,
                run_id=item.run_id,
                part=number,
                kind=kind,
                body={"text": part},
                created_at=now,
                thread=item.thread,
            )
            for number, part in enumerate(split(text, limit, TextUnit(spec.text_unit)))
        ]

"""Messages as channels see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from openclaw_core.domain.ids import ConversationId, SenderId


class ChatType(StrEnum):
    """Kind of conversation."""

    DIRECT = "direct"
    GROUP = "group"
    CHANNEL = "channel"
    THREAD = "thread"


class DeliveryGuarantee(StrEnum):
    """What the platform offers against double sending (reliability.md 6.4)."""

    IDEMPOTENT = "idempotent"
    """Sending the same key twice shows one message."""
    READABLE = "readable"
    """`find_sent` can look whether a message arrived."""
    PLAIN = "plain"
    """Neither: after a crash in the send window the person is told."""


class TextUnit(StrEnum):
    """In what a platform counts its text limit."""

    BYTES = "bytes"
    UTF16 = "utf16"
    CODE_POINTS = "code_points"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """One event from a platform.

    `event_key` is the platform's immutable id of the event (digest of sender, time and text where
    it has none). `target` is where a reply goes, in the channel's own words. `mentioned` says
    whether the bot was addressed. `timestamp` in epoch milliseconds.
    """

    event_key: str
    sender: SenderId
    conversation: ConversationId
    chat_type: ChatType
    text: str
    target: str
    account: str = "default"
    sender_name: str = ""
    mentioned: bool = False
    thread: str = ""
    kind: str = "message"
    timestamp: int = 0
    media: tuple[Mapping[str, Any], ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbound:
    """One part of a reply, already cut to the channel's limit. `idem` is stable over retries."""

    idem: str
    account: str
    target: str
    text: str
    thread: str = ""
    reply_to: str = ""
    media: tuple[Mapping[str, Any], ...] = ()
    attempt: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof of sending; `remote_id` is the platform's id where it gives one."""

    remote_id: str = ""


class AcceptOutcome(StrEnum):
    """What happened to an inbound event. Only after this may the platform be acknowledged."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    IGNORED = "ignored"

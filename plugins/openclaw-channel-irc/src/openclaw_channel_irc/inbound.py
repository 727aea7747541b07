"""From a PRIVMSG to an event for core."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from openclaw_channel_irc.mention import mentions, without_address
from openclaw_channel_irc.names import nick_of
from openclaw_channel_irc.wire import Wire
from openclaw_core.sdk import ChatType, ConversationId, Inbound, SenderId

_ACTION = "\x01ACTION "


def spoken_text(text: str) -> str | None:
    """What a person said; None for requests of programs (CTCP), which are not answered."""
    if not text.startswith("\x01"):
        return text
    return text[len(_ACTION) :].rstrip("\x01") if text.startswith(_ACTION) else None


def sender_id(wire: Wire, nick: str, tags: dict[str, Any]) -> SenderId:
    """``account:name`` where the server vouches for a services account in this very message, else the nick.

    A nick holds no colon, so nobody can take a nick that looks like an account.
    """
    account = tags.get("account")
    if isinstance(account, str) and wire._capabilities.get("account-tag"):
        return SenderId(f"account:{wire.folded(account)}")
    return SenderId(wire.folded(nick))


def event_key(parts: Sequence[str], tags: dict[str, Any]) -> str:
    """The server's message id, else a digest of everything that tells this message from others."""
    msgid = tags.get("msgid")
    if isinstance(msgid, str):
        return f"msgid:{msgid}"
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:40]


def _milliseconds(tags: dict[str, Any], now_ms: int) -> int:
    """The time tag of the server, else the time of receipt."""
    try:
        return int(datetime.fromisoformat(str(tags["time"])).timestamp() * 1000)
    except (KeyError, ValueError, OverflowError):
        return now_ms


def to_inbound(
    wire: Wire, message: Any, *, account: str, server: str, nick: str, now_ms: int, count: int
) -> Inbound | None:
    """The event for core; None for what nobody said to us (our own lines, CTCP, servers, broken lines).

    `nick` is the configured one, which counts as an address beside the one in use. `count` tells two
    equal messages of one millisecond apart.
    """
    by = nick_of(message.source)
    if len(message.params) != 2 or not by or "!" not in message.source or wire.is_same_nick(by, wire.nickname):
        return None
    target, text = str(message.params[0]), spoken_text(str(message.params[1]))
    if text is None or not text.strip():
        return None
    tags = dict(getattr(message, "tags", None) or {})
    channel = target.lstrip("".join(wire._status_message_prefixes)) if wire._status_message_prefixes else target
    sender = sender_id(wire, by, tags)
    chat_type, conversation, reply_to, mentioned = ChatType.DIRECT, ConversationId(sender), by, True
    if wire.is_channel(channel):
        names, casemapping = (wire.nickname, nick), str(wire._case_mapping)
        chat_type, conversation, reply_to = ChatType.CHANNEL, ConversationId(wire.folded(channel)), channel
        mentioned = any(mentions(text, name, casemapping) for name in names)
        for name in names:
            text = without_address(text, name, casemapping)
    return Inbound(
        event_key=event_key((server, target, by, str(message.params[1]), str(now_ms), str(count)), tags),
        sender=sender,
        conversation=conversation,
        chat_type=chat_type,
        text=text,
        target=reply_to,
        account=account,
        sender_name=by,
        mentioned=mentioned,
        timestamp=_milliseconds(tags, now_ms),
        meta={"mask": str(message.source), "nick": by},
    )

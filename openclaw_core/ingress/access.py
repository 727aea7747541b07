"""Who may speak to the agent: one check for every inbound event (behaviour.md 9.3, 9.4; reliability.md B1-B6).

Only immutable ids are compared, exactly. Missing, blank or unknown means no.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from openclaw_core.domain.channels import ChatType, Inbound

_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


class Refusal(StrEnum):
    """Why an event is not accepted."""

    NO_SENDER = "no_sender"
    DM_DISABLED = "dm_disabled"
    SENDER_NOT_ALLOWED = "sender_not_allowed"
    GROUP_DISABLED = "group_disabled"
    GROUP_NOT_ALLOWED = "group_not_allowed"
    NOT_MENTIONED = "not_mentioned"
    NO_TEXT = "no_text"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPolicy:
    """The common keys of a channel section."""

    dm_policy: str = "pairing"
    allow_from: frozenset[str] = frozenset()
    group_policy: str = "allowlist"
    group_allow_from: frozenset[str] = frozenset()
    groups: Mapping[str, Mapping[str, Any]] | None = None

    @classmethod
    def of(cls, channel: str, section: Mapping[str, Any]) -> AccessPolicy:
        """Read ``channels.<id>``; values of a wrong type count as absent."""
        groups = section.get("groups")
        allow = _ids(channel, section.get("allowFrom"))
        group_allow = section.get("groupAllowFrom")
        return cls(
            dm_policy=_word(section.get("dmPolicy"), "pairing"),
            allow_from=allow,
            group_policy=_word(section.get("groupPolicy"), "allowlist"),
            group_allow_from=allow if group_allow is None else _ids(channel, group_allow),
            groups={_lower(str(k)): _settings(v) for k, v in groups.items()} if isinstance(groups, Mapping) else {},
        )

    def refuse(self, event: Inbound) -> Refusal | None:
        """Why the event is refused, or None."""
        sender = event.sender
        if not isinstance(sender, str) or not sender.strip() or len(sender) > 512 or sender == "*":
            return Refusal.NO_SENDER
        if not event.text.strip() and not event.media:
            return Refusal.NO_TEXT
        return self._direct(sender) if event.chat_type is ChatType.DIRECT else self._group(event)

    def _direct(self, sender: str) -> Refusal | None:
        if self.dm_policy == "disabled":
            return Refusal.DM_DISABLED
        if self.dm_policy == "open" and "*" in self.allow_from:
            return None
        return None if _lower(sender) in self.allow_from else Refusal.SENDER_NOT_ALLOWED

    def _group(self, event: Inbound) -> Refusal | None:
        if self.group_policy not in ("allowlist", "open"):
            return Refusal.GROUP_DISABLED
        groups = self.groups or {}
        settings = groups.get(_lower(event.conversation), groups.get("*"))
        if settings is None and (self.group_policy == "allowlist" or groups):
            return Refusal.GROUP_NOT_ALLOWED
        settings = settings or {}
        if settings.get("enabled", True) is not True:
            return Refusal.GROUP_NOT_ALLOWED
        own = settings.get("allowFrom")
        senders = self.group_allow_from if own is None else _ids("", own)
        if self.group_policy != "open" and _lower(event.sender) not in senders and "*" not in senders:
            return Refusal.SENDER_NOT_ALLOWED
        if own is not None and _lower(event.sender) not in senders and "*" not in senders:
            return Refusal.SENDER_NOT_ALLOWED
        if settings.get("requireMention") is not False and not event.mentioned:
            return Refusal.NOT_MENTIONED
        return None


def _lower(text: str) -> str:
    """Lower case of ASCII letters only: beyond them, two different ids can have one lower case (KELVIN SIGN, k)."""
    return text.translate(_ASCII_LOWER)


def _settings(value: Any) -> Mapping[str, Any]:
    """One entry of `groups`; what is neither settings nor a plain yes switches the group off."""
    if isinstance(value, Mapping):
        return value
    return {} if value is None or value is True else {"enabled": False}


def _word(value: Any, default: str) -> str:
    return value.strip().lower() if isinstance(value, str) and value.strip() else default


def _ids(channel: str, value: Any) -> frozenset[str]:
    """Allowlist entries: lower case, without the channel's own prefix; blanks are nobody."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return frozenset()
    out: set[str] = set()
    for entry in value:
        if not isinstance(entry, str | int) or isinstance(entry, bool):
            continue
        text = _lower(str(entry).strip()).removeprefix(f"{channel}:" if channel else "")
        if text:
            out.add(text)
    return frozenset(out)

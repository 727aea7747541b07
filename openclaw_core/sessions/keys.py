"""Session keys: how a conversation maps to a routing bucket (behaviour.md 2.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from openclaw_core.domain.channels import ChatType
from openclaw_core.domain.ids import DEFAULT_AGENT, AgentId, SessionKey
from openclaw_core.errors import InvalidRequest

_AGENT = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_MAX_KEY = 512


def agent_id(text: str) -> AgentId:
    """Check an agent id; raises InvalidRequest."""
    lowered = text.strip().lower()
    if not _AGENT.fullmatch(lowered):
        raise InvalidRequest(
            f"'{text[:80]}' is not an agent id.", hint="Use letters, digits, '-' and '_', at most 64 characters."
        )
    return AgentId(lowered)


def main_key(agent: AgentId = DEFAULT_AGENT, main: str = "main") -> SessionKey:
    """The agent's main conversation, ``agent:<id>:main``."""
    return SessionKey(f"agent:{agent}:{main}")


def normalise(text: str, agent: AgentId = DEFAULT_AGENT) -> SessionKey:
    """A key as a person types it: lower case; a word without ``agent:`` belongs to `agent`.

    Raises InvalidRequest for empty, over-long or unprintable keys.
    """
    key = text.strip().lower()
    if not key or len(key) > _MAX_KEY or not key.isprintable() or any(c.isspace() for c in key):
        raise InvalidRequest(
            "The session key is empty, too long or contains blanks.", hint="Use a key such as agent:main:main."
        )
    if key.startswith("agent:"):
        parts = key.split(":", 2)
        if len(parts) < 3 or not parts[2]:
            raise InvalidRequest(f"'{key}' lacks its last part.", hint="Use a key such as agent:main:main.")
        agent_id(parts[1])
        return SessionKey(key)
    if key in ("global", "unknown") or key.split(":", 1)[0] in ("cron", "hook"):
        return SessionKey(key)
    return SessionKey(f"agent:{agent}:{key}")


def agent_of(key: SessionKey) -> AgentId:
    """The agent a key belongs to; keys without one belong to the default agent."""
    parts = key.split(":", 2)
    return AgentId(parts[1]) if len(parts) == 3 and parts[0] == "agent" else DEFAULT_AGENT


def _clean(part: str) -> str:
    return re.sub(r"[\s:]+", "_", part.strip().lower())


def _linked(channel: str, peer: str, links: Mapping[str, Sequence[str]]) -> str:
    """The canonical name of a peer that `session.identityLinks` joins with others."""
    for name, members in links.items():
        if f"{channel}:{peer}".lower() in {m.lower() for m in members}:
            return _clean(name)
    return _clean(peer)


def conversation_key(
    *,
    agent: AgentId,
    channel: str,
    account: str,
    chat_type: ChatType,
    peer: str,
    conversation: str,
    thread: str = "",
    dm_scope: str = "main",
    identity_links: Mapping[str, Sequence[str]] | None = None,
) -> SessionKey:
    """The key of a platform conversation. Group conversations never share a key with direct ones.

    `dm_scope` is ``main``, ``per-peer``, ``per-channel-peer`` or ``per-account-channel-peer``.
    """
    base = f"agent:{agent}:"
    if chat_type is ChatType.DIRECT:
        who = _linked(channel, peer, identity_links or {})
        match dm_scope:
            case "per-peer":
                base += f"dm:{who}"
            case "per-channel-peer":
                base += f"{channel}:dm:{who}"
            case "per-account-channel-peer":
                base += f"{channel}:{_clean(account)}:dm:{who}"
            case _:
                base += "main"
    else:
        kind = "group" if chat_type is ChatType.GROUP else "channel"
        base += f"{channel}:{kind}:{_clean(conversation)}"
    if thread:
        base += f":thread:{_clean(thread)}"
    return SessionKey(base)

"""The four ids with four scopes, and how they are made."""

from __future__ import annotations

import uuid
from typing import NewType

AgentId = NewType("AgentId", str)
"""A configured agent, pattern ``[a-z0-9][a-z0-9_-]{0,63}``."""

SessionKey = NewType("SessionKey", str)
"""Routing bucket of a conversation, stable over resets (``agent:main:main``)."""

SessionId = NewType("SessionId", str)
"""One transcript, a UUID."""

RunId = NewType("RunId", str)
"""One execution; the idempotency key of the request that started it."""

TaskId = NewType("TaskId", str)
"""One row of the task ledger, a UUID."""

SenderId = NewType("SenderId", str)
"""Immutable id of a person or bot on a platform. Never compared with a conversation id."""

ConversationId = NewType("ConversationId", str)
"""Id of a direct chat, group, room or thread on a platform."""

BootId = NewType("BootId", str)
"""One process that owns runs; alive as long as it holds its lock."""

DEFAULT_AGENT = AgentId("main")


def new_uuid() -> str:
    """A fresh random UUID in text form."""
    return str(uuid.uuid4())

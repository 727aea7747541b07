"""What the session index knows about a conversation (behaviour.md 2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from openclaw_core.domain.ids import AgentId, SessionId, SessionKey


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEntry:
    """One conversation and its present transcript. `fields` holds the camelCase entry fields of
    behaviour.md 2.3 (status, model, token counts, reports); times in epoch milliseconds."""

    key: SessionKey
    agent_id: AgentId
    session_id: SessionId
    updated_at: int
    session_started_at: int
    fields: Mapping[str, Any] = field(default_factory=dict)

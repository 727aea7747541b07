"""A turn: one message that becomes one run, and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from openclaw_core.domain.ids import AgentId, RunId, SessionId, SessionKey
from openclaw_core.domain.messages import UserMessage
from openclaw_core.domain.models import ModelInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """Bounds of one run: model requests, seconds in total (0 = none), seconds without a token."""

    max_model_requests: int = 160
    timeout_s: float = 600.0
    idle_s: float = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Everything a runtime needs to know before it starts."""

    run_id: RunId
    session_key: SessionKey
    session_id: SessionId
    agent_id: AgentId
    message: UserMessage
    model: ModelInfo
    channel: str
    system_prompt: str
    """The stable part; byte-equal from run to run while its causes do not change."""
    system_dynamic: str
    """The volatile part below the cache boundary."""
    thinking: str = "off"
    limits: RunLimits = field(default_factory=RunLimits)
    resumed: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)

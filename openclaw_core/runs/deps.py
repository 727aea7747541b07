"""What runs need from the process around them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openclaw_core.aio.clock import Clock
from openclaw_core.audit.writer import AuditWriter
from openclaw_core.contracts.runtime import Runtime
from openclaw_core.contracts.store import Store
from openclaw_core.domain.journal import InboxItem, OutboxItem
from openclaw_core.domain.models import ModelInfo
from openclaw_core.errors import OpenClawError
from openclaw_core.models.registry import ModelRegistry
from openclaw_core.prompt.builder import PromptBuilder
from openclaw_core.runs.agents import AgentDirectory
from openclaw_core.runs.conversation import HistoryReader
from openclaw_core.runs.hub import RunHub
from openclaw_core.tools.invoke import Gate

ReplyPlanner = Callable[[InboxItem, Sequence[Mapping[str, Any]], OpenClawError | None, int], Sequence[OutboxItem]]
"""Cuts a reply into outbox parts: (message, payloads, error, now)."""
Emit = Callable[[str, Mapping[str, Any]], Awaitable[None]]
"""Tells plugin listeners."""


@dataclass(slots=True, kw_only=True)
class RunDeps:
    """Everything a run needs; one object per process, replaced when the configuration changes."""

    store: Store
    clock: Clock
    hub: RunHub
    audit: AuditWriter
    agents: AgentDirectory
    models: ModelRegistry
    prompts: PromptBuilder
    history: HistoryReader
    runtime: Callable[[ModelInfo], tuple[str, Runtime]]
    gate: Gate
    plan_reply: ReplyPlanner
    emit: Emit
    rng: Callable[[], float]

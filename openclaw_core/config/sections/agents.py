"""``agents``: defaults and the agents themselves (behaviour.md 0.2, 1, 2.8, 3.2, 7.1)."""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from openclaw_core.config.sections.base import DurationMs, Section, nested_default

AGENT_ID = r"^[a-z0-9][a-z0-9_-]{0,63}$"
AgentName = Annotated[str, Field(pattern=AGENT_ID)]
MAIN = "main"
"""The agent that exists without configuration."""

Thinking = Literal["off", "minimal", "low", "medium", "high", "xhigh", "adaptive", "max", "ultra"]


class ModelChoice(Section):
    """A model and what is tried after it. Text alone is the primary."""

    primary: str = ""
    fallbacks: list[str] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _text(cls, value: Any) -> Any:
        return {"primary": value} if isinstance(value, str) else value


class ModelEntry(Section):
    """What the configuration says about one model reference."""

    alias: str = ""
    params: dict[str, Any] = Field(default_factory=dict)
    agent_runtime: dict[str, Any] | str | None = None
    streaming: bool | None = None


class RunRetries(Section):
    """Bound of model requests in a run: ``min(max, max(min, base + perProfile x profiles))``."""

    base: int = Field(default=24, ge=1)
    per_profile: int = Field(default=8, ge=0)
    min: int = Field(default=32, ge=1)
    max: int = Field(default=160, ge=1)


class MemoryFlush(Section):
    """A silent turn that saves memory before compaction."""

    enabled: bool = True
    soft_threshold_tokens: int = 4000
    force_flush_transcript_bytes: int | str = "2mb"
    prompt: str = ""
    system_prompt: str = ""
    model: str = ""


class Compaction(Section):
    """``agents.defaults.compaction`` (behaviour.md 2.8)."""

    mode: Literal["safeguard", "default"] = "safeguard"
    reserve_tokens: int = Field(default=16_384, ge=0)
    reserve_tokens_floor: int = Field(default=20_000, ge=0)
    keep_recent_tokens: int = Field(default=20_000, ge=0)
    timeout_seconds: int = Field(default=900, ge=1)
    identifier_policy: Literal["strict", "off", "custom"] = "strict"
    identifier_instructions: str = ""
    quality_guard: dict[str, Any] = Field(default_factory=dict)
    recent_turns_preserve: int = Field(default=3, ge=0, le=12)
    post_compaction_sections: list[str] | None = None
    model: str = ""
    provider: str = ""
    mid_turn_precheck: dict[str, Any] = Field(default_factory=dict)
    truncate_after_compaction: bool = False
    max_active_transcript_bytes: int | str | None = None
    notify_user: bool = False
    memory_flush: MemoryFlush = nested_default()


class AgentDefaults(Section):
    """``agents.defaults``. `history_turns` is ours: user turns of history that go to the model."""

    workspace: str = ""
    repo_root: str = ""
    model: ModelChoice = nested_default()
    models: dict[str, ModelEntry] = Field(default_factory=dict)
    image_model: ModelChoice | None = None
    max_concurrent: int = Field(default_factory=lambda: max(8, 4 * (os.cpu_count() or 1)), ge=1)
    timeout_seconds: int = Field(default=600, ge=0)
    context_tokens: int = Field(default=200_000, ge=1)
    bootstrap_max_chars: int = Field(default=20_000, ge=1)
    bootstrap_total_max_chars: int = Field(default=60_000, ge=1)
    bootstrap_prompt_truncation_warning: Literal["once", "off", "always"] = "once"
    context_injection: Literal["always", "continuation-skip", "never"] = "always"
    skip_bootstrap: bool = False
    skip_optional_bootstrap_files: list[str] = Field(default_factory=list)
    user_timezone: str = ""
    time_format: Literal["auto", "12", "24"] = "auto"
    thinking_default: Thinking | None = None
    verbose_default: Literal["off", "on", "full"] | None = None
    reasoning_default: Literal["off", "on", "stream"] | None = None
    history_turns: int = Field(default=100, ge=1)
    run_retries: RunRetries = nested_default()
    skills: list[str] | None = None
    params: dict[str, Any] = Field(default_factory=dict)
    subagents: dict[str, Any] = Field(default_factory=dict)
    compaction: Compaction = nested_default()
    context_limits: dict[str, Any] = Field(default_factory=dict)
    context_pruning: dict[str, Any] = Field(default_factory=dict)
    block_streaming_default: Literal["on", "off"] = "off"
    block_streaming_break: Literal["text_end", "message_end"] = "text_end"
    block_streaming_chunk: dict[str, Any] = Field(default_factory=dict)
    block_streaming_coalesce: dict[str, Any] = Field(default_factory=dict)
    human_delay: dict[str, Any] | str = "off"
    typing_mode: Literal["never", "instant", "thinking", "message"] | None = None
    typing_interval_seconds: int = Field(default=6, ge=1)
    media_max_mb: float = Field(default=5, gt=0)
    image_max_dimension_px: int = Field(default=1200, ge=1)
    model_idle_timeout_ms: DurationMs = Field(default=120_000, ge=1)
    """Ours: time without a byte from a model before the request counts as lost (behaviour.md 1.3)."""

    @field_validator("time_format", mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        return str(value) if value in (12, 24) else value


class AgentEntry(Section):
    """One agent: what differs from the defaults."""

    id: AgentName = MAIN
    default: bool = False
    name: str = ""
    description: str = ""
    workspace: str = ""
    agent_dir: str = ""
    model: ModelChoice | None = None
    models: dict[str, ModelEntry] = Field(default_factory=dict)
    skills: list[str] | None = None
    identity: dict[str, Any] = Field(default_factory=dict)
    group_chat: dict[str, Any] = Field(default_factory=dict)
    subagents: dict[str, Any] = Field(default_factory=dict)
    tools: dict[str, Any] = Field(default_factory=dict)
    runtime: dict[str, Any] = Field(default_factory=dict)
    agent_runtime: dict[str, Any] | str | None = None
    params: dict[str, Any] = Field(default_factory=dict)
    thinking_default: Thinking | None = None
    reasoning_default: Literal["off", "on", "stream"] | None = None
    timeout_seconds: int | None = Field(default=None, ge=0)
    context_tokens: int | None = Field(default=None, ge=1)
    history_turns: int | None = Field(default=None, ge=1)
    run_retries: RunRetries | None = None
    bootstrap_max_chars: int | None = Field(default=None, ge=1)
    bootstrap_total_max_chars: int | None = Field(default=None, ge=1)
    user_timezone: str = ""
    skip_bootstrap: bool | None = None


class AgentsSection(Section):
    """``agents``. Both spellings, ``list[]`` and ``entries{}``, are read; `by_id` is the one map."""

    defaults: AgentDefaults = nested_default()
    listed: list[AgentEntry] = Field(default_factory=list, alias="list")
    entries: dict[AgentName, AgentEntry] = Field(default_factory=dict)

    @field_validator("entries", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: {"id": key, **item} if isinstance(item, dict) else item for key, item in value.items()}

    @model_validator(mode="after")
    def _unique(self) -> AgentsSection:
        seen: set[str] = set(self.entries)
        for entry in self.listed:
            if entry.id in seen:
                raise ValueError(f"agent {entry.id!r} stands twice")
            seen.add(entry.id)
        return self

    def by_id(self) -> dict[str, AgentEntry]:
        """All agents by id; `main` is there even when nothing configures it and no other agent is."""
        agents = {entry.id: entry for entry in self.listed} | dict(self.entries)
        return agents or {MAIN: AgentEntry(default=True)}

    def default_id(self) -> str:
        """The agent that takes what names none: the one marked default, else `main`, else the first."""
        agents = self.by_id()
        marked = next((name for name, entry in agents.items() if entry.default), None)
        return marked or (MAIN if MAIN in agents else next(iter(agents)))

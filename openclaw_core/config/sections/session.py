"""``session`` and ``messages`` (behaviour.md 1.4, 1.6, 2)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from openclaw_core.config.sections.base import Bytes, DurationMs, Section, nested_default


class Reset(Section):
    """When a conversation starts anew. `at_hour` is local time of the gateway."""

    mode: Literal["daily", "idle", "none"] = "daily"
    at_hour: int = Field(default=4, ge=0, le=23)
    idle_minutes: int | None = Field(default=None, ge=1)


class WriteLock(Section):
    """Waiting for another writer of a session."""

    acquire_timeout_ms: DurationMs = Field(default=60_000, ge=0)
    stale_ms: DurationMs = Field(default=1_800_000, ge=0)
    max_hold_ms: DurationMs = Field(default=300_000, ge=0)


class Maintenance(Section):
    """Bounds of the session store (behaviour.md 2.3)."""

    mode: Literal["enforce", "warn", "off"] = "enforce"
    prune_after: DurationMs = 2_592_000_000
    max_entries: int = Field(default=500, ge=1)
    rotate_bytes: Bytes = 10 * 1024 * 1024
    reset_archive_retention: DurationMs | Literal[False] | None = None
    max_disk_bytes: Bytes | None = None
    high_water_bytes: Bytes | None = None


class AgentToAgent(Section):
    """Conversation between agents."""

    max_ping_pong_turns: int = Field(default=5, ge=0, le=20)


class SessionSection(Section):
    """``session``."""

    scope: Literal["per-sender", "global"] = "per-sender"
    dm_scope: Literal["main", "per-peer", "per-channel-peer", "per-account-channel-peer"] = "main"
    group_scope: Literal["per-group", "main"] = "per-group"
    main_key: str = "main"
    identity_links: dict[str, list[str]] = Field(default_factory=dict)
    reset: Reset = nested_default()
    reset_by_type: dict[str, Reset] = Field(default_factory=dict)
    reset_by_channel: dict[str, Reset] = Field(default_factory=dict)
    reset_triggers: list[str] = Field(default_factory=lambda: ["/new", "/reset"])
    idle_minutes: int | None = Field(default=None, ge=1)
    store: str = ""
    write_lock: WriteLock = nested_default()
    maintenance: Maintenance = nested_default()
    agent_to_agent: AgentToAgent = nested_default()
    send_policy: dict[str, Any] = Field(default_factory=dict)
    thread_bindings: dict[str, Any] = Field(default_factory=dict)
    typing_mode: Literal["never", "instant", "thinking", "message"] | None = None
    typing_interval_seconds: int | None = Field(default=None, ge=1)


class Queue(Section):
    """``messages.queue``: messages that arrive while a run is active (behaviour.md 1.4)."""

    mode: Literal["collect", "steer", "followup", "interrupt", "queue", "steer-backlog", "steer+backlog"] = "collect"
    by_channel: dict[str, str] = Field(default_factory=dict)
    debounce_ms: DurationMs = Field(default=1000, ge=0)
    debounce_ms_by_channel: dict[str, DurationMs] = Field(default_factory=dict)
    cap: int = Field(default=20, ge=1)
    drop: Literal["summarize", "old", "new"] = "summarize"


class InboundDebounce(Section):
    """``messages.inbound``: lines of one person that are read as one message."""

    debounce_ms: DurationMs = Field(default=2000, ge=0)
    by_channel: dict[str, DurationMs] = Field(default_factory=dict)


class GroupChat(Section):
    """``messages.groupChat``."""

    mention_patterns: list[str] = Field(default_factory=list)
    history_limit: int = Field(default=50, ge=0)
    require_mention: bool | None = None
    visible_replies: Literal["automatic", "message_tool"] | None = None


class MessagesSection(Section):
    """``messages``."""

    queue: Queue = nested_default()
    inbound: InboundDebounce = nested_default()
    group_chat: GroupChat = nested_default()
    ack_reaction: str = ""
    ack_reaction_scope: Literal["group-mentions", "group-all", "direct", "all", "off"] = "group-mentions"
    remove_ack_after_reply: bool = False
    response_prefix: str = ""
    message_prefix: str = ""
    visible_replies: Literal["automatic", "message_tool"] = "automatic"
    status_reactions: dict[str, Any] = Field(default_factory=dict)

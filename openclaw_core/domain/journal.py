"""Rows of the journal: what is durable on the way of a message (reliability.md 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from openclaw_core.domain.ids import AgentId, BootId, RunId, SessionId, SessionKey, TaskId


class InboxState(StrEnum):
    """new -> running -> answered | told | dead; `ignored` is a refused or aborted-before-start row."""

    NEW = "new"
    RUNNING = "running"
    ANSWERED = "answered"
    TOLD = "told"
    DEAD = "dead"
    IGNORED = "ignored"

    @property
    def final(self) -> bool:
        """Nothing more will happen to the row."""
        return self not in (InboxState.NEW, InboxState.RUNNING)


class StepState(StrEnum):
    """intent -> done | failed; `interrupted` when a crash left the outcome unknown."""

    INTENT = "intent"
    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class OutboxState(StrEnum):
    """pending -> sending -> sent | unknown | failed."""

    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    UNKNOWN = "unknown"
    FAILED = "failed"


class RunStatus(StrEnum):
    """How a run stands or ended."""

    ACTIVE = "active"
    OK = "ok"
    ERROR = "error"
    ABORTED = "aborted"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxItem:
    """A message to be accepted. `body` is JSON-able; `received_at` in epoch milliseconds.

    `owner` is set by a process that will run the row itself (``agent --local``); other processes
    leave such a row alone while that owner lives.
    """

    channel: str
    account: str
    event_key: str
    session_key: SessionKey
    agent_id: AgentId
    run_id: RunId
    sender: str
    kind: str
    body: Mapping[str, Any]
    received_at: int
    target: str = ""
    thread: str = ""
    owner: BootId | None = None
    task_id: TaskId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxRow:
    """An accepted message. `ord` grows in order of acceptance; `attempt` counts claims."""

    item: InboxItem
    ord: int
    state: InboxState
    attempt: int = 0
    not_before: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CursorUpdate:
    """A channel's place in the platform's stream of events."""

    channel: str
    account: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """Right to write for a run: refused with FenceLost when `epoch` is no longer current."""

    run_id: RunId
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One execution, active or ended. Times in epoch milliseconds."""

    run_id: RunId
    session_key: SessionKey
    session_id: SessionId
    agent_id: AgentId
    epoch: int
    owner: BootId
    status: RunStatus
    started_at: int
    ended_at: int | None = None
    task_id: TaskId | None = None
    channel: str = ""
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The right to run one inbox row."""

    row: InboxRow
    fence: Fence
    session_id: SessionId
    resumed: bool
    """An earlier owner started this run and died."""
    model_override: str = ""
    """The model that the session's entry asks for (its field ``modelOverride``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """A model request or a tool call of a run, number `k` within it. `meta` never holds content
    beyond names, counts and codes; `result` is the JSON form of the tool result."""

    run_id: RunId
    k: int
    kind: str
    name: str
    state: StepState
    call_id: str = ""
    digest: str = ""
    result: Mapping[str, Any] | None = None
    started_at: int = 0
    ended_at: int | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxItem:
    """A part of a reply to be sent. `idem` is unique for ever (``<run>:<part>``)."""

    idem: str
    channel: str
    account: str
    target: str
    session_key: SessionKey
    run_id: RunId
    part: int
    kind: str
    body: Mapping[str, Any]
    created_at: int
    thread: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxRow:
    """A part of a reply on its way."""

    id: int
    item: OutboxItem
    state: OutboxState
    attempt: int = 0
    not_before: int = 0
    remote_id: str = ""
    error: str = ""
    updated_at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnRow:
    """A child run and whom to tell when it ends; `announced` once the parent's inbox row exists."""

    child_run: RunId
    child_session: SessionKey
    parent_session: SessionKey
    state: str
    created_at: int
    ended_at: int | None = None
    announced: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)

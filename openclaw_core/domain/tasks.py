"""The task ledger's row (behaviour.md 11.1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class TaskStatus(StrEnum):
    """queued -> running -> one of the terminal states; a terminal state is never downgraded."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    LOST = "lost"

    @property
    def terminal(self) -> bool:
        """The task has ended."""
        return self not in (TaskStatus.QUEUED, TaskStatus.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """One task. Times in epoch milliseconds; `cleanup_after` = end + 7 days."""

    task_id: str
    runtime: str
    run_id: str
    session_key: str
    agent_id: str
    task: str
    status: TaskStatus
    created_at: int
    label: str = ""
    owner_key: str = ""
    requester_session_key: str = ""
    child_session_key: str = ""
    parent_task_id: str = ""
    source_id: str = ""
    scope_kind: str = "session"
    delivery_status: str = "not_applicable"
    notify_policy: str = "silent"
    started_at: int | None = None
    ended_at: int | None = None
    last_event_at: int | None = None
    cleanup_after: int | None = None
    error: str = ""
    progress_summary: str = ""
    terminal_summary: str = ""
    terminal_outcome: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPatch:
    """A change of a task within a journal transaction; None leaves a field alone."""

    task_id: str
    status: TaskStatus
    at: int
    error: str | None = None
    terminal_summary: str | None = None
    terminal_outcome: str | None = None
    delivery_status: str | None = None

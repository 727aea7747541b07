"""The store: journal, transcripts, session index, task ledger and audit index.

Every method is a coroutine and durable when it returns (DESIGN section 4): the write has reached
the disk with the strongest flush the backend offers. Methods that take a `Fence` raise FenceLost
when the run was taken over. StoreFull is raised when space ran out; nothing is half written then.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from openclaw_core.domain.audit import AuditEvent, AuditQuery
from openclaw_core.domain.ids import AgentId, BootId, RunId, SessionId, SessionKey
from openclaw_core.domain.journal import (
    Claim,
    CursorUpdate,
    Fence,
    InboxItem,
    InboxRow,
    InboxState,
    OutboxItem,
    OutboxRow,
    OutboxState,
    RunRow,
    RunStatus,
    SpawnRow,
    StepRow,
)
from openclaw_core.domain.sessions import SessionEntry
from openclaw_core.domain.tasks import TaskPatch, TaskRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """Answer to accept: `new` is False when the event key was known; `row` is the stored row."""

    new: bool
    row: InboxRow


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishPlan:
    """What the last transaction of a run writes: inbox state, outbox parts, the run's result, the
    task, step rows not yet written, session fields."""

    inbox_state: InboxState
    status: RunStatus
    at: int
    outbox: Sequence[OutboxItem] = ()
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    task: TaskPatch | None = None
    steps: Sequence[StepRow] = ()
    session_fields: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)


class Journal(Protocol):
    """Inbox, cursors, runs, steps, outbox and spawns."""

    async def accept(
        self, items: Sequence[InboxItem], *, cursor: CursorUpdate | None = None, tasks: Sequence[TaskRow] = ()
    ) -> list[Accepted]:
        """Store new messages and the channel's cursor in one transaction.

        An item whose ``(channel, account, event_key)`` or `run_id` is known is not stored again: its
        Accepted has ``new=False`` and the stored row. Its task row is then not written either.
        """
        ...

    async def cursor(self, channel: str, account: str) -> str | None:
        """The stored cursor of a channel account."""
        ...

    async def claim(
        self, session_key: SessionKey, owner: BootId, *, now: int, new_session_id: SessionId
    ) -> Claim | None:
        """Take the session's oldest unfinished message that may run now.

        In one transaction: the inbox row becomes running with attempt + 1, the run row is inserted or
        gets epoch + 1 and this owner, the session entry is created with `new_session_id` if there is
        none, the task becomes running. Returns None when nothing is due, when another living owner
        runs this session, or when the oldest row belongs to another living owner.
        """
        ...

    async def holder(self, session_key: SessionKey, owner: BootId) -> RunRow | None:
        """The active run of the session that another *living* owner holds, if any."""
        ...

    async def ready_sessions(self, owner: BootId, *, now: int) -> list[SessionKey]:
        """Sessions that have an unfinished message this owner could claim, oldest message first.

        Includes messages and runs of owners that are dead (recovery)."""
        ...

    async def write_steps(self, fence: Fence, steps: Sequence[StepRow]) -> None:
        """Insert or replace step rows by ``(run_id, k)``, in one transaction."""
        ...

    async def steps(self, run_id: RunId) -> list[StepRow]:
        """All step rows of a run by `k`."""
        ...

    async def finish(self, fence: Fence, plan: FinishPlan) -> None:
        """End a run: everything in `plan` in one transaction."""
        ...

    async def release(
        self, fence: Fence, *, now: int, not_before: int = 0, error: str = "", refund: bool = False
    ) -> None:
        """Give a run back unfinished (drain, busy): the inbox row becomes new again, the run row is
        removed from the active set so that a later claim resumes it. `refund` takes the attempt back."""
        ...

    async def settle_unclaimed(
        self,
        run_id: RunId,
        state: InboxState,
        *,
        status: RunStatus,
        at: int,
        error: Mapping[str, Any] | None,
        outbox: Sequence[OutboxItem] = (),
        task: TaskPatch | None = None,
    ) -> bool:
        """End a message that is not running (cancelled while queued, busy, dead letter) in one
        transaction: inbox row, an ended run row, notices, task. False when it is running or final."""
        ...

    async def inbox_row(self, run_id: RunId) -> InboxRow | None:
        """The inbox row of a run id."""
        ...

    async def run(self, run_id: RunId) -> RunRow | None:
        """The run row, active or ended."""
        ...

    async def runs(self, *, session_key: SessionKey | None = None, limit: int = 20) -> list[RunRow]:
        """Latest runs first, of one session or of all."""
        ...

    async def outbox_add(self, items: Sequence[OutboxItem]) -> None:
        """Queue messages that belong to no running run (notices, sends by a person). Items whose
        `idem` is known are left out."""
        ...

    async def outbox_due(self, *, now: int, limit: int = 100) -> list[OutboxRow]:
        """Parts to send: for each ``(channel, account, target)`` only the oldest one that is not in a
        final state, if it is `pending` and due, or `sending` (left over from a crash)."""
        ...

    async def outbox_mark(
        self,
        row_id: int,
        state: OutboxState,
        *,
        now: int,
        remote_id: str = "",
        error: str = "",
        not_before: int = 0,
        notice: OutboxItem | None = None,
    ) -> None:
        """Change a part's state; `sending` raises its attempt. A `notice` is queued in the same
        transaction (left out when its `idem` is known)."""
        ...

    async def outbox_of(self, run_id: RunId) -> list[OutboxRow]:
        """All parts of a run in order."""
        ...

    async def spawn_open(self, row: SpawnRow, *, item: InboxItem, task: TaskRow | None = None) -> None:
        """Book a child run with its first message, in one transaction."""
        ...

    async def spawn_finish(self, child_run: RunId, *, state: str, at: int, announce: InboxItem) -> bool:
        """End a child and insert the parent's message in one transaction; False when already announced."""
        ...

    async def prune(self, *, before: int, keep: int = 1000) -> int:
        """Forget settled messages received before an epoch millisecond, with their runs, steps and outbox
        parts, some hundred at a time; returns how many. Never one that is open, whose reply is not out, or
        that a task row points to, and never one of the last `keep`. `before` lies further back than any
        channel redelivers."""
        ...

    async def counts(self) -> Mapping[str, int]:
        """Reconciliation: accepted, answered, told, dead, ignored, pending, forgotten, and outbox states
        (``outbox_pending`` ...). accepted is the sum of the six that follow it, always."""
        ...


class Transcript(Protocol):
    """One session's append-only record, opened under its write lock."""

    @property
    def path(self) -> str:
        """Where the record lies, for people."""
        ...

    async def tail(self, *, min_entries: int, until_id: str | None = None) -> list[Mapping[str, Any]]:
        """At least the last `min_entries` readable lines (all, if there are fewer), oldest first,
        without the header; reaches back to the line `until_id` where given and present. Lines that
        other programs appended are included. Cost does not grow with the length of the file."""
        ...

    async def append(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """Append lines that are not there yet, by their `id`. `parentId` is filled in with the id of
        the line before. One write, length checked, flushed to disk; on a short write the file is cut
        back and StoreFull raised."""
        ...


class Transcripts(Protocol):
    """All transcripts."""

    def open(
        self, agent_id: AgentId, session_id: SessionId, *, owner: str, cwd: str, timeout_s: float
    ) -> AbstractAsyncContextManager[Transcript]:
        """Open for writing under the session write lock, creating header and file when new.

        Raises SessionBusy naming the holder (pid and path) after `timeout_s` seconds. Not re-entrant.
        A torn tail is repaired first: its bytes go to a quarantine file beside the transcript."""
        ...

    def read(self, agent_id: AgentId, session_id: SessionId) -> AsyncIterator[Mapping[str, Any]]:
        """All readable lines from the header on, without lock; broken lines are passed over."""
        ...

    async def exists(self, agent_id: AgentId, session_id: SessionId) -> bool:
        """Whether a transcript is there."""
        ...

    async def archive(self, agent_id: AgentId, session_id: SessionId, *, reason: str, at: int) -> None:
        """Rename to ``<id>.jsonl.<reason>.<ts>`` (behaviour.md 2.3); nothing is deleted."""
        ...


class SessionIndex(Protocol):
    """Session key -> entry."""

    async def get(self, key: SessionKey) -> SessionEntry | None:
        """The entry of a key."""
        ...

    async def ensure(self, key: SessionKey, agent_id: AgentId, *, new_session_id: SessionId, now: int) -> SessionEntry:
        """The entry, created when there is none."""
        ...

    async def update(self, key: SessionKey, fields: Mapping[str, Any], *, now: int) -> None:
        """Merge camelCase fields into the entry."""
        ...

    async def reset(self, key: SessionKey, *, new_session_id: SessionId, now: int) -> SessionEntry | None:
        """Point the key to a new, empty transcript; returns the old entry."""
        ...

    async def list(self, *, agent_id: AgentId | None = None, limit: int = 100) -> list[SessionEntry]:
        """Latest first."""
        ...


class TaskLedger(Protocol):
    """The task rows (behaviour.md 11.1)."""

    async def put(self, row: TaskRow) -> None:
        """Insert a task that no journal transaction creates."""
        ...

    async def patch(self, patch: TaskPatch) -> TaskRow | None:
        """Change a task; a terminal state is never changed. Returns the row as it now stands."""
        ...

    async def get(self, task_id: str) -> TaskRow | None:
        """One task."""
        ...

    async def find(self, any_id: str) -> TaskRow | None:
        """By task id, run id, or session key (its latest)."""
        ...

    async def list(self, *, runtime: str = "", status: str = "", limit: int = 500) -> list[TaskRow]:
        """Latest first."""
        ...

    async def sweep(self, *, now: int) -> int:
        """Remove tasks past `cleanup_after`, and mark as lost the unfinished ones whose run has ended
        or does not exist. Returns how many rows changed."""
        ...


class AuditIndex(Protocol):
    """The audit events."""

    async def append(self, events: Sequence[AuditEvent]) -> None:
        """Store events, giving each the next sequence number."""
        ...

    async def query(self, query: AuditQuery) -> tuple[list[AuditEvent], str | None]:
        """Newest first, and the cursor of the next page if there is one."""
        ...

    async def prune(self, *, now: int) -> int:
        """Drop at most 1024 rows that are older than 30 days or beyond 100,000."""
        ...


class Store(Protocol):
    """One backend for everything durable."""

    journal: Journal
    transcripts: Transcripts
    sessions: SessionIndex
    tasks: TaskLedger
    audit: AuditIndex

    async def start(self, boot_id: BootId, *, kind: str) -> None:
        """Open the state, migrate it, and register this process as a living owner until `aclose`
        (or its death). `kind` is ``gateway``, ``local`` or ``reader``. Raises StoreVersionError
        before touching state of an unknown version."""
        ...

    async def aclose(self) -> None:
        """Flush, checkpoint, give up the ownership."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreEnv:
    """What a store factory gets: the state directory and its own configuration section."""

    state_dir: str
    config: Any = None

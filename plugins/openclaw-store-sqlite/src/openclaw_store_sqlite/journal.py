"""The journal: every durable step of a message, on the writer thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from openclaw_core.sdk import (
    Accepted,
    BootId,
    Claim,
    CursorUpdate,
    Fence,
    FinishPlan,
    InboxItem,
    InboxRow,
    InboxState,
    OutboxItem,
    OutboxRow,
    OutboxState,
    RunId,
    RunRow,
    RunStatus,
    SessionId,
    SessionKey,
    SpawnRow,
    StepRow,
    TaskPatch,
    TaskRow,
)
from openclaw_store_sqlite import inbox, outbox, runs, spawns
from openclaw_store_sqlite.owners import Owners
from openclaw_store_sqlite.prune import prune
from openclaw_store_sqlite.writer import Writer


class SqliteJournal:
    """See openclaw_core.contracts.store.Journal."""

    def __init__(self, writer: Writer, owners: Owners) -> None:
        self._writer = writer
        self._owners = owners

    async def accept(
        self, items: Sequence[InboxItem], *, cursor: CursorUpdate | None = None, tasks: Sequence[TaskRow] = ()
    ) -> list[Accepted]:
        """See Journal."""
        return await self._writer.write("accept", lambda c: inbox.accept(c, items, cursor, tasks))

    async def cursor(self, channel: str, account: str) -> str | None:
        """See Journal."""
        return await self._writer.read(lambda c: inbox.cursor(c, channel, account))

    async def claim(
        self, session_key: SessionKey, owner: BootId, *, now: int, new_session_id: SessionId
    ) -> Claim | None:
        """See Journal."""

        def op(connection: sqlite3.Connection) -> Claim | None:
            return runs.claim(connection, self._owners, session_key, owner, now=now, new_session_id=new_session_id)

        return await self._writer.write("claim", op)

    async def holder(self, session_key: SessionKey, owner: BootId) -> RunRow | None:
        """See Journal."""
        return await self._writer.read(lambda c: runs.holder(c, self._owners, session_key, owner))

    async def ready_sessions(self, owner: BootId, *, now: int) -> list[SessionKey]:
        """See Journal."""
        return await self._writer.read(lambda c: runs.ready(c, self._owners, owner, now))

    async def write_steps(self, fence: Fence, steps: Sequence[StepRow]) -> None:
        """See Journal."""
        await self._writer.write("steps", lambda c: runs.write_steps(c, fence, steps))

    async def steps(self, run_id: RunId) -> list[StepRow]:
        """See Journal."""
        return await self._writer.read(lambda c: runs.steps_of(c, run_id))

    async def finish(self, fence: Fence, plan: FinishPlan) -> None:
        """See Journal."""
        await self._writer.write("finish", lambda c: runs.finish(c, fence, plan))

    async def release(
        self, fence: Fence, *, now: int, not_before: int = 0, error: str = "", refund: bool = False
    ) -> None:
        """See Journal."""
        op = partial(runs.release, fence=fence, now=now, not_before=not_before, error=error, refund=refund)
        await self._writer.write("release", op)

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
        """See Journal."""

        def op(connection: sqlite3.Connection) -> bool:
            return inbox.settle(
                connection, self._owners, run_id, state, status=status, at=at, error=error, notices=outbox, task=task
            )

        return await self._writer.write("settle", op)

    async def inbox_row(self, run_id: RunId) -> InboxRow | None:
        """See Journal."""
        return await self._writer.read(lambda c: inbox.get(c, run_id))

    async def run(self, run_id: RunId) -> RunRow | None:
        """See Journal."""
        return await self._writer.read(lambda c: runs.get(c, run_id))

    async def runs(self, *, session_key: SessionKey | None = None, limit: int = 20) -> list[RunRow]:
        """See Journal."""
        return await self._writer.read(lambda c: runs.latest(c, session_key, limit))

    async def outbox_add(self, items: Sequence[OutboxItem]) -> None:
        """See Journal."""
        await self._writer.write("outbox_add", lambda c: outbox.add(c, items))

    async def outbox_due(self, *, now: int, limit: int = 100) -> list[OutboxRow]:
        """See Journal."""
        return await self._writer.read(lambda c: outbox.due(c, self._owners, now, limit))

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
        """See Journal. Raises FenceLost when another living owner has the part, or it is final already."""

        def op(connection: sqlite3.Connection) -> None:
            outbox.mark(
                connection,
                self._owners,
                row_id,
                state,
                now=now,
                remote_id=remote_id,
                error=error,
                not_before=not_before,
                notice=notice,
            )

        await self._writer.write("outbox_mark", op)

    async def outbox_of(self, run_id: RunId) -> list[OutboxRow]:
        """See Journal."""
        return await self._writer.read(lambda c: outbox.of_run(c, run_id))

    async def spawn_open(self, row: SpawnRow, *, item: InboxItem, task: TaskRow | None = None) -> None:
        """See Journal."""
        await self._writer.write("spawn_open", lambda c: spawns.open_spawn(c, row, item, task))

    async def spawn_finish(self, child_run: RunId, *, state: str, at: int, announce: InboxItem) -> bool:
        """See Journal."""

        def op(connection: sqlite3.Connection) -> bool:
            return spawns.finish_spawn(connection, child_run, state=state, at=at, announce=announce)

        return await self._writer.write("spawn_finish", op)

    async def prune(self, *, before: int, keep: int = 1000) -> int:
        """See Journal."""
        return await self._writer.write("prune", lambda c: prune(c, before, keep))

    async def counts(self) -> Mapping[str, int]:
        """See Journal."""
        return await self._writer.read(inbox.counts)

"""One turn with everything the store writes, in the order of the product; may be killed and run again.

Run as ``turn_program.py STATE BOOT``: prints a line for each write that failed for lack of space.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

from openclaw_store_sqlite.store import SqliteStore

from openclaw_core.sdk import (
    AuditEvent,
    BootId,
    FinishPlan,
    InboxState,
    OutboxState,
    RunId,
    RunStatus,
    SessionId,
    SessionKey,
    SpawnRow,
    StepRow,
    StepState,
    StoreFull,
    TaskPatch,
    TaskStatus,
)
from openclaw_core.testing.contracts.store_backend import AGENT, MAIN, message, part, task, with_task

T = TypeVar("T")
CHILD = message(5, session="agent:main:subagent:1")
SPAWN = SpawnRow(
    child_run=RunId("r5"),
    child_session=SessionKey("agent:main:subagent:1"),
    parent_session=MAIN,
    state="running",
    created_at=1,
)


async def again(work: Callable[[], Awaitable[T]]) -> T:
    """As a person would: free some space, then the product goes on."""
    try:
        return await work()
    except StoreFull as error:
        print("full:", error.code, flush=True)
        return await work()


async def run(store: SqliteStore, boot: str) -> None:
    journal = store.journal
    await again(lambda: journal.accept([with_task(1)], tasks=[task(1)]))
    claim = await again(lambda: journal.claim(MAIN, BootId(boot), now=5000, new_session_id=SessionId("one")))
    if claim is not None and claim.fence.run_id == "r1":
        fence, run_id = claim.fence, claim.fence.run_id

        async def lines() -> None:
            opened = store.transcripts.open(AGENT, claim.session_id, owner=boot, cwd="/", timeout_s=5)
            async with opened as transcript:
                await again(lambda: transcript.append([{"type": "message", "id": "u", "text": "\u2028" * 40}]))
                await again(
                    lambda: journal.write_steps(
                        fence, [StepRow(run_id=run_id, k=0, kind="tool", name="x", state=StepState.INTENT)]
                    )
                )
                await again(lambda: transcript.append([{"type": "message", "id": "a"}, {"type": "message", "id": "t"}]))

        await again(lines)
        await again(lambda: journal.spawn_open(SPAWN, item=CHILD))
        plan = FinishPlan(
            inbox_state=InboxState.ANSWERED,
            status=RunStatus.OK,
            at=6000,
            outbox=[part("r1", 0), part("r1", 1)],
            task=TaskPatch(task_id="t1", status=TaskStatus.SUCCEEDED, at=6000),
            session_fields={"status": "done"},
        )
        await again(lambda: journal.finish(fence, plan))
    announce = message(6, event_key="announce:r5")
    await again(lambda: journal.spawn_finish(RunId("r5"), state="ok", at=7000, announce=announce))
    await send(store)
    event = AuditEvent(
        event_id="a", occurred_at=1, kind="agent_run", action="x", status="started", actor_type="user", actor_id="cli"
    )
    await again(lambda: store.audit.append([event]))
    await again(lambda: store.sessions.update(MAIN, {"label": "x"}, now=8000))


async def send(store: SqliteStore) -> None:
    """The sender of a channel that can neither send twice nor look."""
    while rows := await store.journal.outbox_due(now=9000):
        row = rows[0]

        def mark(state: OutboxState, **more: object) -> Awaitable[None]:
            return store.journal.outbox_mark(row.id, state, now=9000, **more)  # noqa: B023  # awaited in this round

        if row.state is OutboxState.SENDING:
            notice = part("r1", 50 + row.id, idem=f"{row.item.idem}:notice", kind="notice")
            await again(lambda: mark(OutboxState.UNKNOWN, notice=notice))  # noqa: B023  # as above
            continue
        await again(lambda: mark(OutboxState.SENDING))  # as above
        await again(lambda: mark(OutboxState.SENT, remote_id="m"))  # as above


async def main(state: str, boot: str) -> None:
    store = SqliteStore(state)
    await store.start(BootId(boot), kind="gateway")
    await run(store, boot)
    await store.aclose()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))

"""A turn in this process, beside a gateway or without one."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from openclaw_core.cli.entry import started
from openclaw_core.cli.state import CliState
from openclaw_core.domain.ids import RunId, SessionKey
from openclaw_core.domain.journal import RunStatus
from openclaw_core.errors import SessionBusy
from openclaw_core.gateway.engine import Engine
from openclaw_core.runs.hub import StreamEvent, ended
from openclaw_core.sessions.keys import agent_id, agent_of, main_key, normalise

_POLL_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """A message as the command line gives it."""

    message: str
    run_id: RunId
    agent: str = ""
    session_key: str = ""
    model: str = ""
    thinking: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)


async def open_engine(state: CliState) -> Engine:
    """The engine of a local turn."""
    from openclaw_core.cli.logfile import log_to_file

    loaded = state.load()
    log_to_file(state, loaded)
    engine = await Engine.open(state.paths, loaded, kind="local")
    started()
    return engine


async def local_turn(
    engine: Engine, request: TurnRequest, *, heard: Callable[[StreamEvent], None] | None = None
) -> Mapping[str, Any]:
    """Accept the message and run it here; returns the run's outcome.

    Waits for a session that another process works on, up to ``session.writeLock.acquireTimeoutMs``; the
    outcome is then the error ``session_busy``. SIGINT stops the run and keeps the session intact.
    """
    agent = agent_id(request.agent) if request.agent else engine.agents.default_id
    config = engine.loaded.config
    key = normalise(request.session_key, agent) if request.session_key else main_key(agent, config.session.main_key)
    if key.startswith("agent:"):
        agent = agent_of(key)
    engine.agents.get(agent)
    body: dict[str, Any] = {"text": request.message, **request.body}
    if request.model:
        body["model"] = engine.models.resolve(request.model).ref
    if request.thinking:
        body["thinking"] = request.thinking
    stop = engine.hub.subscribe(heard) if heard is not None else None
    loop = asyncio.get_running_loop()
    interrupted = asyncio.Event()
    loop.add_signal_handler(signal.SIGINT, interrupted.set)
    loop.add_signal_handler(signal.SIGTERM, interrupted.set)
    try:
        await engine.door.request(
            channel="cli", run_id=request.run_id, session_key=key, agent=agent, body=body, with_task=True
        )
        return await _wait(
            engine, request.run_id, key, config.session.write_lock.acquire_timeout_ms / 1000, interrupted
        )
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        loop.remove_signal_handler(signal.SIGTERM)
        if stop is not None:
            stop()


async def _wait(
    engine: Engine, run_id: RunId, key: SessionKey, busy_s: float, interrupted: asyncio.Event
) -> Mapping[str, Any]:
    clock = engine.clock
    waiting_since = clock.monotonic()
    while True:
        outcome = await engine.hub.wait(run_id, _POLL_S)
        if outcome is not None:
            return outcome
        if interrupted.is_set():
            interrupted.clear()
            await engine.dispatcher.cancel(run_id, "interrupted at the terminal")
            continue
        if any(a.session_key == key for a in engine.dispatcher.active):
            waiting_since = clock.monotonic()
            continue
        row = await engine.store.journal.run(run_id)
        if row is not None and row.status is not RunStatus.ACTIVE:
            return ended(row)
        engine.dispatcher.notify(key)
        if clock.monotonic() - waiting_since >= busy_s:
            holder = await engine.store.journal.holder(key, engine.boot_id)
            who = f" (run {holder.run_id})" if holder is not None else ""
            error = SessionBusy(f"The session {key} has been in use by another process for {busy_s:g} seconds{who}.")
            inbox = await engine.store.journal.inbox_row(run_id)
            task_id = inbox.item.task_id if inbox is not None else None
            await engine.dispatcher.settle(run_id, error, RunStatus.ERROR, task_id=task_id)

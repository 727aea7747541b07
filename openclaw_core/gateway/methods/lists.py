"""Lists: sessions, tasks, audit, models, plugins."""

from __future__ import annotations

from typing import Any

from openclaw_core.domain.audit import AuditQuery
from openclaw_core.domain.ids import AgentId, RunId, SessionId, new_uuid
from openclaw_core.errors import NotFound
from openclaw_core.gateway.methods.agent import target
from openclaw_core.gateway.rpc import Call, method
from openclaw_core.observe.trace import build_trace
from openclaw_core.sessions.keys import agent_of
from openclaw_core.sessions.view import session_row
from openclaw_core.tasks.view import task_row


@method("sessions.list")
async def sessions_list(call: Call) -> dict[str, Any]:
    """Sessions, latest first."""
    limit = call.number("limit", 100, least=1, most=1000)
    agent = call.text("agentId", "")
    engine = call.app.engine
    entries = await engine.store.sessions.list(agent_id=AgentId(agent) if agent else None, limit=limit)
    now = engine.clock.now_ms()
    return {"count": len(entries), "sessions": [session_row(e, now) for e in entries]}


@method("sessions.reset")
async def sessions_reset(call: Call) -> dict[str, Any]:
    """Begin a new transcript under the same key; the old one is archived."""
    _, key = target(call)
    engine = call.app.engine
    now = engine.clock.now_ms()
    await engine.dispatcher.cancel_session(key, "session reset")
    old = await engine.store.sessions.reset(key, new_session_id=SessionId(new_uuid()), now=now)
    if old is not None and await engine.store.transcripts.exists(agent_of(key), old.session_id):
        await engine.store.transcripts.archive(agent_of(key), old.session_id, reason="reset", at=now)
    entry = await engine.store.sessions.get(key)
    return {"ok": True, "key": key, "sessionId": entry.session_id if entry else None}


@method("tasks.list")
async def tasks_list(call: Call) -> dict[str, Any]:
    """Tasks, latest first."""
    runtime, status = call.text("runtime", ""), call.text("status", "")
    limit = call.number("limit", 500, least=1, most=5000)
    rows = await call.app.engine.store.tasks.list(runtime=runtime, status=status, limit=limit)
    return {
        "count": len(rows),
        "runtime": runtime or None,
        "status": status or None,
        "tasks": [task_row(r) for r in rows],
    }


@method("tasks.get")
async def tasks_get(call: Call) -> dict[str, Any]:
    """One task by task id, run id or session key."""
    row = await call.app.engine.store.tasks.find(call.text("taskId"))
    if row is None:
        raise NotFound("There is no such task.", hint="See `openclaw tasks list`.")
    return {"task": task_row(row)}


@method("tasks.cancel")
async def tasks_cancel(call: Call) -> dict[str, Any]:
    """Stop a task's run; a task that has ended stays as it is."""
    store = call.app.engine.store
    row = await store.tasks.find(call.text("taskId"))
    if row is None:
        raise NotFound("There is no such task.", hint="See `openclaw tasks list`.")
    if row.status.terminal:
        return {"ok": True, "cancelled": False, "reason": "already ended", "task": task_row(row)}
    cancelled = await call.app.engine.dispatcher.cancel(RunId(row.run_id), "cancelled by the owner")
    await call.app.engine.hub.wait(RunId(row.run_id), 10.0) if cancelled else None
    after = await store.tasks.get(row.task_id)
    return {"ok": True, "cancelled": cancelled, "task": task_row(after or row)}


@method("audit.list")
async def audit_list(call: Call) -> dict[str, Any]:
    """Audit events, newest first."""
    await call.app.engine.audit.flush()
    query = AuditQuery(
        agent_id=call.text("agentId", ""),
        session_key=call.text("sessionKey", ""),
        run_id=call.text("runId", ""),
        kind=call.text("kind", ""),
        status=call.text("status", ""),
        after=call.optional_number("after"),
        before=call.optional_number("before"),
        limit=call.number("limit", 100, least=1, most=500),
        cursor=call.text("cursor", ""),
    )
    events, cursor = await call.app.engine.store.audit.query(query)
    return {"events": [e.as_dict() for e in events], "nextCursor": cursor}


@method("models.list")
async def models_list(call: Call) -> dict[str, Any]:
    """Models of usable providers; all with `all: true`."""
    rows = [r for r in call.app.engine.models.rows() if r.available or call.flag("all")]
    return {"count": len(rows), "models": [r.as_dict() for r in rows]}


@method("plugins.list")
async def plugins_list(call: Call) -> dict[str, Any]:
    """Every installed plugin and how it stands."""
    report = call.app.engine.plugins.report
    return {"plugins": [row.as_dict() for row in report.rows.values()], "diagnostics": list(report.diagnostics)}


@method("trace.get")
async def trace_get(call: Call) -> dict[str, Any]:
    """The joined timeline of one run (`openclaw trace`)."""
    await call.app.engine.audit.flush()
    return await build_trace(call.app.engine.store, call.text("run", ""), last=call.flag("last"))

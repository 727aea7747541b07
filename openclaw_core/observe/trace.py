"""`openclaw trace`: one timeline of a run out of the five planes (DESIGN section 10). Metadata only."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openclaw_core.contracts.store import Store
from openclaw_core.domain.audit import AuditEvent, AuditQuery
from openclaw_core.domain.ids import RunId, SessionKey
from openclaw_core.domain.journal import InboxRow, OutboxRow, RunRow, RunStatus, StepRow
from openclaw_core.domain.tasks import TaskRow
from openclaw_core.errors import NotFound

PLANES = ("session", "transcript", "audit", "tasks", "journal", "logs")
_MAX_LOG_BYTES = 64 * 1024 * 1024


@dataclass(slots=True, kw_only=True)
class _Planes:
    """Everything that is known about one run."""

    run: RunRow | None
    inbox: InboxRow | None
    task: TaskRow | None
    steps: Sequence[StepRow]
    outbox: Sequence[OutboxRow]
    audit: Sequence[AuditEvent]
    lines: Sequence[Mapping[str, Any]]
    session: Mapping[str, Any]
    logs: Sequence[Mapping[str, Any]] = field(default_factory=list)


async def build_trace(
    store: Store, ident: str, *, last: bool = False, log_files: Sequence[Path] = ()
) -> dict[str, Any]:
    """The trace of a run found by run id, task id, session key (its last run), or the last run of all.

    Raises NotFound.
    """
    run_id = await _find(store, ident, last)
    planes = await _collect(store, run_id, log_files)
    timeline = sorted(_events(planes), key=lambda e: (e["at"], _RANK.get(str(e["plane"]), 9)))
    start = timeline[0]["at"] if timeline else 0
    for event in timeline:
        event["offsetMs"] = event["at"] - start
    return {
        "run": _head(planes, run_id),
        "summary": _summary(planes),
        "timeline": timeline,
        "planes": {name: sum(1 for e in timeline if e["plane"] == name) for name in PLANES},
        "missing": _missing(planes),
    }


_RANK = {"journal": 0, "tasks": 1, "session": 2, "audit": 3, "transcript": 4, "logs": 5}


async def _find(store: Store, ident: str, last: bool) -> RunId:
    if last or not ident:
        runs = await store.journal.runs(limit=1)
        if not runs:
            raise NotFound("There is no run yet.", hint='Start one: openclaw agent --message "hello"')
        return runs[0].run_id
    if await store.journal.inbox_row(RunId(ident)) is not None or await store.journal.run(RunId(ident)) is not None:
        return RunId(ident)
    task = await store.tasks.find(ident)
    if task is not None:
        return RunId(task.run_id)
    key = ident if ident.startswith("agent:") else f"agent:main:{ident}"
    runs = await store.journal.runs(session_key=SessionKey(key), limit=1)
    if runs:
        return runs[0].run_id
    raise NotFound(
        f"No run, task or session '{ident}' is known.", hint="Try --last, or look with `openclaw tasks list`."
    )


async def _collect(store: Store, run_id: RunId, log_files: Sequence[Path]) -> _Planes:
    run = await store.journal.run(run_id)
    inbox = await store.journal.inbox_row(run_id)
    task = await store.tasks.find(run_id)
    key = run.session_key if run is not None else inbox.item.session_key if inbox is not None else None
    entry = await store.sessions.get(key) if key is not None else None
    lines: list[Mapping[str, Any]] = []
    if run is not None:
        async for line in store.transcripts.read(run.agent_id, run.session_id):
            if line.get("runId") == run_id:
                lines.append(line)
    events, _ = await store.audit.query(AuditQuery(run_id=run_id, limit=500))
    return _Planes(
        run=run,
        inbox=inbox,
        task=task,
        steps=await store.journal.steps(run_id),
        outbox=await store.journal.outbox_of(run_id),
        audit=events,
        lines=lines,
        session=entry.fields if entry is not None else {},
        logs=list(_log_lines(log_files, run_id)),
    )


def _log_lines(files: Sequence[Path], run_id: str) -> Iterable[Mapping[str, Any]]:
    for path in files:
        try:
            if path.stat().st_size > _MAX_LOG_BYTES:
                continue
            text = path.read_bytes()
        except OSError:
            continue
        for raw in text.split(b"\n"):
            if run_id.encode() not in raw:
                continue
            try:
                row = json.loads(raw)
            except ValueError:
                continue
            if isinstance(row, dict) and row.get("runId") == run_id:
                yield row


def _event(at: int | None, plane: str, event: str, **facts: Any) -> dict[str, Any]:
    kept = {k: v for k, v in facts.items() if v not in (None, "", [])}
    return {"at": at or 0, "plane": plane, "event": event, **kept}


def _events(planes: _Planes) -> Iterable[dict[str, Any]]:
    if planes.inbox is not None:
        item = planes.inbox.item
        yield _event(
            item.received_at, "journal", "message accepted", channel=item.channel, attempt=planes.inbox.attempt
        )
    if planes.run is not None:
        run = planes.run
        yield _event(run.started_at, "journal", "run claimed", epoch=run.epoch)
        if run.ended_at is not None:
            code = (run.error or {}).get("code")
            yield _event(run.ended_at, "journal", "run ended", status=run.status.value, errorCode=code)
    if planes.task is not None:
        task = planes.task
        yield _event(task.created_at, "tasks", "task created", taskId=task.task_id, runtime=task.runtime)
        if task.started_at:
            yield _event(task.started_at, "tasks", "task running")
        if task.ended_at:
            yield _event(task.ended_at, "tasks", f"task {task.status.value}", summary=task.terminal_summary)
    yield from _session_events(planes)
    for step in planes.steps:
        yield from _step_events(step)
    for line in planes.lines:
        yield _line_event(line)
    for audit in planes.audit:
        yield _event(
            audit.occurred_at,
            "audit",
            audit.action,
            status=audit.status,
            tool=audit.tool_name,
            errorCode=audit.error_code,
            durationMs=audit.duration_ms,
        )
    for row in planes.outbox:
        yield _event(row.item.created_at, "journal", "reply queued", part=row.item.part, kind=row.item.kind)
        if row.state.value != "pending":
            yield _event(row.updated_at, "journal", f"reply {row.state.value}", part=row.item.part, attempt=row.attempt)
    for log in planes.logs:
        yield _event(log.get("time"), "logs", str(log.get("message", "")), level=log.get("level"))


def _session_events(planes: _Planes) -> Iterable[dict[str, Any]]:
    run, fields = planes.run, planes.session
    if run is None or fields.get("endedAt") != run.ended_at:
        return  # a later run has written over it
    yield _event(fields.get("startedAt"), "session", "session running")
    yield _event(
        fields.get("endedAt"), "session", f"session {fields.get('status')}", totalTokens=fields.get("totalTokens")
    )


def _step_events(step: StepRow) -> Iterable[dict[str, Any]]:
    meta = step.meta
    if step.kind == "model":
        duration = step.ended_at - step.started_at if step.ended_at is not None else None
        yield _event(step.started_at, "journal", "model request", model=step.name, step=step.k)
        yield _event(
            step.ended_at,
            "journal",
            "model answered" if step.state.value == "done" else "model failed",
            model=step.name,
            durationMs=duration,
            stopReason=meta.get("stopReason"),
            inputTokens=meta.get("input"),
            outputTokens=meta.get("output"),
            cacheReadTokens=meta.get("cacheRead") or None,
            costUsd=meta.get("costUsd") or None,
            toolCalls=meta.get("toolCalls") or None,
            errorCode=meta.get("errorCode"),
            failedAttempts=meta.get("failedAttempts"),
        )
        return
    yield _event(step.started_at, "journal", "tool started", tool=step.name, step=step.k)
    if step.ended_at is not None:
        yield _event(
            step.ended_at,
            "journal",
            f"tool {step.state.value}",
            tool=step.name,
            durationMs=step.ended_at - step.started_at,
            errorCode=meta.get("errorCode"),
        )


def _line_event(line: Mapping[str, Any]) -> dict[str, Any]:
    raw = line.get("message")
    message: Mapping[str, Any] = raw if isinstance(raw, Mapping) else {}
    content = message.get("content")
    if isinstance(content, str):
        chars = len(content)
    else:
        blocks = content if isinstance(content, list) else []
        chars = sum(len(str(b.get("text", ""))) for b in blocks if isinstance(b, Mapping))
    return _event(
        message.get("timestamp"),
        "transcript",
        str(message.get("role", line.get("type", "line"))),
        stopReason=message.get("stopReason"),
        tool=message.get("toolName"),
        isError=message.get("isError") or None,
        chars=chars,
        line=line.get("id"),
    )


def _head(planes: _Planes, run_id: RunId) -> dict[str, Any]:
    run, inbox = planes.run, planes.inbox
    out: dict[str, Any] = {"runId": run_id, "taskId": planes.task.task_id if planes.task else None}
    if inbox is not None:
        out |= {"sessionKey": inbox.item.session_key, "agentId": inbox.item.agent_id, "channel": inbox.item.channel}
        out |= {"inboxState": inbox.state.value, "attempts": inbox.attempt, "status": inbox.state.value}
    if run is not None:
        out |= {"sessionKey": run.session_key, "sessionId": run.session_id, "agentId": run.agent_id}
        out |= {"status": run.status.value, "startedAt": run.started_at, "endedAt": run.ended_at}
        out["durationMs"] = run.ended_at - run.started_at if run.ended_at is not None else None
        out["error"] = run.error
    return out


def _summary(planes: _Planes) -> dict[str, Any]:
    models = [s for s in planes.steps if s.kind == "model"]
    tools = [s for s in planes.steps if s.kind == "tool"]

    def total(name: str) -> Any:
        return sum(s.meta.get(name) or 0 for s in models)

    return {
        "modelRequests": len(models),
        "modelMs": sum((s.ended_at or s.started_at) - s.started_at for s in models),
        "toolCalls": len(tools),
        "toolMs": sum((s.ended_at or s.started_at) - s.started_at for s in tools),
        "tokens": {name: total(name) for name in ("input", "output", "cacheRead", "cacheWrite")},
        "costUsd": round(float(total("costUsd")), 6),
        "stopReasons": [s.meta["stopReason"] for s in models if s.meta.get("stopReason")],
        "tools": [s.name for s in tools],
        "failures": sum(1 for s in planes.steps if s.state.value in ("failed", "interrupted")),
    }


def _missing(planes: _Planes) -> list[str]:
    """What a complete run would have and this one has not."""
    out: list[str] = []
    run = planes.run
    if run is None:
        return ["the run has not started"]
    roles = [(line.get("message") or {}).get("role") for line in planes.lines]
    if "user" not in roles:
        out.append("transcript: the message itself")
    if run.status is RunStatus.ACTIVE:
        out.append("the end: the run is active, or its process died and it has not been resumed yet")
    elif run.status is RunStatus.OK and "assistant" not in roles:
        out.append("transcript: an answer")
    actions = [e.action for e in planes.audit]
    for action in ("agent_run.started", "agent_run.finished"):
        if action not in actions and not (action.endswith("finished") and run.ended_at is None):
            out.append(f"audit: {action}")
    if planes.task is None:
        out.append("tasks: no row (messages of channels and chats have none)")
    if not any(s.kind == "model" for s in planes.steps):
        out.append("journal: model requests")
    if not planes.logs:
        out.append("logs: no line names this run")
    return out

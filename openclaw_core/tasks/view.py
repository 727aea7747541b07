"""A task as lists show it (observed.md 2)."""

from __future__ import annotations

from typing import Any

from openclaw_core.domain.tasks import TaskRow


def task_row(row: TaskRow) -> dict[str, Any]:
    """The JSON form; fields without value are left out, as the original does."""
    out: dict[str, Any] = {
        "taskId": row.task_id,
        "runtime": row.runtime,
        "sourceId": row.source_id,
        "requesterSessionKey": row.requester_session_key,
        "ownerKey": row.owner_key,
        "scopeKind": row.scope_kind,
        "childSessionKey": row.child_session_key,
        "parentTaskId": row.parent_task_id,
        "agentId": row.agent_id,
        "runId": row.run_id,
        "label": row.label,
        "task": row.task,
        "status": row.status.value,
        "deliveryStatus": row.delivery_status,
        "notifyPolicy": row.notify_policy,
        "createdAt": row.created_at,
        "startedAt": row.started_at,
        "endedAt": row.ended_at,
        "lastEventAt": row.last_event_at,
        "cleanupAfter": row.cleanup_after,
        "error": row.error,
        "progressSummary": row.progress_summary,
        "terminalSummary": row.terminal_summary,
        "terminalOutcome": row.terminal_outcome,
    }
    return {k: v for k, v in out.items() if v not in ("", None)}

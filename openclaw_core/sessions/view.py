"""A session as lists show it (observed.md 2)."""

from __future__ import annotations

from typing import Any

from openclaw_core.domain.sessions import SessionEntry

_FIELDS = (
    "lastInteractionAt",
    "status",
    "abortedLastRun",
    "inputTokens",
    "outputTokens",
    "totalTokens",
    "totalTokensFresh",
    "model",
    "modelProvider",
    "contextTokens",
    "sessionFile",
    "label",
)


def session_row(entry: SessionEntry, now: int) -> dict[str, Any]:
    """One row; `ageMs` is the time since the last change."""
    kind = "group" if ":group:" in entry.key or ":channel:" in entry.key else "direct"
    row: dict[str, Any] = {
        "key": entry.key,
        "kind": kind,
        "agentId": entry.agent_id,
        "sessionId": entry.session_id,
        "updatedAt": entry.updated_at,
        "ageMs": max(0, now - entry.updated_at),
        "sessionStartedAt": entry.session_started_at,
    }
    row.update({name: entry.fields[name] for name in _FIELDS if name in entry.fields})
    row["agentRuntime"] = {"id": entry.fields.get("agentHarnessId", "embedded"), "source": "auto"}
    return row

"""The audit event: metadata only, never content (behaviour.md 11.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """One fact about a run or a tool call. `tool_call_id` is a fingerprint (``sha256:...``);
    `sequence` is 0 until the store assigned one."""

    event_id: str
    occurred_at: int
    kind: str
    action: str
    status: str
    actor_type: str
    actor_id: str
    agent_id: str = ""
    session_key: str = ""
    session_id: str = ""
    run_id: str = ""
    tool_call_id: str = ""
    tool_name: str = ""
    error_code: str = ""
    duration_ms: int | None = None
    sequence: int = 0
    source_sequence: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The JSON form of `openclaw audit --json`."""
        out: dict[str, Any] = {
            "eventId": self.event_id,
            "sequence": self.sequence,
            "sourceSequence": self.source_sequence,
            "occurredAt": self.occurred_at,
            "schemaVersion": 1,
            "kind": self.kind,
            "action": self.action,
            "status": self.status,
            "actor": {"type": self.actor_type, "id": self.actor_id},
            "agentId": self.agent_id,
            "sessionKey": self.session_key,
            "sessionId": self.session_id,
            "runId": self.run_id,
            "redaction": "metadata_only",
        }
        if self.tool_call_id:
            out["toolCallId"] = self.tool_call_id
        if self.tool_name:
            out["toolName"] = self.tool_name
        if self.error_code:
            out["errorCode"] = self.error_code
        if self.duration_ms is not None:
            out["durationMs"] = self.duration_ms
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditQuery:
    """Filters of the audit list; empty means any. `limit` 1 to 500; `cursor` opaque."""

    agent_id: str = ""
    session_key: str = ""
    run_id: str = ""
    kind: str = ""
    status: str = ""
    after: int | None = None
    before: int | None = None
    limit: int = 100
    cursor: str = ""

    def as_mapping(self) -> Mapping[str, Any]:
        """The filters that are set."""
        return {
            k: getattr(self, k) for k in ("agent_id", "session_key", "run_id", "kind", "status") if getattr(self, k)
        }

"""What the plugin offers: the audit sink ``jsonl``."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import AuditSinkSpec, hookimpl


@hookimpl
def openclaw_audit_sinks() -> Iterable[AuditSinkSpec]:
    """One sink, active only when the configuration names it."""
    return (
        AuditSinkSpec(
            id="jsonl",
            summary="Audit events as JSON lines in daily files",
            factory="openclaw_audit_jsonl.sink:JsonlSink",
            config_model="openclaw_audit_jsonl.config:JsonlConfig",
            default_on=False,
        ),
    )

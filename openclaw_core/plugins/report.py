"""What `plugins list`, `plugins inspect`, `doctor` and `/healthz` say about plugins."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from openclaw_core.plugins.catalog import Catalog, Installed
from openclaw_core.plugins.policy import ACTIVE, ERROR, PluginPolicy
from openclaw_core.plugins.records import PluginRecords

STATUS = {"active": "loaded", "available": "disabled", "disabled": "disabled", "error": "error"}
"""Our states in the original's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRow:
    """One plugin. `state` is ``active``, ``available``, ``disabled`` or ``error``; `reason` says why.
    `enabled`: the owner wants it, so it is active or failed."""

    id: str
    kind: str
    distribution: str
    version: str
    origin: str
    state: str
    reason: str = ""
    enabled: bool = False
    duplicates: tuple[str, ...] = ()
    module: str = ""

    @property
    def key(self) -> str:
        """``kind:id``."""
        return f"{self.kind}:{self.id}"

    @property
    def status(self) -> str:
        """The state in the original's words: loaded, disabled, error."""
        return STATUS[self.state]

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        out: dict[str, Any] = {
            "id": self.id,
            "kind": self.kind,
            "distribution": self.distribution,
            "version": self.version,
            "origin": self.origin,
            "state": self.state,
            "reason": self.reason,
            "enabled": self.enabled,
            "status": self.status,
        }
        if self.duplicates:
            out["duplicates"] = list(self.duplicates)
        return out


@dataclass(slots=True)
class LoadReport:
    """All rows, and findings that belong to no single plugin. Loading changes rows as it goes."""

    rows: dict[str, PluginRow] = field(default_factory=dict)
    diagnostics: list[dict[str, str]] = field(default_factory=list)

    def fail(self, key: str, reason: str) -> None:
        """A plugin did not work: its row says why."""
        self.rows[key] = replace(self.rows[key], state=ERROR, reason=reason, enabled=True)

    def revive(self, key: str, reason: str = "") -> None:
        """A plugin that failed the last time was loaded now."""
        self.rows[key] = replace(self.rows[key], state=ACTIVE, reason=reason, enabled=True)

    def ordered(self) -> list[PluginRow]:
        """Rows in the order of the catalogue."""
        return list(self.rows.values())

    def errors(self) -> list[PluginRow]:
        """The rows that failed."""
        return [row for row in self.rows.values() if row.state == ERROR]

    def note(self, level: str, text: str, **facts: str) -> None:
        """Add a finding; `level` is ``warn`` or ``error``."""
        self.diagnostics.append({"level": level, "text": text, **facts})

    def as_dict(self) -> dict[str, Any]:
        """The JSON form of `plugins list`."""
        return {"plugins": [row.as_dict() for row in self.ordered()], "diagnostics": list(self.diagnostics)}


def survey(catalog: Catalog, policy: PluginPolicy, records: PluginRecords) -> LoadReport:
    """The report as far as it is known without importing: remembered failures count."""
    report = LoadReport()
    for problem in catalog.problems:
        report.note("warn", problem)
    for plugin in catalog.plugins:
        report.rows[plugin.key] = _row(plugin, policy, records, report)
    return report


def _row(plugin: Installed, policy: PluginPolicy, records: PluginRecords, report: LoadReport) -> PluginRow:
    decision = policy.decide(plugin)
    row = PluginRow(
        id=plugin.id,
        kind=plugin.kind,
        distribution=plugin.distribution,
        version=plugin.version,
        origin="bundled" if plugin.bundled else "installed",
        state=decision.state,
        reason=decision.reason,
        enabled=decision.state == ACTIVE,
        duplicates=plugin.others,
        module=plugin.module,
    )
    if decision.drift:
        report.note("warn", f"{plugin.id} ({plugin.distribution}) {decision.reason}.", plugin=plugin.key)
    if plugin.others:
        text = f"also claimed by {', '.join(plugin.others)}, which is not used"
        row = replace(row, reason=f"{row.reason}; {text}" if row.reason else text)
        report.note(
            "warn",
            f"{plugin.kind} {plugin.id} is in {plugin.distribution} and in {', '.join(plugin.others)}; "
            f"{plugin.distribution} is used.",
            plugin=plugin.key,
        )
    if decision.state == ACTIVE:
        failure = records.failure(plugin.key, distribution=plugin.distribution, version=plugin.version)
        if failure:
            row = replace(row, state=ERROR, reason=failure.reason)
    return row

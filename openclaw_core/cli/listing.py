"""`openclaw plugins list`: from metadata and memory alone, no plugin is imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openclaw_core.cli import output
from openclaw_core.config.paths import StatePaths
from openclaw_core.config.reader import read_source
from openclaw_core.errors import ConfigError
from openclaw_core.plugins.catalog import scan
from openclaw_core.plugins.policy import PluginPolicy
from openclaw_core.plugins.records import PluginRecords
from openclaw_core.plugins.references import stale_references
from openclaw_core.plugins.report import LoadReport, survey


def plugin_report(paths: StatePaths) -> LoadReport:
    """The report without loading anything. A configuration that cannot be read is one of its findings:
    plugins are then shown as if nothing were configured."""
    raw: Mapping[str, Any] = {}
    problem: ConfigError | None = None
    try:
        raw = read_source(paths.config_file).data
    except ConfigError as error:
        problem = error
    catalog = scan()
    records = PluginRecords(paths.plugins_dir)
    report = survey(catalog, PluginPolicy(raw, records), records)
    if problem is not None:
        report.note("error", f"The configuration is not used here: {problem.message}", key=problem.code)
    for key, text in stale_references(raw, catalog):
        report.note("warn", text, key=key)
    return report


def list_plugins(paths: StatePaths, *, as_json: bool, only_enabled: bool = False) -> int:
    """Print the list; returns the exit status."""
    report = plugin_report(paths)
    if only_enabled:
        report.rows = {key: row for key, row in report.rows.items() if row.enabled}
    if as_json:
        output.emit_json(report.as_dict())
        return 0
    output.table(
        ("ID", "KIND", "STATE", "DISTRIBUTION", "VERSION", "ORIGIN", "REASON"),
        [
            (row.id, row.kind, row.state, row.distribution, row.version, row.origin, row.reason)
            for row in report.ordered()
        ],
        empty="No plugin is installed.",
    )
    for finding in report.diagnostics:
        output.warn(finding["text"])
    return 0

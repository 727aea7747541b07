"""`openclaw status`: everything at a glance."""

from __future__ import annotations

import platform
import time
from typing import Any

import click

from openclaw_core import __version__
from openclaw_core.cli import output
from openclaw_core.cli.listing import plugin_report
from openclaw_core.cli.moment import ago
from openclaw_core.cli.reach import GatewayClient, find_gateway
from openclaw_core.cli.records import read_store
from openclaw_core.cli.state import CliState
from openclaw_core.contracts.store import Store
from openclaw_core.domain.tasks import TaskStatus
from openclaw_core.errors import OpenClawError
from openclaw_core.sessions.view import session_row


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(state: CliState, as_json: bool) -> int:
    """Show how everything is: gateway, plugins, sessions, tasks."""
    report = plugin_report(state.paths)
    shown: dict[str, Any] = {
        "runtimeVersion": __version__,
        "os": {"platform": platform.system().lower(), "release": platform.release(), "arch": platform.machine()},
        "stateDir": str(state.paths.state_dir),
        "configFile": str(state.paths.config_file),
        "gateway": _gateway(state),
        "plugins": {
            "active": sum(r.state == "active" for r in report.rows.values()),
            "errors": [
                {"id": r.id, "kind": r.kind, "reason": r.reason} for r in report.rows.values() if r.state == "error"
            ],
        },
        **_records(state),
    }
    if as_json:
        output.emit_json(shown)
        return 0
    gateway = shown["gateway"]
    output.fields(
        [
            ("openclaw", __version__),
            ("state", shown["stateDir"]),
            ("gateway", gateway["url"] if gateway["reachable"] else gateway["error"] or "not running"),
            ("plugins", f"{shown['plugins']['active']} active, {len(shown['plugins']['errors'])} with errors"),
            ("sessions", shown["sessions"]["count"]),
            ("tasks", f"{shown['tasks']['active']} active of {shown['tasks']['total']}"),
            ("journal", ", ".join(f"{k} {v}" for k, v in shown["journal"].items() if v)),
        ]
    )
    for row in shown["plugins"]["errors"]:
        output.line(f"  plugin {row['id']} ({row['kind']}): {row['reason']}")
    for row in shown["sessions"]["recent"]:
        output.line(f"  {row['key']}  {row.get('status', '')}  {ago(row['ageMs'])} ago")
    return 0


def _gateway(state: CliState) -> dict[str, Any]:
    out: dict[str, Any] = {"reachable": False, "url": None, "error": None}
    reach = find_gateway(state)
    if reach is None:
        return out
    out["url"] = reach.url
    begun = time.monotonic()
    try:
        with GatewayClient(reach, timeout_s=5.0) as client:
            out |= {"reachable": True, "self": client.hello["server"]}
            out["health"] = client.call("health", {})
            out["connectLatencyMs"] = round((time.monotonic() - begun) * 1000)
    except OpenClawError as error:
        out["error"] = error.message
    return out


def _records(state: CliState) -> dict[str, Any]:
    async def look(store: Store) -> dict[str, Any]:
        now = time.time_ns() // 1_000_000
        entries = await store.sessions.list(limit=1000)
        tasks = await store.tasks.list(limit=5000)
        by_status = {s.value: sum(t.status is s for t in tasks) for s in TaskStatus}
        return {
            "sessions": {"count": len(entries), "recent": [session_row(e, now) for e in entries[:5]]},
            "tasks": {
                "total": len(tasks),
                "active": sum(not t.status.terminal for t in tasks),
                "byStatus": {k: v for k, v in by_status.items() if v},
            },
            "journal": dict(await store.journal.counts()),
        }

    return read_store(state, look)

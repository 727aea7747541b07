"""`openclaw trace`: what a run did, from all records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from openclaw_core.cli import output
from openclaw_core.cli.moment import took, when
from openclaw_core.cli.records import read_store
from openclaw_core.cli.state import CliState
from openclaw_core.contracts.store import Store
from openclaw_core.errors import InvalidRequest
from openclaw_core.observe.trace import build_trace


@click.command("trace")
@click.argument("run", required=False, default="")
@click.option("--last", is_flag=True, help="The latest run.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(state: CliState, run: str, last: bool, as_json: bool) -> int:
    """Show what a run did: RUN is a run id, a task id, or a session key (its last run)."""
    from openclaw_core.cli.logfile import log_files

    if not run and not last:
        raise InvalidRequest("Say which run.", hint="Give a run id, a task id, a session key, or --last.", code="usage")
    files = log_files(state.paths.state_dir, state.load())

    async def look(store: Store) -> dict[str, Any]:
        return await build_trace(store, run, last=last, log_files=files)

    trace = read_store(state, look)
    if as_json:
        output.emit_json(trace)
    else:
        _print(trace)
    return 0


def _print(trace: Mapping[str, Any]) -> None:
    head, summary = trace["run"], trace["summary"]
    error = head.get("error") or {}
    output.fields(
        [
            ("run", head["runId"]),
            *([("task", head["taskId"])] if head.get("taskId") else []),
            ("session", head.get("sessionKey", "")),
            ("status", f"{head.get('status')}" + (f" ({error.get('code')}: {error.get('message')})" if error else "")),
            ("began", when(head.get("startedAt"))),
            ("took", took(head.get("durationMs"))),
            ("model", f"{summary['modelRequests']} requests, {took(summary['modelMs'])}, {_tokens(summary['tokens'])}"),
            ("tools", f"{summary['toolCalls']} calls, {took(summary['toolMs'])}"),
        ]
    )
    output.line()
    output.table(
        ("+MS", "PLANE", "EVENT", "DETAILS"),
        [(e["offsetMs"], e["plane"], e["event"], _details(e)) for e in trace["timeline"]],
    )
    for text in trace["missing"]:
        output.line(f"missing: {text}")


def _tokens(tokens: Mapping[str, int]) -> str:
    return f"{tokens['input'] + tokens['cacheRead'] + tokens['cacheWrite']} tokens in, {tokens['output']} out"


def _details(event: Mapping[str, Any]) -> str:
    hidden = {"at", "plane", "event", "offsetMs", "line", "step", "taskId"}
    out = []
    for name, value in event.items():
        if name not in hidden:
            out.append(f"{name}={took(value) if name == 'durationMs' else value}")
    return " ".join(out)

"""`openclaw tasks`: the task ledger."""

from __future__ import annotations

import click

from openclaw_core.cli import output
from openclaw_core.cli.moment import when
from openclaw_core.cli.reach import GatewayClient, find_gateway
from openclaw_core.cli.records import read_store
from openclaw_core.cli.state import CliState
from openclaw_core.contracts.store import Store
from openclaw_core.domain.tasks import TaskRow
from openclaw_core.errors import GatewayUnavailable, NotFound
from openclaw_core.tasks.view import task_row


@click.group("tasks")
def command() -> None:
    """Show and cancel tasks."""


@command.command("list")
@click.option("--runtime", default="", help="Only one runtime: cli, subagent, acp, cron.")
@click.option("--status", default="", help="Only one status: queued, running, succeeded, failed, ...")
@click.option("--limit", default=500, show_default=True, type=click.IntRange(1, 100_000), help="How many.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def list_(state: CliState, runtime: str, status: str, limit: int, as_json: bool) -> int:
    """List tasks, latest first."""

    async def look(store: Store) -> list[TaskRow]:
        return await store.tasks.list(runtime=runtime, status=status, limit=limit)

    rows = [task_row(row) for row in read_store(state, look)]
    if as_json:
        output.emit_json({"count": len(rows), "runtime": runtime or None, "status": status or None, "tasks": rows})
        return 0
    output.table(
        ("TASK", "RUNTIME", "STATUS", "CREATED", "SESSION", "WHAT"),
        [
            (
                r["taskId"],
                r["runtime"],
                r["status"],
                when(r["createdAt"]),
                r.get("ownerKey", ""),
                _short(r.get("task", "")),
            )
            for r in rows
        ],
        empty="No task yet.",
    )
    return 0


def _short(text: str) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= 60 else line[:57] + "..."


def _find(state: CliState, ident: str) -> TaskRow:
    async def look(store: Store) -> TaskRow | None:
        return await store.tasks.find(ident) or await store.tasks.find(f"agent:main:{ident.lower()}")

    row = read_store(state, look)
    if row is None:
        raise NotFound(f"There is no task {ident}.", hint="See `openclaw tasks list`.")
    return row


@command.command("show")
@click.argument("task")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def show(state: CliState, task: str, as_json: bool) -> int:
    """Show one task by task id, run id or session key."""
    row = task_row(_find(state, task))
    if as_json:
        output.emit_json({"task": row})
    else:
        output.fields([(k, when(v) if k.endswith(("At", "After")) else v) for k, v in row.items()])
    return 0


@command.command("cancel")
@click.argument("task")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def cancel(state: CliState, task: str, as_json: bool) -> int:
    """Stop a task's run. A task that has ended stays as it is, which is no error."""
    row = _find(state, task)
    if row.status.terminal:
        answer: dict[str, object] = {"ok": True, "cancelled": False, "reason": "already ended", "task": task_row(row)}
    else:
        reach = find_gateway(state)
        if reach is None:
            raise GatewayUnavailable("No gateway is running that could stop this task.")
        with GatewayClient(reach) as client:
            answer = client.call("tasks.cancel", {"taskId": row.task_id})
    if as_json:
        output.emit_json(answer)
    else:
        output.line(
            "Cancelled."
            if answer.get("cancelled")
            else f"Nothing to cancel: {answer.get('reason', 'it is not running')}."
        )
    return 0

"""`openclaw audit`: the audit ledger, metadata only."""

from __future__ import annotations

import click

from openclaw_core.cli import output
from openclaw_core.cli.moment import took, when
from openclaw_core.cli.records import read_store
from openclaw_core.cli.state import CliState
from openclaw_core.contracts.store import Store
from openclaw_core.domain.audit import AuditEvent, AuditQuery


@click.command("audit")
@click.option("--agent", default="", help="Only one agent.")
@click.option("--session", default="", help="Only one session key.")
@click.option("--run", default="", help="Only one run id.")
@click.option("--kind", default="", help="agent_run or tool_action.")
@click.option("--status", default="", help="started, succeeded, failed, cancelled, timed_out, blocked.")
@click.option("--after", type=int, help="Only later than this (epoch milliseconds).")
@click.option("--before", type=int, help="Only earlier than this (epoch milliseconds).")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 500), help="How many.")
@click.option("--cursor", default="", help="Go on where the last page ended.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(
    state: CliState,
    agent: str,
    session: str,
    run: str,
    kind: str,
    status: str,
    after: int | None,
    before: int | None,
    limit: int,
    cursor: str,
    as_json: bool,
) -> int:
    """Show the audit ledger, newest first."""
    query = AuditQuery(
        agent_id=agent,
        session_key=session,
        run_id=run,
        kind=kind,
        status=status,
        after=after,
        before=before,
        limit=limit,
        cursor=cursor,
    )

    async def look(store: Store) -> tuple[list[AuditEvent], str | None]:
        return await store.audit.query(query)

    events, following = read_store(state, look)
    if as_json:
        output.emit_json({"events": [e.as_dict() for e in events], "nextCursor": following})
        return 0
    output.table(
        ("TIME", "ACTION", "STATUS", "TOOL", "TOOK", "CODE", "RUN"),
        [
            (when(e.occurred_at), e.action, e.status, e.tool_name, took(e.duration_ms), e.error_code, e.run_id)
            for e in events
        ],
        empty="No audit event yet.",
    )
    if following:
        output.note(f"More: openclaw audit --cursor {following}")
    return 0

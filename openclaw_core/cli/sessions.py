"""`openclaw sessions`: conversations and their transcripts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import click

from openclaw_core.cli import output
from openclaw_core.cli.moment import ago, when
from openclaw_core.cli.records import read_store
from openclaw_core.cli.state import CliState
from openclaw_core.contracts.store import Store
from openclaw_core.domain.ids import AgentId, SessionKey
from openclaw_core.domain.sessions import SessionEntry
from openclaw_core.errors import NotFound
from openclaw_core.sessions.keys import agent_of, normalise
from openclaw_core.sessions.view import session_row


@click.group("sessions")
def command() -> None:
    """Show conversations."""


@command.command("list")
@click.option("--agent", default="", metavar="ID", help="Only those of one agent.")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 10_000), help="How many.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def list_(state: CliState, agent: str, limit: int, as_json: bool) -> int:
    """List conversations, latest first."""

    async def look(store: Store) -> list[SessionEntry]:
        return await store.sessions.list(agent_id=AgentId(agent) if agent else None, limit=limit)

    now = time.time_ns() // 1_000_000
    rows = [session_row(entry, now) for entry in read_store(state, look)]
    if as_json:
        output.emit_json({"count": len(rows), "sessions": rows})
        return 0
    output.table(
        ("KEY", "STATUS", "AGE", "MODEL", "TOKENS", "SESSION"),
        [
            (
                r["key"],
                r.get("status", ""),
                ago(r["ageMs"]),
                r.get("model", ""),
                r.get("totalTokens", ""),
                r["sessionId"],
            )
            for r in rows
        ],
        empty='No conversation yet. Start one: openclaw agent --message "hello"',
    )
    return 0


@command.command("show")
@click.argument("key")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 100_000), help="How many lines.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def show(state: CliState, key: str, limit: int, as_json: bool) -> int:
    """Print the end of a conversation's transcript."""
    wanted = normalise(key)

    async def look(store: Store) -> tuple[SessionEntry, list[Mapping[str, Any]]]:
        return await _read(store, wanted, limit)

    entry, lines = read_store(state, look)
    if as_json:
        now = time.time_ns() // 1_000_000
        output.emit_json({"session": session_row(entry, now), "lines": lines})
        return 0
    for line in lines:
        message = line.get("message")
        if isinstance(message, Mapping):
            output.line(f"[{when(message.get('timestamp'))}] {_spoken(message)}")
    return 0


async def _read(store: Store, key: SessionKey, limit: int) -> tuple[SessionEntry, list[Mapping[str, Any]]]:
    entry = await store.sessions.get(key)
    if entry is None:
        raise NotFound(f"There is no session {key}.", hint="See `openclaw sessions list`.")
    lines: list[Mapping[str, Any]] = []
    async for line in store.transcripts.read(agent_of(key), entry.session_id):
        lines.append(line)
        if len(lines) > 2 * limit:
            del lines[:limit]
    return entry, lines[-limit:]


def _spoken(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        text = content
    else:
        blocks = [b for b in content if isinstance(b, Mapping)] if isinstance(content, list) else []
        text = " ".join(_part(b) for b in blocks)
    who = {"toolResult": f"result of {message.get('toolName')}"}.get(str(message.get("role")), message.get("role"))
    note = f" ({message.get('errorMessage') or message.get('stopReason')})" if not text else ""
    return f"{who}: {text}{note}"


def _part(block: Mapping[str, Any]) -> str:
    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "toolCall":
            return f"[calls {block.get('name')}]"
        case other:
            return f"[{other}]"

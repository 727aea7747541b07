"""`openclaw agent`: one turn, through the gateway or in this process."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from openclaw_core.cli import output
from openclaw_core.cli.reach import GatewayClient, Reach, find_gateway
from openclaw_core.cli.state import CliState
from openclaw_core.domain.ids import RunId, new_uuid
from openclaw_core.errors import InvalidRequest, OpenClawError


@click.command("agent")
@click.option("--message", "-m", help="What to say; '-' reads it from standard input.")
@click.option("--message-file", type=click.Path(path_type=Path), help="Read the message from a file.")
@click.option("--agent", default="", metavar="ID", help="The agent (default: the default agent).")
@click.option("--session-key", default="", metavar="KEY", help="The conversation (default: the agent's main one).")
@click.option("--model", default="", metavar="REF", help="A model for this turn only: provider/model or an alias.")
@click.option("--thinking", default="", metavar="LEVEL", help="off, minimal, low, medium, high.")
@click.option("--run-id", default="", metavar="ID", help="Idempotency key: the same id never runs twice.")
@click.option("--local", is_flag=True, help="Run in this process instead of through the gateway.")
@click.option("--timeout", default=600, show_default=True, metavar="SECONDS", help="How long to wait for the end.")
@click.option("--url", default="", help="Address of a gateway (default: the one of this state directory).")
@click.option("--token", default="", help="Token for --url.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON.")
@click.pass_obj
def command(
    state: CliState,
    message: str | None,
    message_file: Path | None,
    agent: str,
    session_key: str,
    model: str,
    thinking: str,
    run_id: str,
    local: bool,
    timeout: int,
    url: str,
    token: str,
    as_json: bool,
) -> int:
    """Run one turn of an agent."""
    text = _text(message, message_file)
    ident = RunId(run_id or new_uuid())
    reach = None if local else find_gateway(state, url=url, token=token)
    if reach is None:
        if not local:
            output.note("No gateway is running; the turn runs in this process (as with --local).")
        return _local(state, text, ident, agent, session_key, model, thinking, as_json=as_json)
    params: dict[str, Any] = {"message": text, "idempotencyKey": ident}
    given = {"agentId": agent, "sessionKey": session_key, "model": model, "thinking": thinking}
    params.update({name: value for name, value in given.items() if value})
    answer = _through(reach, params, float(timeout))
    if as_json:
        output.emit_json(answer)
    else:
        _print(answer["result"])
    return 0


def _text(message: str | None, file: Path | None) -> str:
    if (message is None) == (file is None):
        raise InvalidRequest("Give the message with either --message or --message-file.", code="usage")
    if file is not None:
        try:
            return file.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise InvalidRequest(f"The message file cannot be read: {error.strerror}.") from error
    return sys.stdin.read() if message == "-" else str(message)


def _through(reach: Reach, params: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
    with GatewayClient(reach) as client:
        return client.call("agent", params, timeout_s=timeout_s, final=True)


def _local(
    state: CliState, text: str, ident: RunId, agent: str, key: str, model: str, thinking: str, *, as_json: bool
) -> int:
    import asyncio

    from openclaw_core.cli.local import TurnRequest, local_turn, open_engine

    request = TurnRequest(message=text, run_id=ident, agent=agent, session_key=key, model=model, thinking=thinking)

    async def turn() -> Mapping[str, Any]:
        engine = await open_engine(state)
        try:
            return await local_turn(engine, request)
        finally:
            await engine.aclose()

    outcome = asyncio.run(turn())
    if outcome["status"] != "ok":
        error = outcome.get("error") or {}
        raise OpenClawError(
            str(error.get("message") or "The run failed."),
            code=str(error.get("code") or "run_failed"),
            hint=str(error.get("hint") or ""),
            details={**error.get("details", {}), "runId": ident, "status": outcome["status"]},
        )
    if as_json:
        output.emit_json(outcome["result"])
    else:
        _print(outcome["result"])
    return 0


def _print(result: Mapping[str, Any]) -> None:
    for payload in result.get("payloads") or ():
        if payload.get("text"):
            output.line(str(payload["text"]))
        for url in payload.get("mediaUrls") or ([payload["mediaUrl"]] if payload.get("mediaUrl") else []):
            output.line(f"[file] {url}")

"""`openclaw chat`: a conversation in the terminal, with the answer appearing as it is written."""

from __future__ import annotations

import asyncio
import sys

import click

from openclaw_core.cli import output
from openclaw_core.cli.entry import started
from openclaw_core.cli.reach import Reach, find_gateway
from openclaw_core.cli.state import CliState
from openclaw_core.cli.talk import GatewayTalk, LocalTalk, Piece
from openclaw_core.errors import OpenClawError, RunAborted

_HELP = """Type a message and press Enter.
  /new    begin a new conversation
  /quit   leave (or Ctrl-D); Ctrl-C stops the answer that is being written"""


@click.command("chat")
@click.option("--agent", default="", metavar="ID", help="The agent (default: the default agent).")
@click.option("--session-key", default="", metavar="KEY", help="The conversation (default: the agent's main one).")
@click.option("--local", is_flag=True, help="Run in this process instead of through the gateway.")
@click.option("--url", default="", help="Address of a gateway (default: the one of this state directory).")
@click.option("--token", default="", help="Token for --url.")
@click.option("--json", "as_json", is_flag=True, help="Read messages line by line, write one JSON line an answer.")
@click.pass_obj
def command(state: CliState, agent: str, session_key: str, local: bool, url: str, token: str, as_json: bool) -> int:
    """Talk to an agent in the terminal."""
    reach = None if local else find_gateway(state, url=url, token=token)
    return asyncio.run(_chat(state, reach, agent, session_key, as_json))


async def _chat(state: CliState, reach: Reach | None, agent: str, key: str, as_json: bool) -> int:
    talk: GatewayTalk | LocalTalk
    if reach is None:
        talk = await LocalTalk.open(state, agent, key)
    else:
        talk = await GatewayTalk.open(reach, agent, key)
    started()
    try:
        if not as_json:
            output.line(f"Talking to {talk.title}. /help for commands.")
        while True:
            line = await asyncio.to_thread(_ask, not as_json)
            if line is None or line.strip() in ("/quit", "/exit"):
                return 0
            if line.strip() == "/help":
                output.line(_HELP)
            elif line.strip() == "/new":
                await talk.reset()
                output.line("A new conversation begins.")
            elif line.strip():
                await _say(talk, line, as_json)
    finally:
        await talk.aclose()


def _ask(prompt: bool) -> str | None:
    """One line of the person; None at the end of input."""
    if prompt and output.is_terminal():
        output.write("\n> ")
    text = sys.stdin.readline()
    return text.rstrip("\n") if text else None


async def _say(talk: GatewayTalk | LocalTalk, text: str, as_json: bool) -> None:
    written = ""
    try:
        async for piece in talk.say(text):
            if not as_json:
                written = _show(piece, written)
            elif piece.kind == "final":
                output.emit_json_line({"text": piece.text})
    except RunAborted as error:
        output.line(f"\n[{error.message}]")
    except OpenClawError as error:
        if as_json:
            output.emit_json_line({"ok": False, "error": error.as_dict()})
        else:
            output.line(f"\n[{error.message}] {error.hint}")


def _show(piece: Piece, written: str) -> str:
    """Write what is new; returns everything of this answer that stands on the screen."""
    if piece.kind == "delta":
        output.write(piece.text)
        return written + piece.text
    if piece.kind == "tool":
        lead = "\n" if written and not written.endswith("\n") else ""
        output.write(f"{lead}[{piece.text}]\n")
        return ""
    if piece.kind == "reset":
        output.write("\n[the answer is written anew]\n" if written else "")
        return ""
    if piece.text and not piece.text.startswith(written.strip() or "\0"):
        output.write(piece.text)
    output.line()
    return ""

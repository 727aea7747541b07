"""One run, seen from all sides: a marker in a file that only a real tool call can bring into the answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from home import Gateway, Home, ModelServer, provider

MARKER = "marker-7f3a9c-kingfisher"
pytestmark = pytest.mark.peer("aimock")

READ = {
    "match": {"userMessage": "read", "hasToolResult": False},
    "response": {"toolCalls": [{"id": "call_1", "name": "read", "arguments": json.dumps({"path": "notes.md"})}]},
}
ANSWER = {
    "match": {"userMessage": "read", "hasToolResult": True},
    "response": {"content": f"It says {MARKER}."},
}
HELLO = {"match": {"userMessage": "hello"}, "response": {"content": "Hello there!"}}
SLOW = {"match": {"userMessage": "slowly"}, "response": {"content": "word " * 400}, "latency": 200, "chunkSize": 5}


def lines_of(home: Home, key: str) -> list[dict[str, Any]]:
    return [line for line in home.json("sessions", "show", key)["lines"] if line["type"] == "message"]


def roles(lines: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    return [(line["message"]["role"], line["message"].get("stopReason")) for line in lines]


@pytest.mark.parametrize("way", ["local", "gateway"])
@pytest.mark.parametrize("api", ["openai-completions", "openai-responses", "anthropic-messages"])
def test_the_file_experiment(
    home: Home,
    gateway: Callable[..., Gateway],
    model_server: Callable[[list[dict[str, Any]]], ModelServer],
    way: str,
    api: str,
) -> None:
    server = model_server([READ, ANSWER, HELLO])
    home.configure(provider(server, api=api))
    home.workspace.mkdir()
    (home.workspace / "notes.md").write_text(f"# Notes\nthe bird is {MARKER}\n")
    arguments = ["agent", "--agent", "main", "--session-key", "exp", "--message", "please read the notes"]
    if way == "local":
        result = home.json(*arguments, "--local")
    else:
        gateway()
        answer = home.json(*arguments)
        assert (answer["status"], answer["summary"]) == ("ok", "completed")
        result = answer["result"]
    assert MARKER in result["payloads"][0]["text"]
    meta = result["meta"]
    assert meta["toolSummary"] == {"calls": 1, "tools": ["read"], "failures": 0}
    assert meta["stopReason"] == "stop"
    assert {f["name"] for f in meta["systemPromptReport"]["injectedWorkspaceFiles"]} >= {"AGENTS.md", "SOUL.md"}
    assert [t["name"] for t in meta["systemPromptReport"]["tools"]["entries"]] == sorted(
        ["edit", "find", "grep", "ls", "read", "write"]
    )
    assert meta["agentMeta"]["contextBudgetStatus"]["shouldCompact"] is False

    lines = lines_of(home, "exp")
    assert roles(lines) == [("user", None), ("assistant", "toolUse"), ("toolResult", None), ("assistant", "stop")]
    assert [b["name"] for b in lines[1]["message"]["content"] if b["type"] == "toolCall"] == ["read"]
    chain = [line["parentId"] for line in lines[1:]]
    assert chain == [line["id"] for line in lines[:-1]]

    task = home.json("tasks", "list")["tasks"][0]
    assert (task["runtime"], task["status"], task["terminalSummary"]) == ("cli", "succeeded", "completed")
    assert task["cleanupAfter"] == task["endedAt"] + 604_800_000

    audit = home.json("audit")
    actions = [e["action"] for e in reversed(audit["events"])]
    assert actions == ["agent_run.started", "tool_action.started", "tool_action.finished", "agent_run.finished"]
    assert all(e["redaction"] == "metadata_only" for e in audit["events"])
    text = json.dumps(audit)
    assert MARKER not in text
    assert "notes.md" not in text
    assert "please read" not in text

    trace = home.json("trace", "exp")
    assert trace["summary"]["modelRequests"] == 2
    assert trace["summary"]["toolCalls"] == 1
    assert trace["summary"]["stopReasons"] == ["toolUse", "stop"]
    if api == "openai-completions":  # the names of a run do not depend on the model
        assert home.json("trace", task["taskId"])["run"]["runId"] == task["runId"]
        assert home.json("trace", "--last")["run"]["runId"] == task["runId"]
    assert MARKER not in json.dumps(trace)
    everything = "".join(p.read_text(errors="replace") for p in home.state.rglob("*.log"))
    assert "sk-test-canary-4711" not in everything + json.dumps(trace) + text


def test_an_aborted_run_leaves_the_session_usable(
    home: Home, gateway: Callable[..., Gateway], model_server: Callable[[list[dict[str, Any]]], ModelServer]
) -> None:
    server = model_server([SLOW, HELLO])
    home.configure(provider(server))
    gateway()
    running = home.start("agent", "--session-key", "exp", "--message", "answer slowly", "--run-id", "run-1", "--json")
    while not home.json("gateway", "call", "health")["runs"]["active"]:
        assert running.poll() is None
    stopped = home.json("gateway", "call", "chat.abort", "--params", '{"runId": "run-1"}')
    assert stopped["aborted"] is True
    out, _ = running.communicate(timeout=20)
    assert running.returncode == 1
    error = json.loads(out)
    assert (error["ok"], error["error"]["code"]) == (False, "aborted")
    assert home.json("tasks", "show", "run-1")["task"]["status"] == "cancelled"
    finished = next(e for e in home.json("audit", "--run", "run-1")["events"] if e["action"] == "agent_run.finished")
    assert finished["status"] == "cancelled"

    answer = home.json("agent", "--session-key", "exp", "--message", "hello again")
    assert answer["result"]["payloads"][0]["text"] == "Hello there!"
    found = roles(lines_of(home, "exp"))
    assert found[0] == ("user", None)
    assert found[-2:] == [("user", None), ("assistant", "stop")]
    assert ("assistant", "aborted") in found


def test_the_same_key_never_runs_twice_even_after_a_kill(
    home: Home,
    gateway: Callable[..., Gateway],
    model_server: Callable[[list[dict[str, Any]]], ModelServer],
    tmp_path: Path,
) -> None:
    server = model_server([HELLO])
    home.configure(provider(server))
    first = gateway()
    one = home.json("agent", "--message", "hello", "--run-id", "same-key")
    first.process.kill()
    first.process.wait()
    gateway()
    two = home.json("agent", "--message", "hello", "--run-id", "same-key")
    assert two["result"]["payloads"] == one["result"]["payloads"]
    assert home.json("tasks", "list")["count"] == 1
    assert len(server.requests()) == 1

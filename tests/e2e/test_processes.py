"""Several processes on one state directory: one gateway, local turns beside it, locks, kills, restarts."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from client import Client
from home import Gateway, Home, message_lines, scripted
from scripted import ScriptedModel, chat_text

from openclaw_core.testing.fakes.wire import WireReply, WireRequest

HANG = WireReply(pieces=chat_text("thinking").pieces[:1], end="hang")
Starter = Callable[..., Gateway]


def configured(home: Home, model: ScriptedModel, **more: Any) -> None:
    """A scripted model, and a short patience with busy sessions."""
    home.configure(scripted(model.port, session={"writeLock": {"acquireTimeoutMs": 1500}}, **more))


def talk(home: Home, gateway: Gateway) -> Client:
    client = Client(gateway.url)
    client.connect(home.token())
    return client


def begun(client: Client, key: str, run_id: str) -> None:
    """Start a run whose model hangs, and wait until it is in the model's hands."""
    client.call("chat.send", message="hang", sessionKey=key, idempotencyKey=run_id)
    client.event("chat", lambda payload: payload["runId"] == run_id)


# ---- one gateway -------------------------------------------------------------------------------------


def test_a_second_gateway_refuses_at_once_and_names_the_first(
    home: Home, gateway: Starter, scripted_model: ScriptedModel
) -> None:
    configured(home, scripted_model)
    first = gateway()
    started = time.monotonic()
    home.run("gateway", "health")
    usual = time.monotonic() - started
    started = time.monotonic()
    refused = home.json("gateway", "run", "--port", "0", status=1)
    assert time.monotonic() - started < usual + 1.0
    assert (refused["ok"], refused["error"]["code"]) == (False, "gateway_locked")
    assert str(first.process.pid) in refused["error"]["message"]
    assert first.url in refused["error"]["message"]
    assert home.run("gateway", "run", "--port", "0", status=1).stdout == ""
    assert first.get("/healthz")[0] == 200
    first.kill()
    assert gateway().get("/healthz")[0] == 200


def test_a_taken_port_is_named(home: Home, gateway: Starter, scripted_model: ScriptedModel, tmp_path: Path) -> None:
    configured(home, scripted_model)
    taken = gateway().port
    other = Home(tmp_path / "other")
    configured(other, scripted_model)
    refused = other.json("gateway", "run", "--port", str(taken), status=1)
    assert refused["error"]["code"] == "port_taken"
    assert str(taken) in refused["error"]["message"]


# ---- local turns beside a gateway --------------------------------------------------------------------


def test_local_turns_beside_a_gateway_respect_its_sessions(
    home: Home, gateway: Starter, scripted_model: ScriptedModel
) -> None:
    configured(home, scripted_model)
    running = gateway()
    with talk(home, running) as client:
        scripted_model.script(HANG, chat_text("local"))
        begun(client, "busy", "gw-1")
        other = home.json("agent", "--local", "--session-key", "free", "--message", "x")
        assert other["payloads"][0]["text"] == "local"
        started = time.monotonic()
        busy = home.json("agent", "--local", "--session-key", "busy", "--message", "x", "--run-id", "lo-1", status=1)
        assert time.monotonic() - started >= 1.5
        assert busy["error"]["code"] == "session_busy"
        assert "gw-1" in busy["error"]["message"]
        assert client.call("tasks.get", taskId="lo-1")["task"]["status"] == "failed"
        assert client.call("agent.wait", runId="gw-1", timeoutMs=0)["status"] == "timeout"
        assert len(scripted_model.requests) == 2
        client.call("chat.abort", runId="gw-1")
        client.call("agent.wait", runId="gw-1", timeoutMs=10_000)
        scripted_model.script(chat_text("free again"))
        again = home.json("agent", "--local", "--session-key", "busy", "--message", "x")
        assert again["payloads"][0]["text"] == "free again"


def test_the_gateway_respects_the_session_of_a_local_turn(
    home: Home, gateway: Starter, scripted_model: ScriptedModel
) -> None:
    configured(home, scripted_model)
    running = gateway()
    scripted_model.script(HANG, chat_text("now you"))
    local = home.start("agent", "--local", "--session-key", "mine", "--message", "x", "--run-id", "lo-2", "--json")
    with talk(home, running) as client:
        until(lambda: scripted_model.requests)
        client.call("chat.send", message="and me?", sessionKey="mine", idempotencyKey="gw-2")
        assert client.call("agent.wait", runId="gw-2", timeoutMs=2500)["status"] == "timeout"
        assert len(scripted_model.requests) == 1
        local.send_signal(signal.SIGINT)
        out, _ = local.communicate(timeout=20)
        assert json.loads(out)["error"]["code"] == "aborted"
        assert client.call("tasks.get", taskId="lo-2")["task"]["status"] == "cancelled"
        assert client.call("agent.wait", runId="gw-2", timeoutMs=15_000)["status"] == "ok"
        shown = client.call("chat.history", sessionKey="mine")["messages"]
        assert [m["role"] for m in shown] == ["user", "assistant", "user", "assistant"]


def test_what_a_killed_local_turn_leaves_is_taken_over_by_the_gateway(
    home: Home, gateway: Starter, scripted_model: ScriptedModel
) -> None:
    configured(home, scripted_model)
    running = gateway()
    scripted_model.script(HANG, chat_text("resumed"))
    local = home.start("agent", "--local", "--session-key", "left", "--message", "x", "--run-id", "lo-3", "--json")
    with talk(home, running) as client:
        until(lambda: scripted_model.requests)
        local.kill()
        local.communicate()
        assert client.call("agent.wait", runId="lo-3", timeoutMs=15_000)["status"] == "ok"
        assert client.call("tasks.get", taskId="lo-3")["task"]["status"] == "succeeded"


# ---- locks -------------------------------------------------------------------------------------------


def stale_locks(gateway: Gateway, alive: int) -> dict[str, bytes]:
    """Contents of lock files that nobody holds."""
    told = {"createdAt": "2020-01-01T00:00:00.000Z", "starttime": 1}
    return {
        "a living stranger": json.dumps({"pid": alive, **told}).encode(),
        "the gateway itself": json.dumps({"pid": gateway.process.pid, **told}).encode(),
        "the dead": json.dumps({"pid": 4_194_303, **told}).encode(),
        "garbage": b"\xff\x00{[" * 100,
        "text": json.dumps({"pid": str(alive), **told}).encode(),
        "nothing": b"",
    }


def test_stale_locks_hold_nobody_up_and_real_ones_do(
    home: Home, gateway: Starter, scripted_model: ScriptedModel
) -> None:
    home.configure(scripted(scripted_model.port))
    running = gateway()
    scripted_model.script(chat_text("ok"))
    with talk(home, running) as client:
        client.run("first", key="lock")
        session = client.call("sessions.list")["sessions"][0]["sessionId"]
        transcript = home.transcript(session)
        lock = transcript.with_name(transcript.name + ".lock")
        stranger = subprocess.Popen(["sleep", "60"])
        for content in stale_locks(running, stranger.pid).values():
            lock.write_bytes(content)
            assert client.run("go", key="lock", timeout=5)["status"] == "ok"
        stranger.kill()
        stranger.wait()
        assert (home.state / "logs").is_dir()
        logged = "".join(p.read_text(errors="replace") for p in home.state.rglob("*.log"))
        assert logged.count("stale session lock removed") >= 5

        before = transcript.read_bytes()
        fd = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(fd, fcntl.LOCK_EX)
        client.call("chat.send", message="wait for it", sessionKey="lock", idempotencyKey="lock-1")
        assert client.call("agent.wait", runId="lock-1", timeoutMs=1500)["status"] == "timeout"
        assert transcript.read_bytes() == before
        os.close(fd)
        assert client.call("agent.wait", runId="lock-1", timeoutMs=10_000)["status"] == "ok"


@pytest.mark.parametrize("way", ["through the gateway", "without gateway"])
def test_many_writers_of_one_session(home: Home, gateway: Starter, scripted_model: ScriptedModel, way: str) -> None:
    home.configure(scripted(scripted_model.port))
    if way == "through the gateway":
        gateway()

    def echo(request: WireRequest) -> WireReply:
        content = request.json["messages"][-1]["content"]
        text = content if isinstance(content, str) else content[-1]["text"]
        return chat_text(f"heard {text}", delay_s=(len(request.body) % 7) * 0.02)

    scripted_model.script(echo)
    count = 12
    writers = [home.start("agent", "--session-key", "many", "--message", f"n={n}", "--json") for n in range(count)]
    for writer in writers:
        out, err = writer.communicate(timeout=90)
        assert writer.returncode == 0, out + err
    session = home.json("sessions", "list")["sessions"][0]
    lines = message_lines(home.transcript(session["sessionId"]))
    assert len(lines) == 2 * count
    asked = []
    for question, answer in zip(lines[::2], lines[1::2], strict=True):
        asked.append(question["message"]["content"])
        assert answer["message"]["content"][0]["text"] == f"heard {asked[-1]}"
    assert sorted(asked) == sorted(f"n={n}" for n in range(count))
    assert len({line["id"] for line in lines}) == 2 * count
    assert [line["parentId"] for line in lines[1:]] == [line["id"] for line in lines[:-1]]
    assert {t["status"] for t in home.json("tasks", "list")["tasks"]} == {"succeeded"}


# ---- configuration while running ---------------------------------------------------------------------


def test_the_configuration_follows_the_file_and_a_broken_one_changes_nothing(
    home: Home, gateway: Starter, scripted_model: ScriptedModel
) -> None:
    config = scripted(scripted_model.port, gateway={"reload": {"debounceMs": 20}})
    home.configure(config)
    running = gateway()
    file = home.state / "openclaw.json"
    scripted_model.script(chat_text("ok"))
    with talk(home, running) as client:
        assert client.call("health")["degraded"] == []
        file.write_text('{"agents": {"defaults": {"model": ')
        degraded = until(lambda: client.call("health")["degraded"])
        assert any("configuration" in text and "last good" in text for text in degraded)
        assert client.run("still there?", key="c")["result"]["meta"]["agentMeta"]["model"] == "m"
        assert client.call("config.get")["config"]["agents"]["defaults"]["model"]["primary"] == "mock/m"
        assert file.read_text() == '{"agents": {"defaults": {"model": '

        file.write_text(json.dumps({**config, "agents": {"defaults": {"modl": "mock/nine"}}}))
        degraded = until(lambda: [t for t in client.call("health")["degraded"] if "modl" in t])
        assert "model" in degraded[0]

        config["agents"]["defaults"]["model"] = "mock/nine"
        fresh = file.with_suffix(".new")
        fresh.write_text(json.dumps(config))
        fresh.replace(file)
        until(lambda: client.call("config.get")["config"]["agents"]["defaults"]["model"]["primary"] == "mock/nine")
        until(lambda: client.call("health")["degraded"] == [])
        assert client.run("and now?", key="c")["result"]["meta"]["agentMeta"]["model"] == "nine"
        assert running.process.poll() is None


def until(look: Callable[[], Any], seconds: float = 15.0) -> Any:
    """Ask again and again, each time over the network, until the answer is true."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline
        select.select([], [], [], 0.02)
    return found


# ---- load and ends -----------------------------------------------------------------------------------


def test_health_answers_at_once_under_load_and_stopping_is_quick(
    home: Home, gateway: Starter, scripted_model: ScriptedModel
) -> None:
    home.configure(scripted(scripted_model.port, agents={"maxConcurrent": 60}))
    running = gateway()
    scripted_model.script(HANG)
    with talk(home, running) as client:
        for number in range(50):
            client.call("chat.send", message="x", sessionKey=f"load{number}", idempotencyKey=f"load-{number}")
        until(lambda: len(scripted_model.requests) == 50)
        times = []
        for _ in range(30):
            started = time.monotonic()
            assert running.get("/healthz")[0] == 200
            times.append(time.monotonic() - started)
        assert statistics.median(times) < 0.1
        assert client.call("health")["runs"]["active"] == 50
    started = time.monotonic()
    assert running.stop() == 0
    assert time.monotonic() - started < 5
    scripted_model.script(chat_text("after all"))
    again = gateway()
    with talk(home, again) as client:
        for number in range(50):
            answer = client.call("agent.wait", runId=f"load-{number}", timeoutMs=30_000)
            assert answer["status"] == "ok", answer
        counts = client.call("status")["journal"]
        assert (counts["accepted"], counts["answered"], counts["pending"]) == (50, 50, 0)
    for session in home.json("sessions", "list")["sessions"]:
        roles = [line["message"]["role"] for line in message_lines(home.transcript(session["sessionId"]))]
        assert roles == ["user", "assistant"]


def test_no_task_stays_running_after_a_kill(home: Home, gateway: Starter, scripted_model: ScriptedModel) -> None:
    home.configure(scripted(scripted_model.port))
    running = gateway()
    scripted_model.script(HANG)
    asking = [
        home.start("agent", "--session-key", f"t{n}", "--message", f"x{n}", "--run-id", f"task-{n}", "--json")
        for n in range(2)
    ]
    with talk(home, running) as client:
        until(lambda: len(scripted_model.requests) == 2 and client.call("health")["runs"]["active"] == 2)
        queued = {"message": "later", "sessionKey": "t0", "idempotencyKey": "task-2"}
        client.answer(client.send("agent", **queued))
        assert client.call("tasks.list")["count"] == 3
    running.kill()
    for process in asking:
        out, _ = process.communicate(timeout=20)
        assert process.returncode == 1
        assert json.loads(out)["error"]["code"] == "gateway_unavailable"
    assert {t["status"] for t in home.json("tasks", "list")["tasks"]} <= {"running", "queued"}

    first = {"role": "user", "content": "x0"}
    scripted_model.script(lambda r: HANG if r.json["messages"][-1] == first else chat_text("resumed"))
    again = gateway()
    with talk(home, again) as client:
        until(lambda: any(body["messages"][-1] == first for body in scripted_model.bodies))
        assert home.json("tasks", "cancel", "task-0")["cancelled"] is True
        twice = home.json("tasks", "cancel", "task-0")
        assert (twice["cancelled"], twice["reason"]) == (False, "already ended")
        until(lambda: not {"running", "queued"} & {t["status"] for t in client.call("tasks.list")["tasks"]})
        tasks = client.call("tasks.list")["tasks"]
        assert {t["runId"]: t["status"] for t in tasks} == {
            "task-0": "cancelled",
            "task-1": "succeeded",
            "task-2": "succeeded",
        }
        for task in tasks:
            assert task["endedAt"] >= task["startedAt"] >= task["createdAt"]

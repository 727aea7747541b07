"""A disk that runs full: nothing acknowledged is lost, the error is clear, work goes on without a restart."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from client import Client, Refused
from home import Gateway, Home, message_lines, scripted
from scripted import ScriptedModel, chat_text


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "openclaw-test", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {done.stderr.strip()} (run as root)")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(place: Path) -> Path:
    """Take every byte that is left."""
    file = place / "filler"
    with file.open("wb", buffering=0) as out:
        size = 65_536
        while size:
            try:
                out.write(b"\xff" * size)
            except OSError:
                size //= 2
    return file


@pytest.fixture
def home(small: Path) -> Home:
    return Home(small / "state")


def test_a_full_disk_loses_nothing_and_work_goes_on(
    home: Home, small: Path, gateway: Callable[..., Gateway], scripted_model: ScriptedModel
) -> None:
    home.configure(scripted(scripted_model.port))
    running = gateway()
    accepted: list[str] = []
    with Client(running.url) as client:
        client.connect(home.token())
        scripted_model.script(chat_text("ok"))
        client.run("before", key="disk", run_id="run-before")
        accepted.append("run-before")
        filler = fill(small)
        refusals: list[str] = []
        for number in range(40):
            try:
                answer = client.call(
                    "chat.send",
                    message=f"{number} {'x' * 20_000}",
                    sessionKey=f"disk{number % 3}",
                    idempotencyKey=f"run-{number}",
                )
            except Refused as error:
                assert error.code == "disk_full"
                assert error.error["retryable"] is True
                assert error.error["details"]["hint"]
                refusals.append(f"run-{number}")
            else:
                accepted.append(answer["runId"])
        assert len(refusals) >= 10
        assert running.get("/healthz")[0] == 200
        assert client.call("health")["ok"]
        told = home.json("agent", "--message", "hello", "--run-id", "run-cli", status=1)
        assert told["error"]["code"] == "disk_full"
        filler.unlink()
        for run_id in accepted:
            assert client.call("agent.wait", runId=run_id, timeoutMs=30_000)["status"] == "ok", run_id
        assert client.run("after", key="disk")["result"]["payloads"][0]["text"] == "ok"
        assert client.run("again", key="disk0", run_id=refusals[0])["status"] == "ok"
        counts = client.call("status")["journal"]
        assert counts["accepted"] == counts["answered"] == len(accepted) + 2
    running.kill()
    found: list[str] = []
    for session in home.json("sessions", "list")["sessions"]:
        lines = message_lines(home.transcript(session["sessionId"]))
        roles = [line["message"]["role"] for line in lines]
        assert roles == ["user", "assistant"] * (len(roles) // 2)
        assert len({line["id"] for line in lines}) == len(lines)
        found += [line["runId"] for line in lines[::2]]
    assert len(found) == len(set(found)) == len(accepted) + 2
    assert set(accepted) <= set(found)


def test_a_gateway_that_cannot_begin_says_why_and_begins_later(
    home: Home, small: Path, gateway: Callable[..., Gateway], scripted_model: ScriptedModel
) -> None:
    home.configure(scripted(scripted_model.port))
    filler = fill(small)
    refused = home.json("gateway", "run", "--port", "0", status=1)
    assert refused["error"]["code"] == "disk_full", refused
    filler.unlink()
    assert gateway().get("/readyz")[0] == 200

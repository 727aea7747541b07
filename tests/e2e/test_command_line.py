"""Every command with ``--json``: standard output is one JSON document, whatever else happens; pipes may close."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from client import Client
from home import OPENCLAW, Gateway, Home, scripted
from scripted import ScriptedModel, chat_text

from openclaw_core.testing.plugin_env import PluginEnv

NOISY = """
    print("a plugin prints at import")
    import sys
    sys.stdout.write("\\x1b[31mred\\x1b[0m")
    import os
    os.write(1, b"even past Python\\n")
    from openclaw_core.plugin import hookimpl

    @hookimpl
    def openclaw_tools(env):
        print("and in its hook")
        return []
"""

# command, exit status without a gateway, exit status with one
COMMANDS: list[tuple[list[str], int, int]] = [
    (["agent", "--message", "hello", "--local", "--session-key", "l"], 0, 0),
    (["agent", "--message", "hello", "--session-key", "g"], 0, 0),
    (["agent", "--message", "x", "--model", "no/such"], 1, 1),
    (["agent", "--no-such-option"], 1, 1),
    (["audit"], 0, 0),
    (["config", "get", "gateway.port"], 0, 0),
    (["config", "get", "no.such"], 1, 1),
    (["config", "schema"], 0, 0),
    (["config", "set", "gateway.port", "many"], 1, 1),
    (["doctor"], 0, 0),
    (["gateway", "call", "health"], 1, 0),
    (["gateway", "call", "no.such"], 1, 1),
    (["gateway", "call", "health", "--params", "["], 1, 1),
    (["gateway", "health"], 1, 0),
    (["gateway", "status"], 0, 0),
    (["models", "list", "--all"], 0, 0),
    (["models", "status"], 0, 0),
    (["plugins", "list"], 0, 0),
    (["plugins", "inspect", "openai"], 0, 0),
    (["plugins", "inspect", "nothing"], 1, 1),
    (["plugins", "doctor"], 0, 0),
    (["sessions", "list"], 0, 0),
    (["sessions", "show", "l"], 0, 0),
    (["sessions", "show", "nothing"], 1, 1),
    (["status"], 0, 0),
    (["tasks", "list"], 0, 0),
    (["tasks", "show", "l"], 0, 0),
    (["tasks", "cancel", "l"], 0, 0),
    (["trace", "--last"], 0, 0),
    (["trace", "nothing"], 1, 1),
    (["no-such-command"], 1, 1),
]


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home whose configuration and plugins make as much noise as they can."""
    folder = tmp_path_factory.mktemp("noisy")
    env = PluginEnv(folder / "dists")
    env.add("noisy-plugin", entry_points={"openclaw.tools": {"noisy": "noisy_plugin"}}, modules={"noisy_plugin": NOISY})
    home = Home(folder / "state", env={"PYTHONPATH": str(env.folder), "FORCE_COLOR": "1"})
    with ScriptedModel() as model:
        config = scripted(model.port, logging={"level": "info"})
        config["models"]["providers"]["unset"] = {
            "baseUrl": "http://127.0.0.1:1",
            "apiKey": {"source": "env", "provider": "default", "id": "NOPE_X"},
        }
        home.configure(config)
        home.run("plugins", "enable", "noisy")
        model.script(chat_text("hi"))
        yield home


def documents(home: Home, statuses: list[tuple[list[str], int | None]]) -> Iterator[str]:
    """What is wrong with each command's output."""
    for arguments, status in statuses:
        done = home.run(*arguments, "--json", status=None)
        try:
            value = json.loads(done.stdout)
        except ValueError:
            yield f"{arguments}: not one JSON document: {done.stdout[:200]!r} {done.stderr[-300:]!r}"
            continue
        if isinstance(value, dict) and "'internal'" in str(value.get("error")):
            yield f"{arguments}: an internal error: {value}"
        if status is None:
            continue
        if done.returncode != status:
            yield f"{arguments}: status {done.returncode} instead of {status}: {done.stdout[:300]}"
        if "\x1b" in done.stdout:
            yield f"{arguments}: colour codes"
        if "Traceback" in done.stderr:
            yield f"{arguments}: {done.stderr[-500:]}"
        if status and not (value["ok"] is False and {"code", "message", "hint"} <= set(value["error"])):
            yield f"{arguments}: no error object: {value}"


def test_every_command_prints_one_document_without_a_gateway(noisy: Home) -> None:
    assert list(documents(noisy, [(a, down) for a, down, _ in COMMANDS])) == []


def test_commands_that_talk_to_a_gateway_print_one_document(noisy: Home) -> None:
    process = noisy.start("gateway", "run", "--port", "0", "--json")
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["ready"] is True
    try:
        talking = [(a, up) for a, down, up in COMMANDS if down != up or a[0] in ("agent", "status")]
        assert list(documents(noisy, talking)) == []
    finally:
        process.terminate()
        out, err = process.communicate(timeout=20)
    assert out == ""
    assert "Traceback" not in err


@pytest.mark.parametrize("broken", ["an unset variable", "an unknown key", "no JSON"])
def test_with_a_broken_configuration_too(home: Home, broken: str) -> None:
    texts = {
        "an unset variable": '{"models": {"providers": {"x": {"apiKey": "${NOPE_X}"}}}}',
        "an unknown key": '{"gatway": {"port": 1}}',
        "no JSON": '{"gateway": {',
    }
    home.configure({})
    file = home.state / "openclaw.json"
    file.write_text(texts[broken])
    every: list[list[str]] = [["doctor"], ["agent", "-m", "x"], ["config", "validate"], ["plugins", "list"]]
    assert list(documents(home, [(arguments, None) for arguments in every])) == []
    assert file.read_text() == texts[broken]


def test_without_json_a_failure_leaves_standard_output_empty(noisy: Home) -> None:
    done = noisy.run("sessions", "show", "nothing", status=1)
    assert done.stdout == ""
    assert "There is no session" in done.stderr


@pytest.fixture
def large(home: Home, gateway: Callable[..., Gateway], scripted_model: ScriptedModel) -> Home:
    """A session of more than a megabyte."""
    home.configure(scripted(scripted_model.port))
    scripted_model.script(chat_text("word " * 50_000))
    with Client(gateway().url) as client:
        client.connect(home.token())
        for _ in range(5):
            client.run("more", key="large")
    return home


def test_pipes_that_close_early_read_slowly_or_are_not_there(large: Home, tmp_path: Path) -> None:
    show = [str(OPENCLAW), "sessions", "show", "large", "--json"]
    options: dict[str, Any] = {"env": large.environment(), "stderr": subprocess.PIPE}
    early = subprocess.Popen(show, stdout=subprocess.PIPE, **options)
    assert early.stdout is not None
    early.stdout.readline()
    early.stdout.close()
    assert early.stderr is not None
    err = early.stderr.read()
    early.stderr.close()
    assert early.wait(30) in (0, 141)
    assert err == b""

    slow = subprocess.Popen(show, stdout=subprocess.PIPE, **options)
    assert slow.stdout is not None
    got = b""
    while piece := os.read(slow.stdout.fileno(), 8192):
        got += piece
    slow.communicate()
    assert slow.returncode == 0
    assert len(got) > 1_000_000
    json.loads(got)

    closed = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *show], check=False, timeout=30, **options)
    assert closed.returncode == 1
    full = subprocess.run(["sh", "-c", 'exec "$@" >/dev/full', "sh", *show], check=False, timeout=30, **options)
    assert full.returncode == 1
    for done in (closed, full):
        lines = done.stderr.decode().splitlines()
        assert lines[0].startswith("error: ")
        assert len(lines) <= 2
        assert "Traceback" not in done.stderr.decode()

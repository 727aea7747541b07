"""Fixtures of the end-to-end tests: a real model server, command line and gateway process, all on loopback."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import peers
import pytest
from client import Client
from home import Gateway, Home, ModelServer, free_port, scripted, wait_http
from scripted import ScriptedModel
from table import Table


@pytest.fixture
def model_server(tmp_path: Path) -> Iterator[Callable[[list[dict[str, Any]]], ModelServer]]:
    """Start aimock with fixtures; several times in one test if need be."""
    started: list[subprocess.Popen[Any]] = []
    command = peers.aimock()
    assert command, "install it: tools/install_peers.sh aimock"

    def start(fixtures: list[dict[str, Any]]) -> ModelServer:
        port = free_port()
        file = tmp_path / f"fixtures-{port}.json"
        file.write_text(json.dumps({"fixtures": fixtures}))
        process = subprocess.Popen(
            [*command, "-p", str(port), "-h", "127.0.0.1", "-f", str(file), "--strict"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        started.append(process)
        wait_http(f"http://127.0.0.1:{port}/__aimock/journal", process)
        return ModelServer(port)

    yield start
    for process in started:
        process.terminate()
        process.wait(10)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "state")


@pytest.fixture
def scripted_model() -> Iterator[ScriptedModel]:
    """A server that answers with whatever bytes the test wants."""
    with ScriptedModel() as model:
        yield model


def launch(home: Home, *arguments: str) -> Gateway:
    """Start the gateway of `home` and wait until it is ready."""
    process = home.start("gateway", "run", "--port", "0", "--json", *arguments)
    assert process.stdout is not None
    line = process.stdout.readline()
    if '"ready":' not in line:
        process.kill()
        pytest.fail(line + "\n".join(process.communicate()))
    ready = json.loads(line)
    return Gateway(process, ready["url"], ready["port"])


@pytest.fixture
def gateway(home: Home) -> Iterator[Callable[..., Gateway]]:
    """Start the gateway of `home`; ended after the test."""
    started: list[Gateway] = []

    def start(*arguments: str, **env: str) -> Gateway:
        home.env.update(env)
        started.append(launch(home, *arguments))
        return started[-1]

    yield start
    for running in started:
        if running.process.poll() is None:
            running.process.kill()
        running.process.communicate()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Home, Gateway, ScriptedModel]]:
    home = Home(tmp_path_factory.mktemp("faults") / "state")
    with ScriptedModel() as model:
        config = scripted(model.port)
        config["agents"]["entries"] = {
            "main": {"default": True},
            "chained": {"model": {"primary": "claude/c", "fallbacks": ["mock/m"]}},
            **{f"last{n}": {"historyTurns": n} for n in (1, 2, 3, 4)},
        }
        home.configure(config)
        home.workspace.mkdir()
        running = launch(home)
        yield home, running, model
        running.process.kill()
        running.process.communicate()


@pytest.fixture
def table(
    served: tuple[Home, Gateway, ScriptedModel], request: pytest.FixtureRequest
) -> Iterator[Callable[[str], Table]]:
    """Sit down at a conversation of this test with one of the agents."""
    home, gateway, model = served
    clients = ExitStack()

    def sit(agent: str = "main") -> Table:
        client = clients.enter_context(Client(gateway.url))
        client.connect(home.token())
        name = "".join(c if c.isalnum() else "-" for c in request.node.name).lower()
        return Table(home, client, model, f"agent:{agent}:{name}")

    with clients:
        yield sit


@pytest.fixture
def open_client(served: tuple[Home, Gateway, ScriptedModel]) -> Iterator[Callable[..., Client]]:
    """A fresh connection, closed after the test."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(Client(served[1].url, **options))


@pytest.fixture
def client(served: tuple[Home, Gateway, ScriptedModel], open_client: Callable[..., Client]) -> Client:
    """A connection that said who it is."""
    opened = open_client()
    opened.connect(served[0].token())
    return opened

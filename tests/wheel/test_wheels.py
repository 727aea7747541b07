"""The wheel, not the tree: built wheels in an empty environment complete a tool turn through every entry."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

ROOT = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).parent / "uv"
FOLDERS = [
    ROOT,
    *sorted(p.parent for p in ROOT.glob("plugins/*/pyproject.toml")),
    *([ROOT / "skills"] if (ROOT / "skills" / "pyproject.toml").exists() else []),
]
MARKER = "the bird is a kingfisher"
FRESH = os.environ.get("OPENCLAW_FRESH") == "1"


def call(*command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    done = subprocess.run([str(c) for c in command], cwd=cwd, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheels")
    for folder in FOLDERS:
        call(UV, "build", "--quiet", "--wheel", "--out-dir", out, folder)
    return out


@pytest.fixture(scope="module")
def binaries(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment that holds nothing but the wheels and what they ask for."""
    place = tmp_path_factory.mktemp("empty") / "venv"
    call(UV, "venv", "--quiet", "--python", sys.executable, place)
    pins = [] if FRESH else ["-c", ROOT / "requirements" / "constraints.txt"]
    env = {**os.environ, "VIRTUAL_ENV": str(place)}
    call(UV, "pip", "install", "--quiet", *pins, *sorted(wheels.glob("*.whl")), env=env)
    return place / "bin"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    workspace = tmp_path / "state" / "workspace"
    workspace.mkdir(parents=True)
    (workspace / "note.md").write_text(MARKER + "\n")
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "TMPDIR")}
    return {**keep, "OPENCLAW_STATE_DIR": str(tmp_path / "state")}


@pytest.fixture
def port(binaries: Path, environment: dict[str, str], tmp_path: Path) -> Iterator[int]:
    process = subprocess.Popen(
        [str(binaries / "openclaw"), "gateway", "run", "--port", "0", "--json"],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    yield int(json.loads(process.stdout.readline())["port"])
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0
    process.stdout.close()


def test_wheels_hold_what_they_should(wheels: Path) -> None:
    assert len(list(wheels.glob("*.whl"))) == len(FOLDERS)
    for wheel in wheels.glob("*.whl"):
        names = zipfile.ZipFile(wheel).namelist()
        tops = {n.split("/")[0] for n in names if ".dist-info/" not in n}
        assert tops == {wheel.name.split("-")[0]}, "one package of its own a wheel"
        assert any(n.endswith("py.typed") for n in names)
        assert not any("/tests/" in n or n.endswith(".pyc") for n in names)


def test_migrations_and_lists_are_inside(wheels: Path) -> None:
    store = zipfile.ZipFile(next(wheels.glob("openclaw_store_sqlite-*"))).namelist()
    assert "openclaw_store_sqlite/migrations/0001_init.sql" in store
    core = zipfile.ZipFile(next(wheels.glob("openclaw_core-*"))).namelist()
    assert "openclaw_core/plugins/bundled.txt" in core


def test_the_command_line_alone(binaries: Path, environment: dict[str, str], tmp_path: Path) -> None:
    out = call(
        binaries / "openclaw", "agent", "--local", "--message", "read note.md", "--json", env=environment, cwd=tmp_path
    )
    assert MARKER in json.loads(out)["payloads"][0]["text"]
    rows = json.loads(call(binaries / "openclaw", "plugins", "list", "--json", env=environment, cwd=tmp_path))[
        "plugins"
    ]
    assert {r["distribution"] for r in rows} >= {
        f.name
        for f in FOLDERS[1:]
        if "-lib-" not in f.name and f.name != "openclaw-all" and f.name.startswith("openclaw-")
    }
    assert [r for r in rows if r["state"] == "error"] == []


def test_the_command_line_through_the_gateway(
    binaries: Path, environment: dict[str, str], port: int, tmp_path: Path
) -> None:
    out = call(binaries / "openclaw", "agent", "--message", "read note.md", "--json", env=environment, cwd=tmp_path)
    assert MARKER in json.loads(out)["result"]["payloads"][0]["text"]


def test_the_websocket(environment: dict[str, str], port: int) -> None:
    token = (Path(environment["OPENCLAW_STATE_DIR"]) / "gateway.token").read_text().strip()
    with connect(f"ws://127.0.0.1:{port}", proxy=None) as socket:

        def ask(ident: str, method: str, params: dict[str, Any]) -> None:
            socket.send(json.dumps({"type": "req", "id": ident, "method": method, "params": params}))

        assert json.loads(socket.recv(timeout=10))["event"] == "connect.challenge"
        ask("1", "connect", {"minProtocol": 3, "maxProtocol": 4, "auth": {"token": token}, "client": {"id": "test"}})
        ask("2", "agent", {"message": "read note.md", "idempotencyKey": "wheel-run"})
        frames: list[dict[str, Any]] = []
        while len([f for f in frames if f.get("id") == "2"]) < 2:
            frames.append(json.loads(socket.recv(timeout=30)))
    answers = [f for f in frames if f.get("id") == "2"]
    assert answers[0]["payload"]["status"] == "accepted"
    assert MARKER in answers[1]["payload"]["result"]["payloads"][0]["text"]

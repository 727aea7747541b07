"""A state directory, the command line on it, a gateway process and a model server: what end-to-end tests use."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OPENCLAW = Path(sys.executable).parent / "openclaw"


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def wait_http(url: str, process: subprocess.Popen[Any], *, seconds: float = 30.0) -> None:
    """Until a server answers; connection refusals are the only thing that is waited out."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(url, timeout=2).read()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            assert process.poll() is None, f"the server ended with {process.returncode}"
            assert time.monotonic() < deadline, f"{url} did not answer"
            process.poll()
            select.select([], [], [], 0.05)


@dataclass
class ModelServer:
    """aimock: answers by fixtures, keeps a journal of requests."""

    port: int

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def requests(self) -> list[dict[str, Any]]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/__aimock/journal", timeout=5) as response:
            data = json.load(response)
        entries = data if isinstance(data, list) else data.get("entries") or data.get("requests") or []
        return list(entries)


@dataclass
class Home:
    """A state directory with its configuration, and the command line on it."""

    state: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def workspace(self) -> Path:
        return self.state / "workspace"

    def configure(self, config: dict[str, Any]) -> None:
        self.state.mkdir(parents=True, exist_ok=True)
        (self.state / "openclaw.json").write_text(json.dumps(config))

    def environment(self) -> dict[str, str]:
        own = {k: v for k, v in os.environ.items() if not k.startswith("OPENCLAW_") and not k.endswith("_API_KEY")}
        return {**own, "OPENCLAW_STATE_DIR": str(self.state), **self.env}

    def run(self, *arguments: str, status: int | None = 0, **kwargs: Any) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(OPENCLAW), *arguments], env=self.environment(), capture_output=True, text=True, timeout=90, **kwargs
        )
        if status is not None:
            assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *arguments: str, status: int = 0) -> Any:
        return json.loads(self.run(*arguments, "--json", status=status).stdout)

    def token(self) -> str:
        """What clients of this state directory's gateway show."""
        return (self.state / "gateway.token").read_text().strip()

    def transcript(self, session_id: str, agent: str = "main") -> Path:
        """Where a conversation lies."""
        return self.state / "agents" / agent / "sessions" / f"{session_id}.jsonl"

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(OPENCLAW), *arguments],
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def message_lines(file: Path) -> list[dict[str, Any]]:
    """The message lines of a transcript; a line that is not JSON raises."""
    lines = [json.loads(line) for line in file.read_bytes().split(b"\n") if line]
    return [line for line in lines if line["type"] == "message"]


@dataclass
class Gateway:
    process: subprocess.Popen[str]
    url: str
    port: int

    def get(self, path: str) -> tuple[int, Any]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def stop(self, *, sig: int = signal.SIGTERM) -> int:
        self.process.send_signal(sig)
        return self.process.wait(10)

    def kill(self) -> None:
        """Pull the plug."""
        self.process.kill()
        self.process.wait(10)


def provider(server: ModelServer, *, api: str = "openai-completions", model: str = "mock") -> dict[str, Any]:
    """A configuration whose default model is the server's."""
    base = server.base_url if api.startswith("openai") else f"http://127.0.0.1:{server.port}"
    entry = {
        "baseUrl": base,
        "apiKey": "sk-test-canary-4711",
        "api": api,
        "models": [{"id": model, "contextWindow": 64000}],
    }
    return {"models": {"providers": {"mock": entry}}, "agents": {"defaults": {"model": f"mock/{model}"}}}


def scripted(port: int, *, agents: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A configuration with one scripted server behind an OpenAI (`mock/m`) and an Anthropic (`claude/c`) provider.

    `agents` is merged over ``agents.defaults``, `more` over the whole.
    """
    base = f"http://127.0.0.1:{port}"
    chat = {"baseUrl": f"{base}/v1", "apiKey": "sk-test-canary-4711", "api": "openai-completions"}
    claude = {"baseUrl": base, "apiKey": "sk-test-canary-4711", "api": "anthropic-messages"}
    window = {"contextWindow": 200_000, "input": ["text", "image"]}
    mistral = {"compat": {"toolId": "alnum9"}}
    providers = {
        "mock": {**chat, "models": [{"id": "m", **window}, {"id": "nine", **window, **mistral}]},
        "openai": {**chat, "models": [{"id": name, **window} for name in ("gpt-4o", "gpt-5", "o4-mini")]},
        "claude": {**claude, "models": [{"id": "c", **window, "reasoning": True}]},
    }
    return {
        "models": {"providers": providers},
        "agents": {"defaults": {"model": "mock/m", **(agents or {})}},
        **more,
    }

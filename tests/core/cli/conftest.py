"""The command line as a person runs it: within this process for speed, or as a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from openclaw_core.cli.entry import run


@dataclass
class Result:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Process:
    """Runs `python -m openclaw_core` on a state directory of the test's own."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.config = state / "openclaw.json"
        hidden = ("OPENCLAW_", "PYTHONDONTWRITEBYTECODE", "NO_COLOR", "FORCE_COLOR")
        self.environ = {k: v for k, v in os.environ.items() if not k.startswith(hidden)}
        self.environ |= {"OPENCLAW_STATE_DIR": str(state), "HOME": str(state)}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "openclaw_core", *arguments]

    def __call__(self, *arguments: str, **environ: str) -> Result:
        done = subprocess.run(
            self.command(*arguments), env={**self.environ, **environ}, capture_output=True, timeout=90, check=False
        )
        return checked(Result(done.returncode, done.stdout.decode(), done.stderr.decode()))


class InProcess(Process):
    """The same without starting Python each time: the same entry, the same descriptors."""

    def __init__(self, state: Path, capture: pytest.CaptureFixture[str]) -> None:
        super().__init__(state)
        self._capture = capture

    def __call__(self, *arguments: str, **environ: str) -> Result:
        self._capture.readouterr()
        with replaced_environ({**self.environ, **environ}):
            status = run(arguments)
        out, err = self._capture.readouterr()
        return checked(Result(status, out, err))


@contextlib.contextmanager
def replaced_environ(wanted: dict[str, str]) -> Iterator[None]:
    """The environment of one command; PYTHONPATH works as for a new process."""
    before, path, modules = dict(os.environ), list(sys.path), set(sys.modules)
    os.environ.clear()
    os.environ.update(wanted)
    folders = [part for part in wanted.get("PYTHONPATH", "").split(os.pathsep) if part]
    sys.path[:0] = folders
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            file = getattr(sys.modules[name], "__file__", None) or ""
            if any(file.startswith(folder) for folder in folders):
                del sys.modules[name]


def checked(result: Result) -> Result:
    assert "Traceback" not in result.err, result.err
    assert "Exception ignored" not in result.err, result.err
    return result


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def process(state: Path) -> Process:
    return Process(state)


@pytest.fixture
def cli(state: Path, capfd: pytest.CaptureFixture[str]) -> InProcess:
    return InProcess(state, capfd)

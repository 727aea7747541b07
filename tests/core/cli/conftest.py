"""The command line as a person runs it: a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass
class Result:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Cli:
    """Runs `python -m openclaw_core` on a state directory of the test's own."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.config = state / "openclaw.json"
        self.environ = {k: v for k, v in os.environ.items() if not k.startswith("OPENCLAW_")}
        self.environ |= {"OPENCLAW_STATE_DIR": str(state), "HOME": str(state)}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "openclaw_core", *arguments]

    def __call__(self, *arguments: str, **environ: str) -> Result:
        done = subprocess.run(
            self.command(*arguments), env={**self.environ, **environ}, capture_output=True, timeout=90, check=False
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in err, err
        assert "Exception ignored" not in err, err
        return Result(done.returncode, out, err)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    return Cli(state)

"""The three public doors: exactly these names. A change here is a change for every plugin author."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

DOORS = ("plugin", "sdk", "testing")
PINNED = Path(__file__).with_name("public_names.json")


@pytest.mark.parametrize("door", DOORS)
def test_the_door_is_sorted_and_complete(door: str) -> None:
    module = importlib.import_module(f"openclaw_core.{door}")
    assert list(module.__all__) == sorted(set(module.__all__))
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


@pytest.mark.parametrize("door", DOORS)
def test_the_names_are_pinned(door: str) -> None:
    module = importlib.import_module(f"openclaw_core.{door}")
    pinned = json.loads(PINNED.read_text())[door]
    assert list(module.__all__) == pinned, "a public name changed: write a change note and update public_names.json"


def test_the_light_door_stays_light() -> None:
    code = "import openclaw_core.plugin, sys; print(' '.join(m.split('.')[0] for m in sys.modules))"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert loaded.isdisjoint({"pydantic", "httpx", "click", "starlette", "yaml", "stevedore", "rich", "asyncio"})


def test_version_is_answered_from_argv_alone() -> None:
    code = (
        "import sys; sys.argv = ['openclaw', '--version']\n"
        "from openclaw_core.__main__ import main\n"
        "try: main()\n"
        "except SystemExit as stop: print(stop.code, ' '.join(m.split('.')[0] for m in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("openclaw ")
    status, *modules = done.stderr.split()
    assert status == "0"
    assert set(modules).isdisjoint({"click", "pydantic", "asyncio", "importlib_metadata", "pluggy", "logging"})

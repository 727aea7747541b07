"""Every hook has a docstring, a heading in the docs, and a typed caller."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from openclaw_core.hooks import specs
from openclaw_core.hooks.relay import HookRelay

HOOKS = sorted(name for name in vars(specs) if name.startswith("openclaw_"))
DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "hooks.md"


def test_these_are_the_hooks() -> None:
    assert (
        sorted(
            f"openclaw_{name}"
            for name in [
                "channels",
                "providers",
                "tools",
                "skill_sources",
                "runtimes",
                "audit_sinks",
                "stores",
                "http_routes",
                "rpc_methods",
                "commands",
                "chat_commands",
                "doctor_checks",
                "prompt_sections",
                "tool_policy",
                "listeners",
                "config_migrations",
                "gateway_ready",
            ]
        )
        == HOOKS
    )


@pytest.mark.parametrize("name", HOOKS)
def test_the_hook_is_documented(name: str) -> None:
    assert inspect.getdoc(getattr(specs, name))
    assert f"## `{name}`" in DOCS.read_text()


@pytest.mark.parametrize("name", HOOKS)
def test_the_hook_has_a_typed_caller(name: str) -> None:
    caller = getattr(HookRelay, name.removeprefix("openclaw_"))
    assert caller.__annotations__.get("return")


def test_generated_pages_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, "tools/generate_docs.py", "--check"], cwd=DOCS.parents[2], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr

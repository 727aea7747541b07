from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from openclaw_tools_files.plugin import SPECS

from openclaw_core.sdk import ToolEnv, ToolResult
from openclaw_core.testing.contracts.tool import make_call, resolve, tool_context, tool_env

Run = Callable[..., Awaitable[ToolResult]]


@pytest.fixture
def env(tmp_path: Path) -> ToolEnv:
    return tool_env(tmp_path)


@pytest.fixture
def workspace(env: ToolEnv) -> Path:
    return env.workspace


@pytest.fixture
def run(env: ToolEnv) -> Run:
    """Call a tool by name; `ctx` are fields of the context."""

    async def call(name: str, *, ctx: dict[str, Any] | None = None, **arguments: Any) -> ToolResult:
        spec = next(spec for spec in SPECS if spec.name == name)
        return await resolve(spec.factory)(env).execute(make_call(spec, arguments), tool_context(env, **(ctx or {})))

    return call

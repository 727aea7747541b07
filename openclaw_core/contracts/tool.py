"""The tool: one ability the model can call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from openclaw_core.domain.tools import ToolCall, ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Where a call runs. `roots` are the directories beneath which files may be opened, the workspace
    first; files only through `openclaw_core.sdk.open_beneath`."""

    workspace: Path
    roots: tuple[Path, ...]
    agent_id: str
    session_key: str
    session_id: str
    run_id: str
    channel: str
    context_window: int = 200_000
    model_input: tuple[str, ...] = ("text",)
    meta: Mapping[str, Any] = field(default_factory=dict)


class Tool(Protocol):
    """An executable tool."""

    async def execute(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        """Do it. Cancellation must work at every await. ToolError's message goes to the model; any
        other exception becomes an error result without its text leaving the process log."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnv:
    """What `openclaw_tools` and tool factories see: the agent and the plugin's own configuration."""

    agent_id: str
    workspace: Path
    state_dir: Path
    config: Mapping[str, Any] = field(default_factory=dict)
    """The whole configuration as plain data, secrets removed."""
    plugin_config: Any = None

"""The tools of one agent: specs from plugins, schemas built once, objects made at first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from openclaw_core.contracts.tool import Tool, ToolEnv
from openclaw_core.domain.tools import ToolSchema
from openclaw_core.errors import OpenClawError
from openclaw_core.observe.logging import get_logger
from openclaw_core.plugin import ToolSpec
from openclaw_core.tools.policy import Removal, Stage, filter_tools
from openclaw_core.tools.schema import of_model

_log = get_logger("tools")

Resolver = Callable[[str, str], Any]
"""(plugin id, import string) -> object; raises PluginLoadError."""


@dataclass(slots=True)
class BoundTool:
    """A tool with its schema; the working object is made at the first call."""

    spec: ToolSpec
    plugin_id: str
    schema: ToolSchema
    model: type[BaseModel] | None
    _make: Callable[[], Tool]
    _tool: Tool | None = None

    @property
    def tool(self) -> Tool:
        """The working object."""
        if self._tool is None:
            self._tool = self._make()
        return self._tool


@dataclass(slots=True)
class ToolBox:
    """All tools an agent may be offered, after policy, sorted by name."""

    tools: dict[str, BoundTool] = field(default_factory=dict)
    removed: list[Removal] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    _schemas: tuple[ToolSchema, ...] | None = None

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """What the model is told; the same object while the box lives."""
        if self._schemas is None:
            self._schemas = tuple(self.tools[name].schema for name in sorted(self.tools))
        return self._schemas

    def get(self, name: str) -> BoundTool | None:
        """A tool by its exact name."""
        return self.tools.get(name)


def build(specs: Sequence[tuple[str, ToolSpec]], env: ToolEnv, resolve: Resolver, stages: Sequence[Stage]) -> ToolBox:
    """Bind the specs of one agent. A spec that cannot be bound, or whose name is taken, costs only itself."""
    box = ToolBox()
    by_plugin: dict[str, list[str]] = {}
    bound: dict[str, BoundTool] = {}
    for plugin_id, spec in specs:
        if spec.name in bound:
            box.problems.append(
                f"tool '{spec.name}' of plugin '{plugin_id}' is left out: {bound[spec.name].plugin_id} has it"
            )
            continue
        try:
            bound[spec.name] = _bind(plugin_id, spec, env, resolve)
        except OpenClawError as error:
            box.problems.append(f"tool '{spec.name}' of plugin '{plugin_id}': {error.message}")
            continue
        by_plugin.setdefault(plugin_id, []).append(spec.name)
    names, box.removed = filter_tools(sorted(bound), stages, plugins=by_plugin)
    box.tools = {name: bound[name] for name in names}
    if box.removed:
        _log.info("tool policy removed tools", agent=env.agent_id, tools=",".join(r.tool for r in box.removed))
    for problem in box.problems:
        _log.warning("tool not available", problem=problem)
    return box


def _bind(plugin_id: str, spec: ToolSpec, env: ToolEnv, resolve: Resolver) -> BoundTool:
    model: type[BaseModel] | None = None
    if spec.args_model is not None:
        model = resolve(plugin_id, spec.args_model)
        parameters: Mapping[str, Any] = of_model(model)
    else:
        parameters = spec.parameters or {"type": "object", "properties": {}}
    schema = ToolSchema(name=spec.name, description=spec.description, parameters=parameters)

    def make() -> Tool:
        tool: Tool = resolve(plugin_id, spec.factory)(env)
        return tool

    return BoundTool(spec=spec, plugin_id=plugin_id, schema=schema, model=model, _make=make)

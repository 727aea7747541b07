"""What every tool must do. Subclass `ToolContract` and give the fixture `tool_case`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from openclaw_core.contracts.tool import Tool, ToolContext, ToolEnv
from openclaw_core.domain.messages import ImageBlock, TextBlock
from openclaw_core.domain.tools import ToolCall, ToolResult
from openclaw_core.errors import ToolError
from openclaw_core.plugin import ToolSpec


def tool_env(folder: Path) -> ToolEnv:
    """An agent whose workspace is ``folder/workspace`` (made here) and whose state lies beside it."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    return ToolEnv(agent_id="main", workspace=workspace, state_dir=folder / "state")


def tool_context(env: ToolEnv, **changes: Any) -> ToolContext:
    """A run of that agent; keyword arguments replace fields."""
    values: dict[str, Any] = {
        "workspace": env.workspace,
        "roots": (env.workspace,),
        "agent_id": env.agent_id,
        "session_key": "agent:main:main",
        "session_id": "session",
        "run_id": "run",
        "channel": "cli",
    }
    return ToolContext(**(values | changes))


def resolve(name: str) -> Any:
    """The object of an import string."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def make_call(spec: ToolSpec, arguments: Mapping[str, Any]) -> ToolCall:
    """A call as core makes it: aliases replaced, arguments parsed by the tool's model."""
    real = {spec.aliases.get(name, name): value for name, value in arguments.items()}
    parsed = resolve(spec.args_model).model_validate(real) if spec.args_model else None
    return ToolCall(id="call", name=spec.name, arguments=real, parsed=parsed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCase:
    """A tool under test.

    `good` are arguments of a call that succeeds, `bad` of calls that fail with ToolError. `prepare` fills the
    workspace before each test, `state` tells the state that the good call may change (for tools that are
    idempotent or read-only).
    """

    spec: ToolSpec
    env: ToolEnv
    good: Mapping[str, Any]
    bad: tuple[Mapping[str, Any], ...] = ()
    prepare: Callable[[], None] = lambda: None
    state: Callable[[], object] = lambda: None
    context: Mapping[str, Any] = field(default_factory=dict)

    def tool(self) -> Tool:
        """The tool, made as core makes it."""
        self.prepare()
        made: Tool = resolve(self.spec.factory)(self.env)
        return made

    async def run(self, tool: Tool, arguments: Mapping[str, Any]) -> ToolResult:
        """One call."""
        return await tool.execute(make_call(self.spec, arguments), tool_context(self.env, **self.context))


class ToolContract:
    """Tests of the contract `Tool`."""

    def test_the_model_is_told_what_the_tool_does(self, tool_case: ToolCase) -> None:
        """Name, description and schema are there, short, and JSON."""
        spec = tool_case.spec
        assert spec.name.replace("_", "").isalnum()
        assert spec.description.endswith(".")
        schema = resolve(spec.args_model).model_json_schema() if spec.args_model else spec.parameters
        assert schema is not None
        assert schema["type"] == "object"
        assert len(json.dumps(schema)) < 16_000
        assert set(spec.aliases.values()) <= set(schema["properties"])
        assert not set(spec.aliases) & set(schema["properties"])

    async def test_a_good_call_gives_a_result(self, tool_case: ToolCase) -> None:
        """Content is text or images, valid Unicode, and not an error."""
        result = await tool_case.run(tool_case.tool(), tool_case.good)
        assert isinstance(result, ToolResult)
        assert not result.is_error
        assert result.content
        for block in result.content:
            assert isinstance(block, TextBlock | ImageBlock)
            (block.text if isinstance(block, TextBlock) else block.data).encode()
        json.dumps(result.details)

    async def test_arguments_that_core_did_not_parse_work_too(self, tool_case: ToolCase) -> None:
        """A caller that passes plain data gets the same answer."""
        tool, ctx = tool_case.tool(), tool_context(tool_case.env, **tool_case.context)
        call = ToolCall(id="call", name=tool_case.spec.name, arguments=dict(tool_case.good))
        assert not (await tool.execute(call, ctx)).is_error
        with pytest.raises(ToolError):
            await tool.execute(
                ToolCall(id="call", name=tool_case.spec.name, arguments={"no such argument": object()}), ctx
            )

    async def test_failures_are_tool_errors_that_name_no_host_path(self, tool_case: ToolCase) -> None:
        """The model reads the message; it learns nothing about the machine from it."""
        tool = tool_case.tool()
        for arguments in tool_case.bad:
            with pytest.raises(ToolError) as error:
                await tool_case.run(tool, arguments)
            assert error.value.code
            assert error.value.message.rstrip().endswith((".", "?"))
            asked = json.dumps(dict(arguments))
            for path in (str(tool_case.env.workspace), str(tool_case.env.state_dir), str(Path.home())):
                assert path in asked or path not in error.value.message

    async def test_what_may_be_repeated_changes_nothing_the_second_time(self, tool_case: ToolCase) -> None:
        """After a crash core runs such a tool again."""
        spec = tool_case.spec
        if not (spec.read_only or spec.idempotent):
            pytest.skip(f"{spec.name} declares neither read_only nor idempotent")
        tool = tool_case.tool()
        before = tool_case.state()
        await tool_case.run(tool, tool_case.good)
        once = tool_case.state()
        await tool_case.run(tool, tool_case.good)
        assert tool_case.state() == once
        if spec.read_only:
            assert once == before

    async def test_calls_at_the_same_time_do_not_disturb_each_other(self, tool_case: ToolCase) -> None:
        """One object serves all runs of an agent."""
        tool = tool_case.tool()
        if not (tool_case.spec.read_only or tool_case.spec.idempotent):
            pytest.skip(f"{tool_case.spec.name} may not be repeated")
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(tool_case.run(tool, tool_case.good)) for _ in range(8)]
        assert len({repr(task.result()) for task in tasks}) == 1

    async def test_cancelling_works(self, tool_case: ToolCase) -> None:
        """A cancelled call ends at once."""
        tool = tool_case.tool()
        task = asyncio.get_running_loop().create_task(tool_case.run(tool, tool_case.good))
        await asyncio.sleep(0)
        task.cancel()
        async with asyncio.timeout(1.0):
            await asyncio.wait([task])
        assert task.cancelled() or task.done()

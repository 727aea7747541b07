"""The only caller of a tool: checks, policy, deadline, errors, size."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from openclaw_core.contracts.tool import ToolContext
from openclaw_core.domain.messages import ToolCallBlock
from openclaw_core.domain.tools import ToolCall, ToolResult
from openclaw_core.errors import ToolError
from openclaw_core.observe.logging import get_logger, redact
from openclaw_core.plugin import ToolPolicyRequest
from openclaw_core.tools.registry import BoundTool, ToolBox
from openclaw_core.tools.schema import check
from openclaw_core.tools.truncate import cap_chars, truncate_blocks

_log = get_logger("tools")

Gate = Callable[[ToolPolicyRequest], Awaitable[str | None]]
"""Asks every policy and intercepting listener; the text of a refusal, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A call that may run, or the result that takes its place."""

    tool: BoundTool | None
    call: ToolCall | None
    refusal: ToolResult | None
    error_code: str = ""


def error_result(text: str, *, code: str) -> ToolResult:
    """An error as the model sees it; `code` goes to the audit."""
    return ToolResult.text(text, is_error=True, details={"status": "error", "code": code})


def prepare(block: ToolCallBlock, box: ToolBox) -> Checked:
    """Everything that can be said about a call without running it: name, arguments, schema."""
    tool = box.get(block.name)
    if tool is None:
        known = ", ".join(sorted(box.tools)) or "none"
        text = f'There is no tool "{block.name[:80]}". Available tools: {known}.'
        return Checked(tool=None, call=None, refusal=error_result(text, code="unknown_tool"), error_code="unknown_tool")
    if block.arguments is None:
        text = (
            f'The arguments of "{block.name}" were not one complete JSON object, so the tool was not run. '
            "Call it again with complete arguments."
        )
        return Checked(
            tool=tool,
            call=None,
            refusal=error_result(text, code="incomplete_arguments"),
            error_code="incomplete_arguments",
        )
    arguments = _renamed(block.arguments, tool.spec.aliases)
    try:
        parsed = check(block.name, arguments, model=tool.model, schema=tool.schema.parameters)
    except ToolError as error:
        return Checked(
            tool=tool, call=None, refusal=error_result(error.message, code=error.code), error_code=error.code
        )
    call = ToolCall(id=block.id, name=block.name, arguments=arguments, parsed=parsed)
    return Checked(tool=tool, call=call, refusal=None)


def _renamed(arguments: Mapping[str, Any], aliases: Mapping[str, str]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in arguments.items():
        real = aliases.get(name, name)
        if real == name or real not in arguments:
            out[real] = value
    return out


async def invoke(tool: BoundTool, call: ToolCall, ctx: ToolContext, *, gate: Gate) -> ToolResult:
    """Run one call and return its result; errors become results, only cancellation passes through."""
    request = ToolPolicyRequest(
        tool=call.name,
        agent_id=ctx.agent_id,
        session_key=ctx.session_key,
        channel=ctx.channel,
        run_id=ctx.run_id,
        call_id=call.id,
        arguments=call.arguments,
    )
    refusal = await gate(request)
    if refusal is not None:
        return error_result(f"Refused: {refusal}", code="tool_refused")
    try:
        async with asyncio.timeout(tool.spec.timeout_s):
            result: object = await tool.tool.execute(call, ctx)  # a plugin may return anything
    except TimeoutError:
        return error_result(f"The tool did not finish within {tool.spec.timeout_s:g} seconds.", code="tool_timeout")
    except ToolError as error:
        return error_result(redact(error.message), code=error.code)
    except Exception as error:  # noqa: BLE001  # the boundary that keeps a broken tool from ending the run
        _log.error("tool failed", tool=call.name, plugin=tool.plugin_id, error=repr(error), exc_info=error)
        return error_result(f"The tool failed ({type(error).__name__}).", code="tool_failed")
    if not isinstance(result, ToolResult):
        _log.error("tool broke its contract", tool=call.name, plugin=tool.plugin_id, returned=type(result).__name__)
        return error_result("The tool gave no usable result.", code="tool_contract")
    return _sized(result, ctx)


def _sized(result: ToolResult, ctx: ToolContext) -> ToolResult:
    cap = cap_chars(ctx.context_window)
    blocks = truncate_blocks(result.content, cap)
    if blocks is result.content:
        return result
    return ToolResult(content=blocks, is_error=result.is_error, details=result.details, media=result.media)

"""A run context whose model answers are scripted; tools are plain functions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from openclaw_core.domain.events import (
    ModelAnswer,
    ModelEvent,
    Notice,
    RunEvent,
    TextDelta,
    TextReset,
    ToolFinished,
    ToolStarted,
)
from openclaw_core.domain.ids import AgentId, RunId, SessionId, SessionKey
from openclaw_core.domain.messages import (
    AssistantMessage,
    Block,
    Message,
    StopReason,
    TextBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
)
from openclaw_core.domain.models import ModelInfo
from openclaw_core.domain.tools import ToolSchema
from openclaw_core.domain.turns import RunLimits, Turn


def answer(text: str = "", *calls: tuple[str, str, Mapping[str, Any]]) -> AssistantMessage:
    """A model answer: text and/or calls as (id, tool, arguments)."""
    blocks: list[Block] = [TextBlock(text=text)] if text else []
    blocks += [ToolCallBlock(id=i, name=n, arguments=a) for i, n, a in calls]
    return AssistantMessage(content=tuple(blocks), stop_reason=StopReason.TOOL_USE if calls else StopReason.STOP)


@dataclass(slots=True)
class ScriptedContext:
    """Implements the contract `RunContext`. `script` holds an answer, or an exception, for each request."""

    script: list[AssistantMessage | Exception]
    functions: Mapping[str, Callable[[Mapping[str, Any]], str]] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    requests: list[list[Message]] = field(default_factory=list)
    calls: list[ToolCallBlock] = field(default_factory=list)
    steer: list[UserMessage] = field(default_factory=list)
    before_answer: Callable[[], Any] | None = None

    @property
    def tools(self) -> Sequence[ToolSchema]:
        """See the contract."""
        return [ToolSchema(name=n, description=n, parameters={"type": "object"}) for n in self.functions]

    def conversation(self) -> list[Message]:
        """See the contract."""
        return list(self.messages)

    async def request_model(self, messages: Sequence[Message]) -> AsyncGenerator[ModelEvent | TextReset | Notice, None]:
        """See the contract."""
        self.requests.append(list(messages))
        if self.before_answer is not None:
            await self.before_answer()
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        if step.text:
            yield TextDelta(text=step.text)
        self.messages.append(step)
        yield ModelAnswer(message=step)

    async def call_tools(self, answer: AssistantMessage) -> AsyncGenerator[RunEvent | ToolResultMessage, None]:
        """See the contract."""
        done = {m.tool_call_id for m in self.messages if isinstance(m, ToolResultMessage)}
        for block in answer.tool_calls:
            if block.id in done:
                continue
            self.calls.append(block)
            yield ToolStarted(call_id=block.id, name=block.name, arguments=block.arguments or {})
            text = self.functions[block.name](block.arguments or {})
            result = ToolResultMessage(
                tool_call_id=block.id, tool_name=block.name, content=(TextBlock(text=text),), timestamp=0
            )
            self.messages.append(result)
            yield ToolFinished(call_id=block.id, name=block.name, is_error=False, duration_ms=0)
            yield result

    def take_steer(self) -> Sequence[UserMessage]:
        """See the contract."""
        taken, self.steer = self.steer, []
        return taken


def turn(text: str = "hello", *, limits: RunLimits | None = None) -> Turn:
    """A turn as core would build it."""
    made = Turn(
        run_id=RunId("run"),
        session_key=SessionKey("agent:main:main"),
        session_id=SessionId("session"),
        agent_id=AgentId("main"),
        message=UserMessage(content=(TextBlock(text=text),)),
        model=ModelInfo(provider="fake", id="model"),
        channel="cli",
        system_prompt="",
        system_dynamic="",
    )
    return replace(made, limits=limits) if limits is not None else made

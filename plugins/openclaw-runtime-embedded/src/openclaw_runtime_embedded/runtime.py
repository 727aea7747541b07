"""The model loop: ask the model, run its tools, ask again, until it answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

from openclaw_core.sdk import (
    AssistantMessage,
    Message,
    ModelAnswer,
    ModelFinished,
    ModelStarted,
    Notice,
    RunContext,
    RunEvent,
    RunId,
    RunLimit,
    RuntimeEnv,
    TextDelta,
    TextReset,
    ThinkingDelta,
    ToolCallDelta,
    ToolResultMessage,
    Turn,
)


class EmbeddedRuntime:
    """Implements the contract `Runtime`. It keeps nothing between runs: all state is the conversation."""

    async def run(self, turn: Turn, ctx: RunContext) -> AsyncIterator[RunEvent]:
        """Run the turn; see the contract."""
        requests = 0
        while True:
            messages = ctx.conversation()
            answer = open_answer(messages)
            if answer is not None:
                async with aclosing(ctx.call_tools(answer)) as results:
                    async for item in results:
                        if not isinstance(item, ToolResultMessage):
                            yield item
                continue
            if messages and isinstance(messages[-1], AssistantMessage):
                return
            if requests >= turn.limits.max_model_requests:
                raise RunLimit(
                    f"The run was ended after {requests} model requests.",
                    hint="Ask again with a narrower task, or start a new session with /new.",
                )
            requests += 1
            async for event in self._ask(requests, turn, ctx, messages):
                yield event

    async def _ask(
        self, number: int, turn: Turn, ctx: RunContext, messages: Sequence[Message]
    ) -> AsyncIterator[RunEvent]:
        yield ModelStarted(request=number, provider=turn.model.provider, model=turn.model.id)
        async with aclosing(ctx.request_model([*messages, *ctx.take_steer()])) as events:
            async for event in events:
                if isinstance(event, ModelAnswer):
                    yield ModelFinished(request=number, message=event.message)
                elif isinstance(event, TextDelta | ThinkingDelta | ToolCallDelta | TextReset | Notice):
                    yield event

    async def cancel(self, run_id: RunId) -> None:
        """Nothing to do: cancelling the task stops everything."""

    async def aclose(self) -> None:
        """Nothing is kept."""


def open_answer(messages: Sequence[Message]) -> AssistantMessage | None:
    """The last assistant message, if some of its tool calls have no result yet."""
    results: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, ToolResultMessage):
            results.add(message.tool_call_id)
        elif isinstance(message, AssistantMessage):
            return message if any(call.id not in results for call in message.tool_calls) else None
        else:
            return None
    return None


def create(env: RuntimeEnv) -> EmbeddedRuntime:
    """Factory named by the spec."""
    del env
    return EmbeddedRuntime()

"""What every runtime does with a turn."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from openclaw_core.contracts.runtime import Runtime
from openclaw_core.domain.events import ModelFinished, RunEvent, TextDelta, ToolFinished, ToolStarted
from openclaw_core.domain.messages import AssistantMessage, ToolResultMessage
from openclaw_core.domain.turns import RunLimits
from openclaw_core.errors import ErrorKind, ProviderError, RunLimit
from openclaw_core.testing.fakes.run_context import ScriptedContext, answer, turn


class RuntimeContract:
    """Subclass it and give the fixture `runtime`. For runtimes that ask core's models."""

    @pytest.fixture
    def runtime(self) -> Runtime:
        """The runtime under test."""
        raise NotImplementedError

    @staticmethod
    def context(*script: AssistantMessage | Exception) -> ScriptedContext:
        """A context with one tool, ``echo``, and the user's message."""
        made = ScriptedContext(list(script), {"echo": lambda a: str(a.get("text", ""))})
        made.messages.append(turn().message)
        return made

    @staticmethod
    async def events(runtime: Runtime, ctx: ScriptedContext, limits: RunLimits | None = None) -> list[RunEvent]:
        """Run to the end."""
        return [event async for event in runtime.run(turn(limits=limits), ctx)]

    async def test_answers(self, runtime: Runtime) -> None:
        """Text arrives as deltas, then the answer stands last in the conversation."""
        ctx = self.context(answer("Hello!"))
        found = await self.events(runtime, ctx)
        assert [e.text for e in found if isinstance(e, TextDelta)] == ["Hello!"]
        last = ctx.messages[-1]
        assert isinstance(last, AssistantMessage)
        assert last.text == "Hello!"

    async def test_runs_tools_and_asks_again(self, runtime: Runtime) -> None:
        """Calls run in order; the next request holds their results."""
        first = answer("", ("c1", "echo", {"text": "one"}), ("c2", "echo", {"text": "two"}))
        ctx = self.context(first, answer("done"))
        found = await self.events(runtime, ctx)
        assert [c.id for c in ctx.calls] == ["c1", "c2"]
        assert sum(isinstance(e, ToolStarted) for e in found) == sum(isinstance(e, ToolFinished) for e in found) == 2
        assert sum(isinstance(e, ModelFinished) for e in found) == 2
        results = [m.text for m in ctx.requests[1] if isinstance(m, ToolResultMessage)]
        assert results == ["one", "two"]

    async def test_resumes_behind_a_crash(self, runtime: Runtime) -> None:
        """A conversation that ends with an open call goes on there, without asking the model first."""
        ctx = self.context(answer("done"))
        ctx.messages.append(answer("", ("c1", "echo", {"text": "one"}), ("c2", "echo", {"text": "two"})))
        await self.events(runtime, ctx)
        assert [c.id for c in ctx.calls] == ["c1", "c2"]
        assert len(ctx.requests) == 1

    async def test_an_answered_conversation_asks_nothing(self, runtime: Runtime) -> None:
        """A crash after the last answer costs no second request."""
        ctx = self.context()
        ctx.messages.append(answer("already answered"))
        await self.events(runtime, ctx)
        assert ctx.requests == []

    async def test_the_bound_holds(self, runtime: Runtime) -> None:
        """An endless loop ends with RunLimit after exactly the allowed requests."""
        script: list[Any] = [answer("", (f"c{n}", "echo", {"text": str(n)})) for n in range(10)]
        ctx = self.context(*script)
        with pytest.raises(RunLimit):
            await self.events(runtime, ctx, RunLimits(max_model_requests=3))
        assert len(ctx.requests) == 3

    async def test_a_failure_passes_through(self, runtime: Runtime) -> None:
        """What core gave up on is not tried again."""
        ctx = self.context(ProviderError("no", kind=ErrorKind.AUTH))
        with pytest.raises(ProviderError):
            await self.events(runtime, ctx)
        assert len(ctx.requests) == 1

    async def test_cancelling_stops_at_once(self, runtime: Runtime) -> None:
        """Cancelling the iterating task ends the run while the model is silent."""
        ctx = self.context(answer("never"))
        asked = asyncio.Event()

        async def silent() -> None:
            asked.set()
            await asyncio.Event().wait()

        ctx.before_answer = silent
        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            task = group.create_task(self.events(runtime, ctx))
            await asked.wait()
            task.cancel()
        assert task.cancelled()
        assert len(ctx.messages) == 1

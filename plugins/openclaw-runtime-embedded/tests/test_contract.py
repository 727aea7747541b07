"""The embedded runtime keeps the contract of its kind."""

from __future__ import annotations

import pytest
from openclaw_runtime_embedded.runtime import EmbeddedRuntime, create, open_answer

from openclaw_core.sdk import RuntimeEnv, UserMessage
from openclaw_core.testing import RuntimeContract
from openclaw_core.testing.fakes.run_context import answer, turn


class TestEmbedded(RuntimeContract):
    @pytest.fixture
    def runtime(self) -> EmbeddedRuntime:
        return create(RuntimeEnv(state_dir="unused"))

    async def test_steered_messages_join_the_next_request(self, runtime: EmbeddedRuntime) -> None:
        ctx = self.context(answer("", ("c1", "echo", {"text": "x"})), answer("done"))
        ctx.steer.append(UserMessage(content=turn("also this").message.content))
        await self.events(runtime, ctx)
        assert [m.text for m in ctx.requests[0] if isinstance(m, UserMessage)] == ["hello", "also this"]
        assert len(ctx.requests[1]) == 3


def test_open_answer_sees_only_the_last_answer() -> None:
    first = answer("", ("c1", "echo", {}))
    assert open_answer([turn().message, first]) is first
    assert open_answer([turn().message, first, turn().message]) is None
    assert open_answer([]) is None

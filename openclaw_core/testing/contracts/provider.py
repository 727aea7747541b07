"""What every provider plugin must do; subclass it in the plugin's tests.

class TestContract(ProviderContract):
    plugin = "openclaw_provider_x.plugin"

    @pytest.fixture
    async def provider(self): ...

    @pytest.fixture
    def text_request(self): ...

    @pytest.fixture
    def tool_request(self): ...
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from openclaw_core.contracts.provider import ModelRequest, Provider
from openclaw_core.domain.events import ModelAnswer, ModelEvent, TextDelta, ToolCallDelta
from openclaw_core.domain.messages import (
    AssistantMessage,
    Message,
    StopReason,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
)
from openclaw_core.errors import ErrorKind, ProviderError
from openclaw_core.plugin import API, ProviderSpec

HEAVY = ("pydantic", "httpx", "httpx2", "anthropic", "click", "openclaw_core.sdk")
"""What a `plugin.py` must not import."""


def odd_history() -> tuple[Message, ...]:
    """A history as a crash, another vendor and a queue of messages may leave it; the last word is a person's."""
    call = ToolCallBlock(id="fn-é|x", name="no such tool", arguments=None, raw='{"q"')
    return (
        AssistantMessage(content=(TextBlock(text="Hello, I was here first."),), stop_reason=StopReason.STOP),
        ToolResultMessage(tool_call_id="orphan", tool_name="read", content=(TextBlock(text="nobody asked"),)),
        UserMessage(content=(TextBlock(text="one"),)),
        UserMessage(content=(TextBlock(text=""),)),
        UserMessage(content=(TextBlock(text="two \ud83d\0"),)),
        AssistantMessage(content=(ThinkingBlock(thinking="cut off"), call, call), stop_reason=StopReason.TOOL_USE),
        UserMessage(content=(TextBlock(text="three"),)),
        ToolResultMessage(tool_call_id="fn-é|x", tool_name="no such tool", content=()),
        AssistantMessage(content=(), stop_reason=StopReason.ERROR),
    )


async def collect(stream: AsyncIterator[ModelEvent]) -> list[ModelEvent]:
    """All events of a stream."""
    return [event async for event in stream]


class ProviderContract:
    """Subclass, name the plugin module, and give the three fixtures."""

    plugin: ClassVar[str]
    """Module path of the plugin's `plugin.py`."""

    @pytest.fixture
    async def provider(self) -> Provider:
        """The provider under test; a fixture that yields may close what it made."""
        raise NotImplementedError

    @pytest.fixture
    def text_request(self) -> ModelRequest:
        """A request that is answered with text in at least two pieces."""
        raise NotImplementedError

    @pytest.fixture
    def tool_request(self) -> ModelRequest:
        """A request that is answered with at least one complete tool call."""
        raise NotImplementedError

    def specs(self) -> Sequence[ProviderSpec]:
        """What the plugin's hook returns."""
        module: Any = importlib.import_module(self.plugin)
        return list(module.openclaw_providers())

    def test_the_plugin_module_is_light(self) -> None:
        """Listing plugins must import no library of theirs."""
        code = f"import sys, json, {self.plugin}; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603  # our own interpreter and module name
        assert json.loads(done.stdout) == []

    def test_the_specs_are_whole(self) -> None:
        """Ids, models, defaults and import strings fit together."""
        for spec in self.specs():
            assert spec.api == API
            assert spec.id
            assert spec.summary
            module, _, name = spec.factory.partition(":")
            assert callable(getattr(importlib.import_module(module), name))
            ids = [m.id for m in spec.models]
            assert len(ids) == len(set(ids))
            assert not spec.default_model or spec.default_model in ids
            assert not spec.default_api or not spec.wire_apis or spec.default_api in spec.wire_apis
            assert not spec.needs_key or spec.env_keys
            for model in spec.models:
                assert model.context_window >= model.max_tokens > 0
                assert all(price >= 0 for price in model.cost)

    async def test_one_answer_and_it_is_last(self, provider: Provider, text_request: ModelRequest) -> None:
        """Deltas add up to the text of the message, which is the only ModelAnswer and the last event."""
        events = await collect(provider.stream(text_request))
        answers = [e for e in events if isinstance(e, ModelAnswer)]
        assert len(answers) == 1
        assert events[-1] is answers[0]
        message = answers[0].message
        pieces = [e.text for e in events if isinstance(e, TextDelta)]
        assert len(pieces) >= 2
        assert "".join(pieces) == message.text != ""
        assert message.stop_reason is StopReason.STOP
        assert message.provider == text_request.model.provider
        assert message.model == text_request.model.id
        assert message.api
        assert message.timestamp > 0
        assert message.usage.cost == pytest.approx(text_request.model.cost.of(message.usage))

    async def test_a_tool_call(self, provider: Provider, tool_request: ModelRequest) -> None:
        """The call has an id, an offered name and an object; its deltas add up to the raw text."""
        events = await collect(provider.stream(tool_request))
        last = events[-1]
        assert isinstance(last, ModelAnswer)
        calls = last.message.tool_calls
        assert calls
        assert last.message.stop_reason is StopReason.TOOL_USE
        assert len({c.id for c in calls}) == len(calls)
        offered = {t.name for t in tool_request.tools}
        for number, call in enumerate(calls):
            assert call.id
            assert call.name in offered
            assert call.arguments is not None
            shown = [e for e in events if isinstance(e, ToolCallDelta) and e.index == number]
            assert "".join(e.fragment for e in shown) == call.raw
            assert call.name in [e.name for e in shown]

    async def test_the_result_goes_back(self, provider: Provider, tool_request: ModelRequest) -> None:
        """A second request with the call and its result is answered too."""
        events = await collect(provider.stream(tool_request))
        last = events[-1]
        assert isinstance(last, ModelAnswer)
        results = tuple(
            ToolResultMessage(tool_call_id=c.id, tool_name=c.name, content=(TextBlock(text="the result"),))
            for c in last.message.tool_calls
        )
        again = replace(tool_request, messages=(*tool_request.messages, last.message, *results))
        events = await collect(provider.stream(again))
        assert isinstance(events[-1], ModelAnswer)

    async def test_any_history_is_answered(self, provider: Provider, text_request: ModelRequest) -> None:
        """Orphans, doubles, cut calls and odd characters are the provider's business."""
        messages = (*odd_history(), *text_request.messages)
        events = await collect(provider.stream(replace(text_request, messages=messages)))
        assert isinstance(events[-1], ModelAnswer)

    async def test_closing_early(self, provider: Provider, text_request: ModelRequest) -> None:
        """A stream may be dropped after its first event; the next request works."""
        stream = provider.stream(text_request)
        async with aclosing(stream) as events:  # type: ignore[type-var]  # the protocol says AsyncIterator, all are generators
            async for _ in events:
                break
        events_after = await collect(provider.stream(text_request))
        assert isinstance(events_after[-1], ModelAnswer)

    async def test_streams_do_not_mix(
        self, provider: Provider, text_request: ModelRequest, tool_request: ModelRequest
    ) -> None:
        """Two requests read in turns give what each gives alone."""
        streams = [provider.stream(text_request), provider.stream(tool_request)]
        got: list[list[ModelEvent]] = [[], []]
        open_streams = [0, 1]
        while open_streams:
            for number in list(open_streams):
                event = await anext(streams[number], None)
                if event is None:
                    open_streams.remove(number)
                else:
                    got[number].append(event)
        text, tool = got[0][-1], got[1][-1]
        assert isinstance(text, ModelAnswer)
        assert isinstance(tool, ModelAnswer)
        assert "".join(e.text for e in got[0] if isinstance(e, TextDelta)) == text.message.text
        assert not text.message.tool_calls
        assert tool.message.tool_calls

    async def test_models_and_classify(self, provider: Provider) -> None:
        """The catalogue needs no network; every failure has a kind."""
        for model in await provider.models():
            assert model.id
        assert provider.classify(TimeoutError()) is ErrorKind.TIMEOUT
        assert provider.classify(ConnectionResetError("reset")) is ErrorKind.TIMEOUT
        assert provider.classify(ProviderError("x", kind=ErrorKind.BILLING)) is ErrorKind.BILLING
        assert provider.classify(RuntimeError("what")) is ErrorKind.UNKNOWN

    async def test_closing_twice(self, provider: Provider) -> None:
        """`aclose` may be called again."""
        await provider.aclose()
        await provider.aclose()

"""Retry, then the next model: exactly as many requests as each kind of failure deserves, with no real waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from openclaw_core.contracts.provider import ModelRequest
from openclaw_core.domain.events import ModelAnswer, Notice, TextDelta, TextReset
from openclaw_core.domain.messages import AssistantMessage, StopReason, TextBlock, UserMessage
from openclaw_core.domain.models import ModelInfo
from openclaw_core.errors import ErrorKind, NotFound, ProviderError
from openclaw_core.models.failover import ATTEMPTS, Candidates, ModelCall
from openclaw_core.testing.fakes.clock import FakeClock

FIRST, SECOND = ModelInfo(provider="a", id="one"), ModelInfo(provider="b", id="two")


def answer(text: str = "done", stop: StopReason = StopReason.STOP) -> ModelAnswer:
    return ModelAnswer(message=AssistantMessage(content=(TextBlock(text=text),), stop_reason=stop))


def failure(kind: ErrorKind, **more: Any) -> ProviderError:
    return ProviderError(f"failed: {kind}", kind=kind, **more)


class Scripted:
    """A provider that plays what the script says for each request: events, then perhaps an exception."""

    def __init__(self, *scripts: list[Any], forever: list[Any] | None = None) -> None:
        self.scripts = list(scripts)
        self.forever = forever
        self.asked: list[str] = []
        self.closed = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Any, None]:
        self.asked.append(request.model.ref)
        script = self.scripts.pop(0) if self.scripts else self.forever
        assert script is not None, "asked more often than expected"
        try:
            for item in script:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            self.closed += 1

    def classify(self, error: BaseException) -> ErrorKind:
        return ErrorKind.TIMEOUT if isinstance(error, TimeoutError) else ErrorKind.UNKNOWN


def call(provider: Scripted, *models: ModelInfo, clock: FakeClock | None = None) -> ModelCall:
    async def reach(_model: ModelInfo) -> Any:
        return provider

    request = ModelRequest(model=FIRST, system="", messages=(UserMessage(content=(TextBlock(text="x"),)),))
    candidates = Candidates(models=models or (FIRST,), provider=reach)
    return ModelCall(candidates, request, clock=clock or FakeClock(jump=True), rng=lambda: 0.5)


async def play(made: ModelCall) -> list[Any]:
    return [event async for event in made.events()]


def requests(kind: ErrorKind) -> int:
    return ATTEMPTS if kind.retry else 1


@pytest.mark.parametrize("kind", list(ErrorKind))
async def test_the_number_of_requests_of_each_kind(kind: ErrorKind) -> None:
    provider = Scripted(forever=[failure(kind)])
    made = call(provider, FIRST, SECOND)
    with pytest.raises(ProviderError) as caught:
        await play(made)
    wanted = ["a/one"] * requests(kind) + (["b/two"] * requests(kind) if kind.fallback_model else [])
    assert provider.asked == wanted
    assert caught.value.kind is kind
    assert [a["model"] for a in caught.value.details["attempts"]] == wanted
    assert {a["reason"] for a in caught.value.details["attempts"]} == {kind.value}
    assert provider.closed == len(wanted)


@pytest.mark.parametrize(
    ("kind", "waits"),
    [
        (ErrorKind.RATE_LIMIT, [0.3, 0.6]),
        (ErrorKind.OVERLOADED, [0.25, 0.5]),
        (ErrorKind.UNKNOWN, [0.3, 0.6]),
        (ErrorKind.TIMEOUT, [0.0, 0.0]),
    ],
)
async def test_how_long_is_waited(kind: ErrorKind, waits: list[float]) -> None:
    clock = FakeClock(jump=True)
    with pytest.raises(ProviderError):
        await play(call(Scripted(forever=[failure(kind)]), clock=clock))
    assert clock.slept == pytest.approx(waits)


async def test_retry_after_is_obeyed_up_to_a_bound() -> None:
    clock = FakeClock(jump=True)
    provider = Scripted([failure(ErrorKind.RATE_LIMIT, retry_after=12.0)], [answer()])
    assert (await play(call(provider, clock=clock)))[-1] == answer()
    assert clock.slept == [12.0]

    clock = FakeClock(jump=True)
    provider = Scripted([failure(ErrorKind.RATE_LIMIT, retry_after=31.0)], [answer()])
    events = await play(call(provider, FIRST, SECOND, clock=clock))
    assert provider.asked == ["a/one", "b/two"]
    assert clock.slept == []
    assert isinstance(events[0], Notice)
    assert "a/one" in events[0].text
    assert "rate_limit" in events[0].text


async def test_shown_text_is_taken_back_before_the_next_attempt() -> None:
    provider = Scripted(
        [TextDelta(text="Par"), failure(ErrorKind.OVERLOADED)],
        [failure(ErrorKind.OVERLOADED)],
        [TextDelta(text="Full"), answer("Full")],
    )
    events = await play(call(provider))
    assert events == [TextDelta(text="Par"), TextReset(reason="overloaded"), TextDelta(text="Full"), answer("Full")]


@pytest.mark.parametrize("broken", [[], [TextDelta(text="x")], [answer("")], [answer(" \n")], [ValueError("broken")]])
async def test_an_answer_that_is_none_is_a_failure(broken: list[Any]) -> None:
    provider = Scripted(broken, [answer()])
    assert (await play(call(provider)))[-1] == answer()
    assert provider.asked == ["a/one", "a/one"]


async def test_an_answer_cut_by_length_is_an_answer() -> None:
    cut = answer("", StopReason.LENGTH)
    assert await play(call(Scripted([cut]))) == [cut]


async def test_errors_of_the_network_are_classified_by_the_provider() -> None:
    made = call(Scripted(forever=[TimeoutError("no byte")]))
    with pytest.raises(ProviderError) as caught:
        await play(made)
    assert caught.value.kind is ErrorKind.TIMEOUT


async def test_a_provider_that_cannot_be_reached_leads_to_the_next_model() -> None:
    provider = Scripted([answer()])

    async def reach(model: ModelInfo) -> Any:
        if model is FIRST:
            raise NotFound("No installed plugin serves it.")
        return provider

    request = ModelRequest(model=FIRST, system="", messages=())
    made = ModelCall(Candidates(models=(FIRST, SECOND), provider=reach), request, clock=FakeClock(), rng=lambda: 0.5)
    assert (await play(made))[-1] == answer()
    assert provider.asked == ["b/two"]


async def test_without_a_model_it_says_so() -> None:
    made = call(Scripted(), *())
    made._candidates = Candidates(models=(), provider=made._candidates.provider)
    with pytest.raises(ProviderError, match="No model is configured"):
        await play(made)


async def test_stopping_burns_no_candidate_and_closes_the_stream() -> None:
    class Hanging(Scripted):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[Any, None]:
            self.asked.append(request.model.ref)
            try:
                yield TextDelta(text="x")
                await asyncio.Event().wait()
            finally:
                self.closed += 1

    provider = Hanging()
    made = call(provider, FIRST, SECOND)
    events = made.events()
    assert await anext(events) == TextDelta(text="x")
    waiting = asyncio.ensure_future(anext(events))
    await FakeClock().settle()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (provider.asked, provider.closed, made.attempts) == (["a/one"], 1, [])


async def test_who_stops_listening_closes_the_stream() -> None:
    provider = Scripted([TextDelta(text="x"), TextDelta(text="y"), answer()])
    events = call(provider).events()
    await anext(events)
    await events.aclose()
    assert provider.closed == 1


async def test_secrets_stay_out_of_what_people_read() -> None:
    made = call(Scripted(forever=[ProviderError("bad key sk-abcdefghijklmnopqrstuv", kind=ErrorKind.AUTH)]))
    with pytest.raises(ProviderError) as caught:
        await play(made)
    assert "abcdefghijklmnop" not in str(caught.value.as_dict())

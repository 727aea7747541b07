from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest
from httpx_sse import ServerSentEvent
from hypothesis import given
from hypothesis import strategies as st
from openclaw_provider_anthropic.provider import create, read_events
from openclaw_provider_anthropic.stream import MessagesStream

from openclaw_core.sdk import (
    ErrorKind,
    ModelCost,
    ModelInfo,
    ModelRequest,
    ProviderEnv,
    ProviderError,
    StopReason,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolSchema,
    UserMessage,
)
from openclaw_core.testing.fakes.http import TestHttp
from openclaw_core.testing.fakes.wire import WireReply, WireServer

KEY = "Zq9secret0123456789"
FOUR = "你好🙂é"
USAGE = {"input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 7, "output_tokens": 1}
START = {"type": "message_start", "message": {"id": "msg_1", "usage": USAGE}}
PING = {"type": "ping"}
STOP = {"type": "message_stop"}


def opened(index, **block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index, **fields):
    return {"type": "content_block_delta", "index": index, "delta": fields}


def closed(index):
    return {"type": "content_block_stop", "index": index}


def ended(reason="end_turn"):
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5, "input_tokens": 0}}


def text(index, *pieces):
    deltas = [delta(index, type="text_delta", text=p) for p in pieces]
    return [opened(index, type="text", text=""), *deltas, closed(index)]


OK = WireReply.typed(START, PING, *text(0, "o", "k"), ended(), STOP)


class Bench:
    """A provider in front of a scripted server."""

    def __init__(self, server, provider):
        self.server = server
        self.provider = provider

    async def ask(self, *, idle_s=20.0, tools=(), **fields):
        model = ModelInfo(
            provider="anthropic", id="claude-haiku-4-5", reasoning=True, cost=ModelCost(input=1, cache_read=0.1)
        )
        message = UserMessage(content=(TextBlock(text="hi"),))
        request = ModelRequest(model=model, system="", messages=(message,), idle_s=idle_s, tools=tools, **fields)
        return [event async for event in self.provider.stream(request)]

    async def message(self, **fields):
        return (await self.ask(**fields))[-1].message

    async def error(self, **fields):
        with pytest.raises(ProviderError) as caught:
            await self.ask(**fields)
        assert KEY not in caught.value.message
        return caught.value


@pytest.fixture
async def bench():
    http = TestHttp()
    made = []

    async def make(*replies, path="", **env):
        server = WireServer(*replies)
        await server.__aenter__()
        base = {"provider_id": "anthropic", "base_url": server.base + path, "api": "", "api_key": KEY, "http": http}
        made.append(Bench(server, create(ProviderEnv(**(base | env)))))
        return made[-1]

    yield make
    for one in made:
        await one.provider.aclose()
        await one.server.__aexit__()
    await http.aclose()


async def test_text_and_usage(bench):
    it = await bench(OK)
    message = await it.message()
    assert message.text == "ok"
    assert message.api == "anthropic-messages"
    assert message.response_id == "msg_1"
    usage = message.usage
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (10, 5, 100, 7)
    assert usage.cost == pytest.approx(20 / 1e6)
    sent = it.server.requests[0]
    assert sent.path == "/v1/messages"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers["x-api-key"] == KEY
    assert sent.json["stream"] is True
    assert sent.json["max_tokens"] == 8192


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
async def test_any_form_of_the_address(bench, path):
    it = await bench(OK, path=path)
    await it.ask()
    assert it.server.requests[0].path == "/v1/messages"


async def test_the_connection_is_used_again(bench):
    it = await bench(OK)
    for _ in range(3):
        await it.ask()
    assert it.server.connections == 1


@pytest.mark.parametrize("last", [b"\n\n", b"\n", b""])
async def test_long_characters_one_byte_at_a_time(bench, last):
    events = [START, *text(0, FOUR), ended()]
    body = b"".join(f"event: {e['type']}\r\ndata:{json.dumps(e, ensure_ascii=False)}\r\n\r\n".encode() for e in events)
    body = body.removesuffix(b"\r\n\r\n") + last
    it = await bench(WireReply(pieces=[bytes([b]) for b in body]))
    assert (await it.message()).text == FOUR


async def test_thinking_is_kept_to_the_byte(bench):
    it = await bench(
        WireReply.typed(
            START,
            opened(0, type="thinking", thinking="", signature=""),
            delta(0, type="thinking_delta", thinking="pl"),
            delta(0, type="thinking_delta", thinking="an"),
            delta(0, type="signature_delta", signature="SIG1=="),
            closed(0),
            opened(1, type="redacted_thinking", data="ZZZ"),
            closed(1),
            opened(2, type="thinking", thinking=""),
            delta(2, type="signature_delta", signature="SIG2=="),
            closed(2),
            opened(3, type="tool_use", id="t1", name="read", input={}),
            delta(3, type="input_json_delta", partial_json=""),
            delta(3, type="input_json_delta", partial_json='{"path": '),
            delta(3, type="input_json_delta", partial_json='"a"}'),
            closed(3),
            ended("tool_use"),
            STOP,
        )
    )
    message = await it.message()
    assert message.content == (
        ThinkingBlock(thinking="plan", signature="SIG1=="),
        ThinkingBlock(thinking="", redacted="ZZZ"),
        ThinkingBlock(thinking="", signature="SIG2=="),
        ToolCallBlock(id="t1", name="read", arguments={"path": "a"}, raw='{"path": "a"}'),
    )
    assert message.stop_reason is StopReason.TOOL_USE


@pytest.mark.parametrize(
    ("given", "pieces", "arguments"),
    [({}, [], {}), ({}, [""], {}), ({"a": 1}, [], {"a": 1}), ({}, ['{"q"'], None), ({}, ['{"a":', "2}"], {"a": 2})],
)
async def test_arguments(bench, given, pieces, arguments):
    deltas = [delta(0, type="input_json_delta", partial_json=p) for p in pieces]
    it = await bench(
        WireReply.typed(START, opened(0, type="tool_use", id="t", name="now", input=given), *deltas, ended())
    )
    message = await it.message()
    assert message.tool_calls[0].arguments == arguments
    assert message.stop_reason is StopReason.TOOL_USE


async def test_an_error_after_text_has_started(bench):
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    it = await bench(WireReply.typed(START, PING, *text(0, "Par")[:2], overloaded))
    error = await it.error()
    assert (error.kind, error.output_shown) == (ErrorKind.OVERLOADED, True)


async def test_no_state_is_carried_over(bench):
    without_stop = WireReply.typed(START, *text(0, "one"), ended())
    ping_first = WireReply.typed(PING, START, *text(0, "three"), ended(), STOP)
    it = await bench(without_stop, OK, ping_first)
    assert [(await it.message()).text for _ in range(3)] == ["one", "ok", "three"]
    assert len(it.server.requests) == 3


async def test_events_without_their_start(bench):
    it = await bench(WireReply.typed(delta(0, type="text_delta", text="ok"), STOP))
    assert (await it.message()).text == "ok"


@pytest.mark.parametrize("end", ["close", "cut"])
async def test_a_stream_that_stops(bench, end):
    it = await bench(WireReply(pieces=WireReply.typed(START, *text(0, "Par")).pieces, end=end))
    error = await it.error()
    assert (error.kind, error.output_shown) == (ErrorKind.TIMEOUT, True)
    assert len(it.server.requests) == 1


async def test_a_break_after_the_end_costs_nothing(bench):
    it = await bench(WireReply(pieces=WireReply.typed(START, *text(0, "ok"), ended()).pieces, end="cut"))
    assert (await it.message()).text == "ok"


async def test_silence(bench):
    it = await bench(WireReply(pieces=WireReply.typed(START).pieces, end="hang"))
    error = await it.error(idle_s=0.05)
    assert error.kind is ErrorKind.TIMEOUT
    assert "0.05 s" in error.message
    await it.server.gone.wait()


async def test_dropping_the_stream_closes_the_connection(bench):
    it = await bench(WireReply(pieces=WireReply.typed(START, *text(0, "a")).pieces, end="hang"))
    request = ModelRequest(model=ModelInfo(provider="anthropic", id="m"), system="", messages=())
    stream = it.provider.stream(request)
    await anext(stream)
    await stream.aclose()
    await it.server.gone.wait()


@pytest.mark.parametrize(
    ("status", "kind_word", "said", "kind"),
    [
        (401, "authentication_error", f"invalid x-api-key {KEY}", ErrorKind.AUTH),
        (403, "permission_error", "no", ErrorKind.AUTH_PERMANENT),
        (404, "not_found_error", "model: x", ErrorKind.MODEL_NOT_FOUND),
        (400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", ErrorKind.CONTEXT_OVERFLOW),
        (400, "invalid_request_error", "Your credit balance is too low", ErrorKind.BILLING),
        (400, "invalid_request_error", "messages.1.content.0.tool_use.id: bad", ErrorKind.FORMAT),
        (413, "request_too_large", "x", ErrorKind.CONTEXT_OVERFLOW),
        (500, "api_error", "Internal server error", ErrorKind.TIMEOUT),
        (529, "overloaded_error", "Overloaded", ErrorKind.OVERLOADED),
    ],
)
async def test_refusals(bench, status, kind_word, said, kind):
    it = await bench(WireReply.refusal(status, {"type": "error", "error": {"type": kind_word, "message": said}}))
    error = await it.error()
    assert (error.kind, error.status, error.vendor_code) == (kind, status, kind_word)
    assert len(it.server.requests) == 1


async def test_retry_after(bench):
    it = await bench(WireReply.refusal(429, {"error": {"type": "rate_limit_error", "message": "x"}}, retry_after="9"))
    error = await it.error()
    assert (error.kind, error.retry_after) == (ErrorKind.RATE_LIMIT, 9.0)


async def test_nobody_listens(bench):
    it = await bench(OK, base_url="http://127.0.0.1:1")
    error = await it.error()
    assert error.kind is ErrorKind.TIMEOUT
    assert "Cannot connect" in error.message


async def test_a_tool_described_with_a_lone_surrogate(bench):
    it = await bench(OK)
    await it.ask(tools=(ToolSchema(name="f", description="odd \ud83d", parameters={"type": "object"}),))
    assert it.server.requests[0].json["tools"][0]["description"] == "odd \ufffd"


async def test_many_at_once_share_one_client(bench):
    it = await bench(OK)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(it.message()) for _ in range(8)]
    assert {t.result().text for t in tasks} == {"ok"}


async def test_a_refusal_says_so(bench):
    it = await bench(WireReply.typed(START, *text(0, "no"), ended("refusal"), STOP))
    message = await it.message()
    assert (message.stop_reason, message.error_code) == (StopReason.STOP, "refusal")


def test_the_factory_does_not_import_the_sdk():
    code = (
        "import openclaw_provider_anthropic.provider, sys; print('anthropic' in sys.modules, 'httpx2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


_LEAF = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.text(max_size=4))
_KEYS = st.sampled_from(
    [
        "index",
        "content_block",
        "delta",
        "type",
        "text",
        "thinking",
        "partial_json",
        "message",
        "usage",
        "input",
        "input_tokens",
        "id",
        "name",
        "stop_reason",
        "error",
        "signature",
    ]
)
_ANYTHING = st.recursive(
    _LEAF,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_KEYS, inner, max_size=4)),
    max_leaves=12,
)

_TYPES = st.sampled_from(
    ["message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop", "error", "ping"]
)


@given(st.lists(st.tuples(_TYPES, st.dictionaries(_KEYS, _ANYTHING, max_size=4)), max_size=4))
def test_events_of_any_shape_fail_in_one_way_only(payloads):
    request = ModelRequest(model=ModelInfo(provider="anthropic", id="m"), system="", messages=())
    state = MessagesStream(request)
    events = [ServerSentEvent(event=t, data=json.dumps(p)) for t, p in payloads]
    try:
        for event in read_events(state, events):
            assert event
        message = state.result()
        assert all(isinstance(c.id, str) and isinstance(c.name, str) for c in message.tool_calls)
        message.text.encode()
    except ProviderError as error:
        assert error.message

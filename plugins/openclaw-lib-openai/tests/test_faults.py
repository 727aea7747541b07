from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from httpx_sse import ServerSentEvent
from hypothesis import given
from hypothesis import strategies as st
from openclaw_lib_openai.chat_stream import ChatStream
from openclaw_lib_openai.provider import OpenAIWireProvider, read_events
from openclaw_lib_openai.responses_stream import ResponsesStream

from openclaw_core.sdk import (
    ErrorKind,
    ModelAnswer,
    ModelInfo,
    ModelRequest,
    ProviderEnv,
    ProviderError,
    TextBlock,
    UserMessage,
)
from openclaw_core.testing.fakes.http import TestHttp
from openclaw_core.testing.fakes.wire import WireReply, WireServer

KEY = "Zq9secret0123456789"
FOUR = "你好🙂é"


def delta(finish=None, **fields):
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


OK = WireReply.events(delta(content="ok"), delta("stop"))


class Bench:
    """A provider in front of a scripted server."""

    def __init__(self, server, http, **env):
        self.server = server
        base = {"provider_id": "mock", "base_url": f"{server.base}/v1", "api": "", "api_key": KEY, "http": http}
        self.provider = OpenAIWireProvider(ProviderEnv(**(base | env)))

    async def ask(self, *, idle_s=20.0, **model):
        info = ModelInfo(**({"provider": "mock", "id": "m"} | model))
        message = UserMessage(content=(TextBlock(text="hi"),))
        request = ModelRequest(model=info, system="", messages=(message,), idle_s=idle_s)
        return [event async for event in self.provider.stream(request)]

    async def text(self, **model):
        return (await self.ask(**model))[-1].message.text

    async def error(self, **model):
        with pytest.raises(ProviderError) as caught:
            await self.ask(**model)
        assert KEY not in caught.value.message
        return caught.value


@pytest.fixture
async def bench():
    http = TestHttp()
    servers = []

    async def make(*replies, **env):
        server = WireServer(*replies)
        await server.__aenter__()
        servers.append(server)
        return Bench(server, http, **env)

    yield make
    await http.aclose()
    for server in servers:
        await server.__aexit__()


def each_byte(data):
    return [bytes([b]) for b in data]


@pytest.mark.parametrize("last", [b"\n\n", b"\n", b""])
async def test_long_characters_one_byte_at_a_time(bench, last):
    chunk = json.dumps(delta("stop", content=FOUR), ensure_ascii=False).encode()
    it = await bench(WireReply(pieces=each_byte(b"data: " + chunk + last)))
    assert await it.text() == FOUR


@pytest.mark.parametrize("ends", [(b"\r\n", b"\n"), (b"\r", b"\r")])
async def test_framing_of_real_servers(bench, ends):
    crlf, lf = ends
    pieces = [
        b":" + lf,
        b": OPENROUTER PROCESSING" + crlf + crlf,
        b"id: 7"
        + crlf
        + b"event: message"
        + crlf
        + b'data:{"choices":[{"index":0,"delta":{"content":"o"}}]}'
        + crlf[:1],
        crlf[1:] + crlf,
        b"data: " + lf + lf,
        b": ping" + lf + lf,
        b'data: {"choices":[{"index":0,' + lf + b'data: "delta":{"content":"k"}}]}' + lf + lf,
        b"retry: 10" + lf + lf,
        b"data:[DONE]" + crlf + crlf,
    ]
    it = await bench(WireReply(pieces=[p for p in pieces if p]))
    assert await it.text() == "ok"
    assert len(it.server.requests) == 1


async def test_the_connection_is_used_again(bench):
    it = await bench(OK)
    for _ in range(3):
        assert await it.text() == "ok"
    assert it.server.connections == 1


async def test_done_counts_although_the_server_stays_connected(bench):
    it = await bench(WireReply(pieces=OK.pieces, end="hang"))
    async with asyncio.timeout(5):
        assert await it.text() == "ok"


@pytest.mark.parametrize("end", ["close", "cut"])
@pytest.mark.parametrize("shown", [True, False])
async def test_a_stream_that_stops(bench, end, shown):
    pieces = WireReply.events(delta(content="Par"), done=False).pieces if shown else [b": ping\n\n"]
    it = await bench(WireReply(pieces=pieces, end=end))
    error = await it.error()
    assert error.kind is ErrorKind.TIMEOUT
    assert error.output_shown is shown


async def test_a_break_after_the_finish_costs_nothing(bench):
    it = await bench(WireReply(pieces=WireReply.events(delta("stop", content="ok"), done=False).pieces, end="cut"))
    assert await it.text() == "ok"


async def test_silence(bench):
    it = await bench(WireReply(pieces=[b": ping\n\n"], end="hang"))
    error = await it.error(idle_s=0.05)
    assert error.kind is ErrorKind.TIMEOUT
    assert "0.05 s" in error.message
    await it.server.gone.wait()


async def test_dropping_the_stream_closes_the_connection(bench):
    it = await bench(WireReply(pieces=WireReply.events(delta(content="a"), done=False).pieces, end="hang"))
    request = ModelRequest(model=ModelInfo(provider="mock", id="m"), system="", messages=())
    stream = it.provider.stream(request)
    await anext(stream)
    await stream.aclose()
    await it.server.gone.wait()


async def test_cancelling_closes_the_connection(bench):
    it = await bench(WireReply(pieces=[b": ping\n\n"], end="hang"))
    task = asyncio.create_task(it.ask())
    while not it.server.requests:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await it.server.gone.wait()


async def test_errors_inside_the_stream(bench):
    it = await bench(WireReply.events(delta(content="Par"), {"error": {"code": 502, "message": f"busy {KEY}"}}))
    error = await it.error()
    assert (error.kind, error.status, error.output_shown) == (ErrorKind.TIMEOUT, 502, True)
    it = await bench(WireReply(pieces=[b'event: error\ndata: {"message": "Overloaded"}\n\n']))
    assert (await it.error()).kind is ErrorKind.OVERLOADED
    it = await bench(WireReply(pieces=[b"data: upstream connect error, timed out\n\n"]))
    assert (await it.error()).kind is ErrorKind.TIMEOUT


@pytest.mark.parametrize(
    ("status", "payload", "kind"),
    [
        (
            401,
            {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}},
            ErrorKind.AUTH_PERMANENT,
        ),
        (429, {"error": {"message": "no money", "type": "insufficient_quota"}}, ErrorKind.BILLING),
        (404, {"error": {"message": "no", "code": "model_not_found"}}, ErrorKind.MODEL_NOT_FOUND),
        (400, {"detail": "context length exceeded"}, ErrorKind.CONTEXT_OVERFLOW),
        (400, [{"error": {"message": "bad", "status": "INVALID_ARGUMENT"}}], ErrorKind.FORMAT),
        (503, "down", ErrorKind.OVERLOADED),
        (302, {}, ErrorKind.FORMAT),
    ],
)
async def test_refusals(bench, status, payload, kind):
    it = await bench(WireReply.refusal(status, payload))
    error = await it.error()
    assert (error.kind, error.status, error.output_shown) == (kind, status, False)
    assert error.message.startswith(f"HTTP {status}")
    assert len(it.server.requests) == 1


async def test_retry_after_and_pages_of_proxies(bench):
    it = await bench(WireReply.refusal(429, {"error": "slow"}, retry_after="7"))
    assert (await it.error()).retry_after == 7.0
    page = b"<html><head><title>x</title></head><body><h1>Bad  gateway</h1></body></html>"
    it = await bench(WireReply(status=502, pieces=[page], headers={"content-type": "text/html"}))
    assert (await it.error()).message == "HTTP 502: Bad gateway"
    it = await bench(WireReply(status=500, pieces=[b"x" * 100_000], headers={}))
    assert len((await it.error()).message) <= 300


WANTS_OTHER = {
    "error": {"message": "Unsupported parameter: 'max_tokens'", "code": "unsupported_parameter", "param": "max_tokens"}
}


async def test_the_other_name_of_the_limit_is_tried_once_and_remembered(bench):
    it = await bench(WireReply.refusal(400, WANTS_OTHER), OK)
    assert await it.text() == "ok"
    assert await it.text() == "ok"
    sent = [{k for k in r.json if k.startswith("max_")} for r in it.server.requests]
    assert sent == [{"max_tokens"}, {"max_completion_tokens"}, {"max_completion_tokens"}]


async def test_no_loop_when_the_other_name_is_refused_too(bench):
    it = await bench(WireReply.refusal(400, WANTS_OTHER))
    assert (await it.error()).kind is ErrorKind.FORMAT
    assert len(it.server.requests) == 2


async def test_a_limit_that_is_too_large_is_not_a_wrong_name(bench):
    it = await bench(WireReply.refusal(400, {"error": {"message": "max_tokens is too large", "param": "max_tokens"}}))
    assert (await it.error()).kind is ErrorKind.FORMAT
    assert len(it.server.requests) == 1


async def test_headers_and_paths(bench):
    it = await bench(OK, api_key="", headers={"X-Team": "a"})
    await it.text()
    request = it.server.requests[0]
    assert request.path == "/v1/chat/completions"
    assert "authorization" not in request.headers
    assert request.headers["x-team"] == "a"
    it = await bench(OK)
    await it.text()
    assert it.server.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_json_answer_instead_of_a_stream(bench):
    whole = {"choices": [{"message": {"role": "assistant", "content": "all"}, "finish_reason": "stop"}]}
    it = await bench(WireReply.refusal(200, whole))
    assert await it.text() == "all"


async def test_nobody_listens_and_bad_addresses(bench):
    it = await bench(OK, base_url="http://127.0.0.1:1/v1")
    error = await it.error()
    assert error.kind is ErrorKind.TIMEOUT
    assert "Cannot connect to 127.0.0.1:1" in error.message
    it = await bench(OK, base_url="127.0.0.1:1/v1")
    assert "http://" in (await it.error()).hint
    assert (await it.error(api="bedrock")).kind is ErrorKind.FORMAT
    with pytest.raises(ProviderError):
        await bench(OK, api_key="smart “quotes”")


async def test_classify_knows_http(bench):
    it = await bench(OK)
    assert it.provider.classify(httpx.ReadTimeout("x")) is ErrorKind.TIMEOUT
    assert it.provider.classify(httpx.ConnectError("x")) is ErrorKind.TIMEOUT


CREATED = {"type": "response.created", "response": {"id": "resp_1"}}
USAGE = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 3}


def item(kind, number, **fields):
    return {"type": kind, "output_index": number, "item": {"type": "function_call", "id": f"fc_{number}", **fields}}


async def test_responses_with_interleaved_calls(bench):
    it = await bench(
        WireReply.typed(
            CREATED,
            {"type": "response.reasoning_summary_text.delta", "delta": "hm"},
            {"type": "response.output_text.delta", "delta": "ok"},
            item("response.output_item.added", 1, call_id="c1", name="one", arguments=""),
            item("response.output_item.added", 2, call_id="c2", name="two", arguments=""),
            {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": '{"x"'},
            {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": ""},
            {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": ":1}"},
            item("response.output_item.done", 1, call_id="c1", name="one", arguments='{"x":1}'),
            {"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "usage": USAGE}},
        )
    )
    answer = (await it.ask(api="openai-responses"))[-1]
    assert isinstance(answer, ModelAnswer)
    message = answer.message
    assert [(c.id, c.name, c.arguments) for c in message.tool_calls] == [("c1", "one", {"x": 1}), ("c2", "two", {})]
    assert message.text == "ok"
    assert (message.usage.input, message.usage.cache_read, message.usage.output) == (6, 4, 3)
    assert it.server.requests[0].path == "/v1/responses"


async def test_responses_that_fail(bench):
    failed = {"type": "response.failed", "response": {"error": {"code": "rate_limit_exceeded", "message": "slow"}}}
    it = await bench(WireReply.typed(CREATED, failed))
    assert (await it.error(api="openai-responses")).kind is ErrorKind.RATE_LIMIT
    it = await bench(WireReply.typed(CREATED, {"type": "error", "code": "server_error", "message": "x"}))
    assert (await it.error(api="openai-responses")).kind is ErrorKind.TIMEOUT
    it = await bench(WireReply.typed(CREATED, {"type": "response.output_text.delta", "delta": "Par"}))
    error = await it.error(api="openai-responses")
    assert (error.kind, error.output_shown) == (ErrorKind.TIMEOUT, True)


async def test_responses_cut_by_the_limit_or_sent_whole(bench):
    short = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    it = await bench(
        WireReply.typed(
            {"type": "response.output_text.delta", "delta": "Par"}, {"type": "response.incomplete", "response": short}
        )
    )
    assert (await it.ask(api="openai-responses"))[-1].message.stop_reason == "length"
    output = [
        {"type": "message", "content": [{"type": "output_text", "text": "all"}]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a":1}'},
    ]
    it = await bench(WireReply.refusal(200, {"object": "response", "status": "completed", "output": output}))
    message = (await it.ask(api="openai-responses"))[-1].message
    assert message.text == "all"
    assert message.tool_calls[0].arguments == {"a": 1}


async def test_another_key_in_the_answer_is_hidden_too(bench):
    it = await bench(WireReply.refusal(403, {"error": {"message": "Project key sk-proj-abcdef123456 was disabled"}}))
    error = await it.error()
    assert error.message == "HTTP 403: Project key *** was disabled"
    assert error.kind is ErrorKind.AUTH_PERMANENT


_LEAF = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.text(max_size=4))
_KEYS = st.sampled_from(
    [
        "id",
        "choices",
        "delta",
        "message",
        "content",
        "tool_calls",
        "index",
        "function",
        "name",
        "arguments",
        "usage",
        "error",
        "prompt_tokens",
        "prompt_tokens_details",
        "finish_reason",
        "type",
        "item",
        "response",
        "output",
        "text",
    ]
)
_ANYTHING = st.recursive(
    _LEAF,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_KEYS, inner, max_size=4)),
    max_leaves=12,
)

_TYPES = st.sampled_from(
    [
        "response.created",
        "response.output_text.delta",
        "response.function_call_arguments.delta",
        "response.output_item.added",
        "response.output_item.done",
        "response.completed",
        "error",
    ]
)


@given(
    st.sampled_from([ChatStream, ResponsesStream]),
    st.lists(st.tuples(_TYPES, st.dictionaries(_KEYS, _ANYTHING, max_size=4)), max_size=4),
)
def test_events_of_any_shape_fail_in_one_way_only(kind, payloads):
    request = ModelRequest(model=ModelInfo(provider="mock", id="m"), system="", messages=())
    state = kind(request)
    events = [ServerSentEvent(event=t, data=json.dumps(p)) for t, p in payloads]
    try:
        for event in read_events(state, events):
            assert event
        message = state.result()
        assert all(isinstance(c.id, str) and isinstance(c.name, str) for c in message.tool_calls)
        message.text.encode()
    except ProviderError as error:
        assert error.message

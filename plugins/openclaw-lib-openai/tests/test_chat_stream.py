from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_lib_openai.chat_stream import ChatStream

from openclaw_core.sdk import (
    ErrorKind,
    ModelCost,
    ModelInfo,
    ModelRequest,
    ProviderError,
    StopReason,
    TextDelta,
    ThinkingBlock,
    ToolCallDelta,
)

MODEL = ModelInfo(provider="p", id="m", cost=ModelCost(input=1.0, output=10.0, cache_read=0.1))
REQUEST = ModelRequest(model=MODEL, system="", messages=(), run_id="r")


def delta(finish=None, **fields):
    return {"id": "x", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def call(arguments=None, *, name=None, **fields):
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    return delta(tool_calls=[{**fields, "function": function}])


def play(*chunks, done=True, finish="stop"):
    stream = ChatStream(REQUEST)
    events = []
    for chunk in (*chunks, *((delta(finish),) if finish else ())):
        events += stream.feed("", chunk)
    stream.done = done
    return stream.result(), events


def calls(*chunks):
    message, _ = play(*chunks, finish="tool_calls")
    return [(c.name, c.arguments) for c in message.tool_calls]


def test_text_usage_and_cost():
    usage = {"prompt_tokens": 1000, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 600}}
    message, events = play(
        delta(role="assistant", content=None),
        delta(content="Hi"),
        delta("stop"),
        {"choices": [], "usage": usage},
        {"usage": None},
        finish=None,
    )
    assert message.text == "Hi"
    assert events == [TextDelta(text="Hi")]
    assert (message.usage.input, message.usage.cache_read, message.usage.output) == (400, 600, 20)
    assert message.usage.cost == pytest.approx((400 + 60 + 200) / 1e6)
    assert message.response_id == "x"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning(field):
    message, _ = play(delta(**{field: "think"}), delta(**{field: "ing"}), delta(content="ok"))
    assert message.content[0] == ThinkingBlock(thinking="thinking")
    assert message.text == "ok"


def test_content_in_typed_parts():
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "ok"}]
    message, _ = play(delta(content=parts))
    assert message.content[0] == ThinkingBlock(thinking="hm")
    assert message.text == "ok"


def test_a_surrogate_pair_cut_between_chunks():
    message, events = play(delta(content="a\ud83d"), delta(content="\ude42b"), delta(content="\ud83d"))
    assert message.text == "a🙂b"
    for event in events:
        event.text.encode()


def test_parallel_calls_that_interleave():
    assert calls(
        call("", index=0, id="a", name="one"),
        call("", index=1, id="b", name="two"),
        call('{"x"', index=0),
        call('{"y"', index=1),
        call(":1}", index=0),
        call(":2}", index=1),
    ) == [("one", {"x": 1}), ("two", {"y": 2})]


def test_one_number_for_all_calls():
    assert calls(call('{"x":1}', index=0, id="a", name="one"), call('{"y":2}', index=0, id="b", name="two")) == [
        ("one", {"x": 1}),
        ("two", {"y": 2}),
    ]


def test_an_id_made_up_for_every_fragment():
    assert calls(
        call("", index=0, id="a", name="one"), call('{"x"', index=0, id="b"), call(":1}", index=0, id="c")
    ) == [("one", {"x": 1})]


def test_neither_number_nor_id():
    message, _ = play(
        call('{"x":', name="one"), call("1}"), call('{"x":2}', name="one"), call("{}", name="two"), finish="tool_calls"
    )
    assert [(c.name, c.arguments) for c in message.tool_calls] == [("one", {"x": 1}), ("one", {"x": 2}), ("two", {})]
    assert len({c.id for c in message.tool_calls}) == 3
    again, _ = play(
        call('{"x":', name="one"), call("1}"), call('{"x":2}', name="one"), call("{}", name="two"), finish="tool_calls"
    )
    assert [c.id for c in again.tool_calls] == [c.id for c in message.tool_calls]


def test_ids_without_numbers():
    assert calls(call('{"x"', id="a", name="one"), call('{"y":2}', id="b", name="two"), call(":1}", id="a")) == [
        ("one", {"x": 1}),
        ("two", {"y": 2}),
    ]


def test_names_that_repeat_or_come_in_pieces():
    assert calls(call("", index=0, id="a", name="one"), call('{"x":1}', index=0, name="one")) == [("one", {"x": 1})]
    assert calls(call(index=0, id="a", name="get_"), call("{}", index=0, name="weather")) == [("get_weather", {})]
    assert calls(call('{"x":1}', index=0, id="a", name="one"), call("", index=0, name="one")) == [("one", {"x": 1})]


def test_equal_ids_become_different():
    message, _ = play(call("{}", index=0, id="a", name="one"), call("{}", index=1, id="a", name="two"))
    assert len({c.id for c in message.tool_calls}) == 2


@pytest.mark.parametrize("arguments", ["", None, "  ", "{}"])
def test_no_arguments(arguments):
    message, _ = play(call(arguments, index=0, id="a", name="now"), finish="tool_calls")
    assert message.tool_calls[0].arguments == {}
    assert message.stop_reason is StopReason.TOOL_USE


def test_arguments_null():
    chunk = delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "now", "arguments": None}}])
    assert calls(chunk) == [("now", {})]


@pytest.mark.parametrize(
    "raw", ['{"q"', "not json", "[1]", '"x"', '{"a":1}{"b":2}', '{"x":NaN}', "{" * 100_000, "null"]
)
def test_arguments_that_are_not_one_object_are_kept_raw(raw):
    message, _ = play(call(raw, index=0, id="a", name="search"), finish="tool_calls")
    assert message.tool_calls[0].arguments is None
    assert message.tool_calls[0].raw == raw


def test_arguments_sent_as_an_object():
    chunk = delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "f", "arguments": {"x": "é"}}}])
    assert calls(chunk) == [("f", {"x": "é"})]


@pytest.mark.parametrize(
    ("finish", "stop"),
    [("stop", "stop"), ("length", "length"), ("tool_calls", "stop"), ("end_turn", "stop"), ("content_filter", "stop")],
)
def test_finish_reasons(finish, stop):
    message, _ = play(delta(content="x"), finish=finish)
    assert message.stop_reason == stop
    assert (message.error_code == "content_filter") is (finish == "content_filter")


def test_an_answer_without_anything_is_still_an_answer():
    message, _ = play()
    assert message.content == ()


def test_without_done_a_finish_reason_is_enough():
    message, _ = play(delta(content="x"), done=False)
    assert message.text == "x"


def test_done_after_output_is_enough():
    message, _ = play(delta(content="x"), finish=None)
    assert message.stop_reason is StopReason.STOP


@pytest.mark.parametrize("chunks", [(), (delta(content="half"),)])
def test_a_cut_stream_is_an_error(chunks):
    with pytest.raises(ProviderError) as caught:
        play(*chunks, finish=None, done=False)
    assert caught.value.kind is ErrorKind.TIMEOUT


@pytest.mark.parametrize(
    ("chunk", "kind", "text"),
    [
        (
            {"id": "x", "choices": [], "error": {"code": 502, "message": "upstream busy"}},
            ErrorKind.TIMEOUT,
            "upstream busy",
        ),
        ({"error": "quota exceeded"}, ErrorKind.RATE_LIMIT, "quota exceeded"),
        ({"error": {"message": "x", "code": "429"}}, ErrorKind.RATE_LIMIT, "x"),
        (
            {"error": {"metadata": {"raw": "Overloaded"}, "message": "upstream"}},
            ErrorKind.OVERLOADED,
            "upstream: Overloaded",
        ),
        ({"error": {}, "message": "m", "choices": [{"finish_reason": "error", "message": {}}]}, ErrorKind.UNKNOWN, ""),
    ],
)
def test_error_objects_inside_the_stream(chunk, kind, text):
    with pytest.raises(ProviderError) as caught:
        play(chunk)
    assert caught.value.kind is kind
    assert text in caught.value.message


def test_a_server_that_does_not_stream():
    whole = {"choices": [{"message": {"role": "assistant", "content": "all"}, "finish_reason": "stop"}]}
    assert play(whole, finish=None)[0].text == "all"


@given(st.dictionaries(st.text(max_size=4), st.one_of(st.integers(), st.text(max_size=6)), max_size=4), st.data())
def test_arguments_cut_anywhere_add_up(arguments, data):
    raw = json.dumps(arguments)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=4)))
    edges = [0, *cuts, len(raw)]
    pieces = [raw[a:b] for a, b in pairwise(edges)]
    message, events = play(call("", index=0, id="a", name="f"), *(call(p, index=0) for p in pieces))
    assert message.tool_calls[0].arguments == arguments
    assert "".join(e.fragment for e in events if isinstance(e, ToolCallDelta)) == raw

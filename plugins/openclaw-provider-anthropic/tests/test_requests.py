from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_provider_anthropic.request import messages_body
from openclaw_provider_anthropic.thinking import style_of

from openclaw_core.sdk import (
    AssistantMessage,
    ImageBlock,
    ModelInfo,
    ModelRequest,
    StopReason,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultMessage,
    ToolSchema,
    UserMessage,
)
from openclaw_core.testing.histories import histories

SCHEMA = {"type": "object", "properties": {"u": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}
TOOLS = (ToolSchema(name="read", description="d", parameters=SCHEMA),)
SIGNED = ThinkingBlock(thinking="plan", signature="SIG1==")
EMPTY_SIGNED = ThinkingBlock(thinking="", signature="SIG2==")
REDACTED = ThinkingBlock(thinking="", redacted="ZZZ")
UNSIGNED = ThinkingBlock(thinking="x")


def request(*messages, model="claude-haiku-4-5", images=True, **fields):
    info = ModelInfo(
        provider="anthropic",
        id=model,
        reasoning=True,
        input=("text", "image") if images else ("text",),
        max_tokens=20_000,
    )
    return ModelRequest(model=info, system="sys", system_dynamic="dyn", messages=messages, tools=TOOLS, **fields)


def user(text):
    return UserMessage(content=(TextBlock(text=text),))


def answer(*blocks, **fields):
    return AssistantMessage(content=blocks, stop_reason=StopReason.STOP, **fields)


def called(*ids):
    return answer(*(ToolCallBlock(id=i, name="read", arguments={"path": i}) for i in ids))


def result(call_id, text="r"):
    return ToolResultMessage(tool_call_id=call_id, tool_name="read", content=(TextBlock(text=text),))


def check(body):
    """A strict reader, written from the API's rules."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False)
    text.encode("utf-8")
    assert "\\u0000" not in text
    messages = body["messages"]
    assert messages[0]["role"] == messages[-1]["role"] == "user"
    waiting, seen = [], set()
    for before, message in zip([None, *messages], messages, strict=False):
        assert set(message) == {"role", "content"}
        assert before is None or before["role"] != message["role"]
        assert message["content"]
        results = [b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"]
        assert results == waiting
        waiting = []
        first_other = next((i for i, b in enumerate(message["content"]) if b["type"] != "tool_result"), None)
        assert first_other is None or first_other >= len(results)
        for block in message["content"]:
            kind = block["type"]
            if message["role"] == "user":
                assert kind in ("text", "image", "tool_result")
            else:
                assert kind in ("text", "thinking", "redacted_thinking", "tool_use")
            if kind == "text":
                assert block["text"].strip()
            elif kind == "thinking":
                assert isinstance(block["thinking"], str)
                assert block["signature"]
            elif kind == "redacted_thinking":
                assert block["data"]
            elif kind == "tool_use":
                assert re.fullmatch(r"[a-zA-Z0-9_-]+", block["id"])
                assert block["id"] not in seen
                assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", block["name"])
                assert isinstance(block["input"], dict)
                seen.add(block["id"])
                waiting.append(block["id"])
            elif kind == "tool_result":
                assert all(p["type"] == "image" or p["text"].strip() for p in block["content"])
                assert block["content"]
            elif kind == "image":
                assert block["source"]["media_type"] in ("image/png", "image/jpeg", "image/gif", "image/webp")
    assert not waiting
    marks = [b for m in messages for b in m["content"] if "cache_control" in b]
    assert len(marks) <= 2
    assert all(b["type"] not in ("thinking", "redacted_thinking") for b in marks)


@given(histories(), st.booleans(), st.sampled_from(["off", "low", "high"]))
def test_any_history_is_legal(messages, images, level):
    check(messages_body(request(*messages, images=images, thinking=level)))


def test_thinking_goes_back_unchanged_before_its_call():
    body = messages_body(
        request(
            user("a"),
            answer(SIGNED, REDACTED, EMPTY_SIGNED, ToolCallBlock(id="t1", name="read", arguments={})),
            result("t1"),
            answer(UNSIGNED, TextBlock(text="cut")),
            user("b"),
        )
    )
    check(body)
    assert body["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "plan", "signature": "SIG1=="},
        {"type": "redacted_thinking", "data": "ZZZ"},
        {"type": "thinking", "thinking": "", "signature": "SIG2=="},
        {"type": "tool_use", "id": "t1", "name": "read", "input": {}},
    ]
    assert body["messages"][3]["content"] == [{"type": "text", "text": "cut"}]


def test_thinking_of_another_vendor_is_dropped():
    body = messages_body(request(user("a"), answer(SIGNED, TextBlock(text="x"), api="openai-responses"), user("b")))
    assert body["messages"][1]["content"] == [{"type": "text", "text": "x"}]


def test_queued_messages_become_one():
    body = messages_body(request(user("1"), user("2"), user("3")))
    check(body)
    assert [b["text"] for b in body["messages"][0]["content"]] == ["1", "2", "3"]


def test_results_stand_first_in_one_message():
    body = messages_body(request(user("go"), called("A", "B"), user("wait"), result("B", "b"), result("A", "a")))
    check(body)
    kinds = [(b["type"], b.get("tool_use_id")) for b in body["messages"][2]["content"]]
    assert kinds == [("tool_result", "A"), ("tool_result", "B"), ("text", None)]


def test_a_greeting_first_and_a_summary():
    check(messages_body(request(answer(TextBlock(text="Hello")), user("hi"))))
    body = messages_body(request(user("[Summary] long ago"), user("now")))
    check(body)
    assert len(body["messages"]) == 1


def test_two_answers_in_a_row_of_which_the_second_thinks():
    body = messages_body(
        request(user("a"), answer(TextBlock(text="one")), answer(SIGNED, TextBlock(text="two")), user("b"))
    )
    check(body)
    assert [m["role"] for m in body["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    assert body["messages"][3]["content"][0]["type"] == "thinking"


def test_caching():
    body = messages_body(request(user("a")))
    assert body["system"] == [
        {"type": "text", "text": "sys", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "dyn"},
    ]
    assert body["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert body["tools"] == [{"name": "read", "description": "d", "input_schema": SCHEMA}]
    assert "cache_control" not in str(messages_body(request(user("a"), params={"cacheRetention": "none"})))
    assert "1h" in str(messages_body(request(user("a"), params={"cacheRetention": "long"})))


def test_images():
    png = ImageBlock(data="aGk=", mime_type="image/png")
    tiff = ImageBlock(data="aGk=", mime_type="image/tiff")
    shown = ToolResultMessage(tool_call_id="A", tool_name="read", content=(png,))
    body = messages_body(request(UserMessage(content=(png, tiff)), called("A"), shown))
    check(body)
    assert [b["type"] for b in body["messages"][0]["content"]] == ["image", "text"]
    assert body["messages"][2]["content"][0]["content"][0]["type"] == "image"
    assert '"image"' not in json.dumps(messages_body(request(UserMessage(content=(png,)), images=False))["messages"])


@pytest.mark.parametrize(
    ("model", "style"),
    [
        ("claude-opus-4-5", "budget"),
        ("claude-sonnet-4-20250514", "budget"),
        ("claude-sonnet-4-5-20250929", "budget"),
        ("claude-3-7-sonnet-latest", "budget"),
        ("claude-haiku-4-5", "budget"),
        ("claude-opus-4-6", "adaptive"),
        ("claude-sonnet-5", "adaptive"),
        ("claude-opus-5-5", "adaptive"),
        ("some-other-model", "budget"),
    ],
)
def test_how_models_think(model, style):
    assert style_of(ModelInfo(provider="p", id=model, reasoning=True)) == style
    assert style_of(ModelInfo(provider="p", id=model)) == ""


def test_thinking_levels():
    def fields(level, **kw):
        body = messages_body(request(user("a"), thinking=level, **kw))
        return body.get("thinking"), body.get("output_config")

    assert fields("off") == (None, None)
    assert fields("minimal") == ({"type": "enabled", "budget_tokens": 1024}, None)
    assert fields("high") == ({"type": "enabled", "budget_tokens": 16_384}, None)
    assert fields("max") == ({"type": "enabled", "budget_tokens": 20_000 - 1024}, None)
    assert fields("high", max_tokens=2000) == (None, None)
    assert fields("xhigh", model="claude-opus-4-6") == (
        {"type": "adaptive", "display": "summarized"},
        {"effort": "high"},
    )


def test_a_budget_does_not_begin_in_the_middle_of_a_tool_use():
    body = messages_body(request(user("a"), called("A"), result("A"), thinking="high"))
    assert "thinking" not in body
    signed = answer(SIGNED, ToolCallBlock(id="A", name="read", arguments={}))
    assert "thinking" in messages_body(request(user("a"), signed, result("A"), thinking="high"))


def test_sampling_is_left_out_beside_thinking():
    req = request(user("a"), params={"temperature": 0.3})
    assert messages_body(req)["extra_body"] == {"temperature": 0.3}
    assert "extra_body" not in messages_body(replace(req, thinking="low"))

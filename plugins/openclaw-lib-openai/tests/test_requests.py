from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_lib_openai.chat_request import chat_body
from openclaw_lib_openai.quirks import quirks_for
from openclaw_lib_openai.requests import encode
from openclaw_lib_openai.responses_request import responses_body

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

_spec = importlib.util.spec_from_file_location("openai_validator", Path(__file__).with_name("validator.py"))
validator = sys.modules[_spec.name] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(validator)

URL = "http://127.0.0.1:1/v1"
SCHEMA = {
    "$schema": "x",
    "type": "object",
    "properties": {"u": {"type": ["string", "null"]}},
    "additionalProperties": False,
}
TOOLS = (ToolSchema(name="read", description="odd \ud83d", parameters=SCHEMA),)


def request(*messages, tools=TOOLS, images=True, **model):
    info = ModelInfo(provider="p", id="m", input=("text", "image") if images else ("text",), **model)
    return ModelRequest(model=info, system="sys", system_dynamic="dyn", messages=messages, tools=tools)


def user(text):
    return UserMessage(content=(TextBlock(text=text),))


def chat(req, provider="p", url=URL):
    return validator.strict_json(encode(chat_body(req, quirks_for(provider, url, req.model))))


def responses(req, provider="p", url=URL):
    return validator.strict_json(encode(responses_body(req, quirks_for(provider, url, req.model))))


@given(histories(), st.booleans())
def test_any_history_is_legal_for_chat(messages, images):
    validator.check_chat(chat(request(*messages, images=images)))


@given(histories())
def test_any_history_is_legal_for_mistral(messages):
    body = chat(request(*messages, compat={"tool_id": "alnum9"}))
    validator.check_chat(body, id_pattern=re.compile("[A-Za-z0-9]{9}"))


@given(histories(), st.booleans())
def test_any_history_is_legal_for_responses(messages, images):
    validator.check_responses(responses(request(*messages, images=images)))


def test_schemas_stay_untouched_and_prompt_comes_first():
    body = chat(request(user("hi")))
    assert body["tools"][0]["function"]["parameters"] == SCHEMA
    assert body["messages"] == [{"role": "system", "content": "sys\n\ndyn"}, {"role": "user", "content": "hi"}]
    assert body["stream_options"] == {"include_usage": True}
    other = responses(request(user("hi")))
    assert other["tools"][0]["parameters"] == SCHEMA
    assert other["instructions"] == "sys\n\ndyn"
    assert other["store"] is False


def test_thinking_of_other_vendors_is_not_sent():
    thought = AssistantMessage(
        content=(
            ThinkingBlock(thinking="plan", signature="SIG1=="),
            ThinkingBlock(thinking="", redacted="ZZZ"),
            ToolCallBlock(id="t1", name="read", arguments={}),
        ),
        stop_reason=StopReason.TOOL_USE,
    )
    for body in (chat(request(user("a"), thought)), responses(request(user("a"), thought))):
        text = str(body)
        assert not any(word in text for word in ("plan", "SIG1", "ZZZ", "thinking", "signature"))


def test_arguments_are_text_and_broken_ones_are_empty():
    calls = AssistantMessage(
        content=(
            ToolCallBlock(id="a", name="read", arguments={}),
            ToolCallBlock(id="b", name="read", arguments=None, raw='{"q"'),
            ToolCallBlock(id="c", name="read", arguments={"p": "é"}),
        ),
        stop_reason=StopReason.TOOL_USE,
    )
    message = chat(request(user("x"), calls))["messages"][2]
    assert [c["function"]["arguments"] for c in message["tool_calls"]] == ["{}", "{}", '{"p":"é"}']


@pytest.mark.parametrize(
    ("provider", "url", "model", "field"),
    [
        ("openai", "https://api.openai.com/v1", {}, "max_completion_tokens"),
        ("openai", URL, {}, "max_completion_tokens"),
        ("mine", "https://api.openai.com/v1", {}, "max_completion_tokens"),
        ("mine", URL, {}, "max_tokens"),
        ("mine", URL, {"compat": {"max_tokens_field": "max_completion_tokens"}}, "max_completion_tokens"),
        ("openai", URL, {"compat": {"maxTokensField": "max_tokens"}}, "max_tokens"),
    ],
)
def test_name_of_the_output_limit(provider, url, model, field):
    body = chat(request(user("x"), **model), provider, url)
    assert [k for k in body if k.startswith("max_")] == [field]
    assert body[field] == 8192


@pytest.mark.parametrize("provider", ["mistral", "other"])
def test_mistral_is_known_by_name(provider):
    call = AssistantMessage(
        content=(ToolCallBlock(id="call_1", name="read", arguments={}),), stop_reason=StopReason.STOP
    )
    body = chat(request(user("x"), call), provider)
    sent = body["messages"][2]["tool_calls"][0]["id"]
    assert (len(sent) == 9 and sent.isalnum()) is (provider == "mistral")
    assert body["messages"][3]["tool_call_id"] == sent


@pytest.mark.parametrize(
    ("level", "model", "sent"),
    [
        ("high", {"reasoning": True}, "high"),
        ("xhigh", {"reasoning": True}, "high"),
        ("xhigh", {"reasoning": True, "compat": {"efforts": ["xhigh"]}}, "xhigh"),
        ("max", {"reasoning": True, "compat": {"efforts": ["xhigh"]}}, "xhigh"),
        ("minimal", {"reasoning": True}, "low"),
        ("off", {"reasoning": True}, None),
        ("off", {"reasoning": True, "compat": {"reasoning_off": "none"}}, "none"),
        ("high", {}, None),
        ("high", {"reasoning": True, "compat": {"supportsReasoningEffort": False}}, None),
    ],
)
def test_thinking_levels(level, model, sent):
    req = replace(request(user("x"), **model), thinking=level)
    assert chat(req).get("reasoning_effort") == sent
    assert (responses(req).get("reasoning") or {}).get("effort") == sent


def test_images_of_results_follow_as_a_message():
    call = AssistantMessage(
        content=(ToolCallBlock(id="c", name="read", arguments={}),), stop_reason=StopReason.TOOL_USE
    )
    shown = ToolResultMessage(
        tool_call_id="c", tool_name="read", content=(ImageBlock(data="aGk=", mime_type="image/png"),)
    )
    body = chat(request(user("look"), call, shown, user("well?")))
    assert [m["role"] for m in body["messages"]] == ["system", "user", "assistant", "tool", "user"]
    assert body["messages"][-1]["content"] == [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "text", "text": "well?"},
    ]
    blind = chat(request(user("look"), call, shown, user("well?"), images=False))
    assert "image/png" in blind["messages"][3]["content"]
    assert blind["messages"][4]["content"] == "well?"
    item = responses(request(user("look"), call, shown))["input"][-1]
    assert item["content"][0] == {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "auto"}


def test_parameters_of_the_person():
    req = replace(
        request(user("x")),
        params={"temperature": 0.1, "cacheRetention": "long", "extra_body": {"top_k": 5}},
        max_tokens=7,
    )
    body = chat(req)
    assert body["temperature"] == 0.1
    assert body["top_k"] == 5
    assert body["max_tokens"] == 7
    assert "cacheRetention" not in body


def test_what_json_does_not_have_is_refused():
    with pytest.raises(ValueError):
        encode({"x": float("nan")})

from __future__ import annotations

from typing import Any

import pytest
from openclaw_lib_openai.chat_request import AFTER_TOOL, chat_body
from openclaw_lib_openai.quirks import Quirks, quirks_for

from openclaw_core.sdk import (
    AssistantMessage,
    ImageBlock,
    ModelInfo,
    ModelRequest,
    StopReason,
    TextBlock,
    ToolCallBlock,
    ToolResultMessage,
    ToolSchema,
    UserMessage,
)

URL = "http://127.0.0.1:1/v1"
TOOLS = (ToolSchema(name="read", description="d", parameters={"type": "object"}),)


def quirks(compat: dict[str, Any], ident: str = "m", provider: str = "p", **model: Any) -> Quirks:
    return quirks_for(provider, URL, ModelInfo(provider=provider, id=ident, compat=compat, **model))


def test_without_compat_nothing_is_odd():
    assert quirks({}) == Quirks()


def test_both_spellings():
    for key in ("requires_tool_result_name", "requiresToolResultName"):
        assert quirks({key: True}).tool_result_name
    assert quirks({"requiresMistralToolIds": True}).ids.exact


def test_patterns_add_keys_and_the_model_itself_wins():
    compat = {"by_model": {"vendor/*": {"tool_id": "alnum9", "reasoningBack": "all"}, "other/*": {"think_tags": True}}}
    found = quirks(compat, "Vendor/x")
    assert (found.ids.exact, found.reasoning_back, found.think_tags) == (True, "all", False)
    assert quirks({**compat, "reasoning_back": "never"}, "vendor/x").reasoning_back == "never"


@pytest.mark.parametrize("value", [None, 7, "nonsense", {}, [], [[]]])
def test_values_that_make_no_sense_count_as_absent(value):
    keys = [
        "max_tokens_field",
        "tool_id",
        "supports_usage_in_streaming",
        "system_role",
        "tool_choice",
        "drop_params",
        "levels",
        "query",
        "body",
        "thinking_format",
        "reasoning_back",
        "empty_content",
        "by_model",
        "thinking_extra",
        "parallel_tool_calls",
        "cache_control",
    ]
    listed = ("drop_params", "levels") if value == [[]] else ()
    assert quirks(dict.fromkeys((k for k in keys if k not in listed), value)) == Quirks()


def body(compat: dict[str, Any], *messages: Any, tools: Any = TOOLS, **model: Any) -> dict[str, Any]:
    info = ModelInfo(provider="p", id="m", compat=compat, **model)
    params = model.pop("params", {})
    request = ModelRequest(model=info, system="sys", messages=messages, tools=tools, params=params)
    return chat_body(request, quirks_for("p", URL, info))


CALL = AssistantMessage(
    content=(ToolCallBlock(id="functions.read:0", name="read", arguments={}),), stop_reason=StopReason.TOOL_USE
)
RESULT = ToolResultMessage(tool_call_id="functions.read:0", tool_name="read", content=(TextBlock(text="r"),))
HI = UserMessage(content=(TextBlock(text="hi"),))


@pytest.mark.parametrize(("kind", "wanted"), [("null", {"content": None}), ("empty", {"content": ""}), ("omit", {})])
def test_an_answer_that_only_calls(kind, wanted):
    message = body({"empty_content": kind}, HI, CALL, RESULT)["messages"][2]
    assert {k: v for k, v in message.items() if k == "content"} == wanted


def test_roles_of_the_prompt():
    assert body({"system_role": "developer"}, HI)["messages"][0] == {"role": "developer", "content": "sys"}
    assert body({"system_role": "user"}, HI)["messages"] == [{"role": "user", "content": "sys\n\nhi"}]
    image = UserMessage(content=(ImageBlock(data="aGk=", mime_type="image/png"),))
    first = body({"system_role": "user"}, image, input=("text", "image"))["messages"][0]
    assert first["content"][0] == {"type": "text", "text": "sys"}


def test_a_bridge_after_results():
    roles = [m["role"] for m in body({"requires_assistant_after_tool_result": True}, HI, CALL, RESULT, HI)["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]
    found = body({"requires_assistant_after_tool_result": True}, HI, CALL, RESULT, HI)["messages"][4]
    assert found["content"] == AFTER_TOOL
    assert len(body({"requires_assistant_after_tool_result": True}, HI, CALL, RESULT)["messages"]) == 4


def test_ids_that_stay_and_ids_that_go():
    kept = body({"tool_id": "open"}, HI, CALL, RESULT)["messages"]
    assert kept[2]["tool_calls"][0]["id"] == kept[3]["tool_call_id"] == "functions.read:0"
    assert body({}, HI, CALL, RESULT)["messages"][3]["tool_call_id"] != "functions.read:0"


def test_tool_choice_and_parallel_calls():
    assert body({}, HI)["tool_choice"] == "auto"
    assert "tool_choice" not in body({"tool_choice": "never"}, HI)
    assert "tool_choice" not in body({}, HI, tools=())
    assert body({"parallel_tool_calls": False}, HI)["parallel_tool_calls"] is False
    assert "parallel_tool_calls" not in body({"parallel_tool_calls": False}, HI, tools=())


def test_constant_members_and_dropped_parameters():
    info = ModelInfo(provider="p", id="m", compat={"body": {"tool_stream": True}, "drop_params": ["temperature"]})
    request = ModelRequest(model=info, system="", messages=(HI,), params={"temperature": 1, "top_p": 1})
    sent = chat_body(request, quirks_for("p", URL, info))
    assert (sent["tool_stream"], sent["top_p"], "temperature" in sent) == (True, 1, False)

"""Whatever the history holds, each vendor gets a body that its own rules allow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import vendor_rules
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openclaw_lib_openai.chat_request import chat_body
from openclaw_lib_openai.quirks import quirks_for
from openclaw_lib_openai.requests import encode
from shipped import WIRE, Shipped, models_of

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
from openclaw_core.testing.contracts.provider import odd_history
from openclaw_core.testing.histories import histories

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {"P": {"type": "object", "properties": {"a": {"type": ["string", "null"], "minLength": 1}}}},
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "p": {"$ref": "#/$defs/P"},
        "u": {"type": "object", "anyOf": [{"properties": {"x": {}}}, {"type": "null"}]},
        "k": {"const": "v"},
        "e": {"enum": [0, 1]},
        "l": {"type": "array", "items": {"description": "any"}, "minItems": 1},
        "self": {"$ref": "#"},
        "type": {"type": "string", "description": "a member that is called like a keyword"},
    },
    "anyOf": [{"required": ["p"]}, {"required": ["u"]}],
    "required": ["p"],
}
TOOLS = (ToolSchema(name="read", description="odd \ud83d", parameters=SCHEMA),)
LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh", "adaptive", "max", "ultra")
CATALOGUE = [(w, m) for w in WIRE for m in models_of(w)]


def body_of(wire: Shipped, request: ModelRequest) -> dict[str, Any]:
    quirks = quirks_for(wire.id, wire.spec.base_url, request.model)
    body: dict[str, Any] = vendor_rules.strict_json(encode(chat_body(request, quirks)))
    return body


def request(model: ModelInfo, *messages: Any, **fields: Any) -> ModelRequest:
    return ModelRequest(model=model, system="sys", system_dynamic="dyn", messages=messages, tools=TOOLS, **fields)


@pytest.mark.parametrize(("vendor", "model"), CATALOGUE, ids=[m.ref for _, m in CATALOGUE])
def test_a_hard_history_at_every_level(vendor: Shipped, model: ModelInfo) -> None:
    image = ImageBlock(data="aGk=", mime_type="image/png")
    call = ToolCallBlock(id="functions.read:0", name="read", arguments={"p": {}})
    history = (
        *odd_history(),
        AssistantMessage(
            content=(ThinkingBlock(thinking="plan"), call),
            stop_reason=StopReason.TOOL_USE,
            provider=model.provider,
            model=model.id,
            api="openai-completions",
        ),
        ToolResultMessage(tool_call_id=call.id, tool_name="read", content=(image,)),
        UserMessage(content=(TextBlock(text="and this?"), image)),
    )
    for level in LEVELS:
        body = body_of(vendor, request(model, *history, thinking=level))
        vendor_rules.check_body(body, vendor_rules.RULES[vendor.id], provider=vendor.id)


@given(history=histories(), at=st.integers(0, len(CATALOGUE) - 1), level=st.sampled_from(LEVELS))
@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_any_history(history: list[Any], at: int, level: str) -> None:
    wire, model = CATALOGUE[at]
    body = body_of(wire, request(model, *history, thinking=level))
    vendor_rules.check_body(body, vendor_rules.RULES[wire.id], provider=wire.id)


def test_parameters_that_the_vendor_refuses(wire: Shipped) -> None:
    model = next(models_of(wire))
    every = dict.fromkeys(("presence_penalty", "frequency_penalty", "temperature", "top_p", "seed"), 1)
    params = {**every, "stop": ["x"], "logit_bias": {}, "service_tier": "auto", "tool_choice": "required"}
    body = body_of(wire, replace(request(model, UserMessage(content=(TextBlock(text="hi"),))), params=params))
    rules = vendor_rules.RULES[wire.id]
    assert not set(body) & rules.refused_params
    kept = {k for k in every if k not in rules.refused_params}
    assert kept <= set(body)
    if wire.id in ("moonshot", "cerebras", "qwen", "zai"):
        assert body["tool_choice"] == "auto"
    own = body_of(wire, request(model, params={"extra_body": {"top_k": 5}}))
    assert own["top_k"] == 5, "a person's own word always passes"


def _sent(ref: str, *messages: Any, **fields: Any) -> dict[str, Any]:
    wire, model = next((w, m) for w, m in CATALOGUE if m.ref == ref)
    return body_of(wire, request(model, *messages, **fields))


def _loop(ref: str, *, signature: str | None = None, model: str = "") -> tuple[Any, ...]:
    provider, _, ident = ref.partition("/")
    return (
        UserMessage(content=(TextBlock(text="do it"),)),
        AssistantMessage(
            content=(
                ThinkingBlock(thinking="because", signature=signature),
                ToolCallBlock(id="functions.read:0", name="read", arguments={}),
            ),
            stop_reason=StopReason.TOOL_USE,
            provider=provider,
            model=model or ident,
            api="openai-completions",
        ),
        ToolResultMessage(tool_call_id="functions.read:0", tool_name="read", content=(TextBlock(text="done"),)),
    )


@pytest.mark.parametrize(
    "ref", ["deepseek/deepseek-flash", "moonshot/kimi-k3", "zai/glm-5.3", "together/zai-org/GLM-5.3"]
)
def test_reasoning_goes_back_within_the_loop(ref: str) -> None:
    answer = _sent(ref, *_loop(ref))["messages"][2]
    assert answer["reasoning_content"] == "because"
    foreign = _sent(ref, *_loop("other/m"))["messages"][2]
    assert foreign["reasoning_content"] == "", "present, but not the words of another model"


@pytest.mark.parametrize(
    "ref", ["groq/openai/gpt-oss-120b", "cerebras/gpt-oss-120b", "xai/grok-4.7", "mistral/mistral-medium-3.5"]
)
def test_reasoning_stays_here(ref: str) -> None:
    assert "because" not in str(_sent(ref, *_loop(ref))["messages"])


def test_minimax_gets_its_tags_again() -> None:
    assert _sent("minimax/MiniMax-M3", *_loop("minimax/MiniMax-M3"))["messages"][2]["content"].startswith(
        "<think>because</think>"
    )


def test_openrouter_gets_signed_pieces_only_for_the_same_model() -> None:
    ref, pieces = "openrouter/anthropic/claude-sonnet-5", '[{"type":"reasoning.text","text":"because","signature":"S"}]'
    answer = _sent(ref, *_loop(ref, signature=pieces))["messages"][2]
    assert answer["reasoning_details"] == [{"type": "reasoning.text", "text": "because", "signature": "S"}]
    other = _sent(ref, *_loop(ref, signature=pieces, model="google/gemini"))["messages"][2]
    assert "reasoning_details" not in other
    assert "reasoning_details" not in _sent(ref, *_loop(ref, signature="SIG=="))["messages"][2]


@pytest.mark.parametrize("kept", ["short", "long", "none"])
def test_cache_marks_for_claude_through_routers(kept: str) -> None:
    for ref in ("openrouter/anthropic/claude-sonnet-5", "litellm/claude-sonnet-5"):
        messages = _sent(ref, *_loop(ref), params={"cacheRetention": kept})["messages"]
        marks = [p["cache_control"] for m in messages if isinstance(m["content"], list) for p in m["content"][:1]]
        wanted = {"short": {"type": "ephemeral"}, "long": {"type": "ephemeral", "ttl": "1h"}}
        assert marks == ([wanted[kept]] * 2 if kept != "none" else [])
        if kept != "none":
            assert messages[0]["content"][0]["text"] == "sys"
            assert messages[0]["content"][1] == {"type": "text", "text": "dyn"}
    assert "cache_control" not in str(_sent("openrouter/openai/gpt-5.4", *_loop("openrouter/openai/gpt-5.4")))


@pytest.mark.parametrize("ref", ["moonshot/kimi-k3", "together/moonshotai/Kimi-K3", "nvidia/moonshotai/kimi-k3"])
def test_ids_of_kimi_stay(ref: str) -> None:
    message = _sent(ref, *_loop(ref))["messages"][2]
    assert message["tool_calls"][0]["id"] == "functions.read:0"


LEVELS_SENT = [
    ("deepseek/deepseek-flash", "medium", {"thinking": {"type": "enabled"}, "reasoning_effort": "low"}),
    ("deepseek/deepseek-flash", "ultra", {"thinking": {"type": "enabled"}, "reasoning_effort": "max"}),
    ("deepseek/deepseek-v4-pro", "low", {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
    ("deepseek/deepseek-flash", "off", {"thinking": {"type": "disabled"}}),
    ("mistral/mistral-medium-3.5", "medium", {"reasoning_effort": "none"}),
    ("mistral/mistral-medium-3.5", "max", {"reasoning_effort": "high"}),
    ("mistral/mistral-small-latest", "high", {}),
    ("groq/openai/gpt-oss-120b", "xhigh", {"reasoning_effort": "high"}),
    ("groq/qwen/qwen3.8-27b", "low", {"reasoning_effort": "default"}),
    ("groq/qwen/qwen3.8-27b", "off", {"reasoning_effort": "none"}),
    ("xai/grok-4.7", "max", {"reasoning_effort": "xhigh"}),
    ("xai/grok-4.3", "high", {}),
    ("openrouter/anthropic/claude-sonnet-5", "high", {"reasoning": {"effort": "high"}}),
    ("openrouter/anthropic/claude-sonnet-5", "off", {}),
    ("qwen/qwen-plus", "high", {"enable_thinking": True}),
    ("qwen/qwen-plus", "off", {"enable_thinking": False}),
    ("qwen/qwen3-max", "high", {}),
    (
        "zai/glm-5.3",
        "off",
        {"thinking": {"type": "enabled", "clear_thinking": False}, "reasoning_effort": "low"},
    ),
    ("zai/glm-4.7", "off", {"thinking": {"type": "disabled", "clear_thinking": False}}),
    ("minimax/MiniMax-M3", "low", {"thinking": {"type": "adaptive"}}),
    ("minimax/MiniMax-M2.5", "low", {}),
    (
        "nvidia/nvidia/nemotron-3-super-120b-a12b",
        "off",
        {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}},
    ),
]


@pytest.mark.parametrize(("ref", "level", "sent"), LEVELS_SENT)
def test_thinking_levels(ref: str, level: str, sent: dict[str, Any]) -> None:
    body = _sent(ref, thinking=level)
    members = ("thinking", "reasoning_effort", "reasoning", "enable_thinking", "chat_template_kwargs")
    assert {k: body[k] for k in members if k in body} == sent


def test_schemas_stay_untouched_where_nothing_is_wrong() -> None:
    assert _sent("deepseek/deepseek-flash")["tools"][0]["function"]["parameters"] == SCHEMA


def test_the_schema_of_moonshot() -> None:
    parameters = _sent("moonshot/kimi-k3")["tools"][0]["function"]["parameters"]
    found = parameters["properties"]
    assert found["p"] == {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}}
    assert found["u"]["anyOf"][0]["type"] == "object"
    assert "type" not in found["u"]
    assert found["k"] == {"enum": ["v"], "type": "string"}
    assert found["e"]["type"] == "integer"
    assert found["type"]["type"] == "string", "a property is not a keyword"
    assert parameters["required"] == ["p"]

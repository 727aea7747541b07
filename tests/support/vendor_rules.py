"""What each vendor of the Chat Completions format demands, written from their rules and not from our data."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

NINE = re.compile(r"[A-Za-z0-9]{9}")
USUAL = re.compile(r"[a-zA-Z0-9_-]{1,40}")
KIMI = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")

BASE_KEYS = frozenset({"model", "messages", "stream", "tools", "tool_choice"})


@dataclass(frozen=True, kw_only=True)
class Rules:
    """One vendor's door."""

    limit: str = "max_tokens"
    keys: frozenset[str] = frozenset({"stream_options", "reasoning_effort"})
    ids: re.Pattern[str] = USUAL
    user_after_tool: bool = True
    result_name: bool = False
    reasoning: str = ""
    """Where an assistant message must carry reasoning; empty: it must not carry any."""
    tool_choice: frozenset[str] = frozenset({"auto"})
    refused_schema: frozenset[str] = frozenset()
    typed_schema: bool = False
    parts: bool = False
    """Text may come as a list of parts with cache marks."""
    path: str = "/chat/completions"
    key_header: str = "authorization"
    refused_params: frozenset[str] = field(default_factory=frozenset)


_PENALTIES = frozenset({"presence_penalty", "frequency_penalty"})
_STRICT = frozenset({"$ref", "$defs", "$schema"})

RULES: dict[str, Rules] = {
    "deepseek": Rules(
        keys=frozenset({"stream_options", "thinking", "reasoning_effort"}), reasoning="reasoning_content"
    ),
    "mistral": Rules(keys=frozenset({"reasoning_effort"}), ids=NINE, user_after_tool=False, result_name=True),
    "groq": Rules(
        limit="max_completion_tokens",
        keys=frozenset({"stream_options", "reasoning_effort", "reasoning_format"}),
        refused_params=frozenset({"logit_bias"}),
    ),
    "xai": Rules(
        limit="max_completion_tokens",
        refused_schema=frozenset({"minLength", "maxLength", "minItems", "maxItems"}),
        refused_params=_PENALTIES | {"stop"},
    ),
    "openrouter": Rules(keys=frozenset({"stream_options", "reasoning"}), ids=KIMI, parts=True),
    "together": Rules(reasoning="reasoning_content", ids=KIMI),
    "fireworks": Rules(
        keys=frozenset({"stream_options", "reasoning_effort", "thinking"}), reasoning="reasoning_content", ids=KIMI
    ),
    "cerebras": Rules(
        limit="max_completion_tokens",
        refused_params=_PENALTIES | {"logit_bias", "parallel_tool_calls", "service_tier"},
    ),
    "moonshot": Rules(
        keys=frozenset({"stream_options", "thinking"}),
        ids=KIMI,
        reasoning="reasoning_content",
        refused_schema=_STRICT,
        typed_schema=True,
        refused_params=_PENALTIES | {"temperature", "top_p"},
    ),
    "qwen": Rules(keys=frozenset({"stream_options", "enable_thinking", "parallel_tool_calls"})),
    "zai": Rules(
        keys=frozenset({"stream_options", "thinking", "reasoning_effort", "tool_stream"}), reasoning="reasoning_content"
    ),
    "minimax": Rules(
        limit="max_completion_tokens",
        keys=frozenset({"stream_options", "thinking"}),
        tool_choice=frozenset(),
        refused_params=_PENALTIES | {"logit_bias", "seed", "parallel_tool_calls"},
    ),
    "nvidia": Rules(keys=frozenset({"chat_template_kwargs"}), ids=KIMI, reasoning="reasoning_content"),
    "huggingface": Rules(ids=KIMI, reasoning="reasoning_content"),
    "azure-openai": Rules(limit="max_completion_tokens", path="/chat/completions?", key_header="api-key"),
    "ollama": Rules(),
    "lmstudio": Rules(refused_schema=_STRICT),
    "vllm": Rules(keys=frozenset({"stream_options", "reasoning_effort", "chat_template_kwargs"}), ids=KIMI),
    "litellm": Rules(parts=True),
}
"""By provider id."""

OPTIONAL_REASONING = frozenset({"together", "fireworks", "nvidia", "huggingface"})
"""Hosts of many models: only some of these want their reasoning again."""


def strict_json(raw: bytes) -> Any:
    """UTF-8 JSON without NaN, lone surrogates and NUL."""
    value = json.loads(raw.decode("utf-8"), parse_constant=lambda c: 1 / 0)
    text = json.dumps(value, ensure_ascii=False)
    text.encode("utf-8")  # raises for a lone surrogate
    assert "\\u0000" not in text
    return value


def check_body(body: dict[str, Any], rules: Rules, *, provider: str) -> None:
    """The whole request as the vendor's validator reads it."""
    limits = {"max_tokens", "max_completion_tokens"} & set(body)
    assert limits == {rules.limit}
    assert set(body) <= BASE_KEYS | rules.keys | {rules.limit}, "a member that the vendor does not know"
    assert body.get("tool_choice") in rules.tool_choice or ("tool_choice" not in body)
    check_messages(body["messages"], rules, provider=provider)
    for tool in body.get("tools", ()):
        check_schema(tool["function"]["parameters"], rules, root=True)


def check_messages(messages: list[dict[str, Any]], rules: Rules, *, provider: str) -> None:
    """Roles, pairs, ids, contents and reasoning."""
    waiting: list[str] = []
    seen: set[str] = set()
    before = ""
    for number, message in enumerate(messages):
        role = message["role"]
        assert role in ("system", "user", "assistant", "tool")
        assert (role == "system") <= (number == 0), "a system message later"
        if role == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            assert bool(message.get("name")) == rules.result_name
            _check_content(message["content"], rules)
        else:
            assert not waiting, "a call without result"
            assert role != before, "two neighbours of one role"
            assert rules.user_after_tool or not (before == "tool" and role == "user")
            if role == "assistant":
                _check_answer(message, rules, provider=provider)
                for call in message.get("tool_calls", ()):
                    assert rules.ids.fullmatch(call["id"]), call["id"]
                    assert call["id"] not in seen
                    seen.add(call["id"])
                    waiting.append(call["id"])
                    assert isinstance(json.loads(call["function"]["arguments"]), dict)
            else:
                _check_content(message["content"], rules)
        before = role
    assert not waiting
    assert before in ("user", "tool")


def _check_answer(message: dict[str, Any], rules: Rules, *, provider: str) -> None:
    content = message.get("content")
    assert content or message.get("tool_calls"), "an empty answer"
    if content is not None:
        _check_content(content, rules)
    fields = {k for k in message if k.startswith("reasoning")}
    if provider == "openrouter":
        assert fields <= {"reasoning_details"}
    elif provider in OPTIONAL_REASONING:
        assert fields <= {rules.reasoning}
    else:
        assert fields == ({rules.reasoning} if rules.reasoning else set())
    assert set(message) <= {"role", "content", "tool_calls", *fields}


def _check_content(content: Any, rules: Rules) -> None:
    if isinstance(content, str):
        assert content.strip(), "blank text"
        return
    assert content
    for part in content:
        assert part["type"] in ("text", "image_url")
        if part["type"] == "text":
            assert part["text"].strip()
            assert rules.parts or any(p["type"] == "image_url" for p in content)
        assert rules.parts or "cache_control" not in part


def check_schema(node: Any, rules: Rules, *, root: bool = False) -> None:
    """Keywords and types, at every place where a schema stands."""
    assert isinstance(node, dict)
    assert not set(node) & rules.refused_schema
    if rules.typed_schema:
        union = set(node) & {"anyOf", "oneOf"}
        assert not (root and union)
        assert isinstance(node.get("type"), str) != bool(union), node
    for name, inner in (node.get("properties") or {}).items():
        assert isinstance(name, str)
        check_schema(inner, rules)
    for key in ("anyOf", "oneOf", "allOf"):
        for inner in node.get(key, ()):
            check_schema(inner, rules)
    if isinstance(node.get("items"), dict):
        check_schema(node["items"], rules)

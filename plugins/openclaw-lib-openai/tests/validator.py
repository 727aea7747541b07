"""Strict readers of request bodies, written from the vendors' rules and not from our code."""

from __future__ import annotations

import json
import re

ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def strict_json(body: bytes):
    """UTF-8 JSON without NaN, lone surrogates and NUL."""
    text = body.decode("utf-8")
    assert not re.search(r"\\u[dD][89a-fA-F]", text), "an escaped surrogate"
    value = json.loads(text, parse_constant=lambda c: 1 / 0)
    assert "\0" not in json.dumps(value, ensure_ascii=False)
    assert "\\u0000" not in json.dumps(value, ensure_ascii=False)
    return value


def check_chat(body, *, id_pattern=ID):
    allowed = {"model", "messages", "stream", "stream_options", "tools", "tool_choice", "max_tokens"}
    assert set(body) <= allowed | {"max_completion_tokens", "reasoning_effort"}
    assert not {"max_tokens", "max_completion_tokens"} <= set(body)
    messages = list(body["messages"])
    if messages[0]["role"] == "system":
        check_text(messages.pop(0)["content"])
    assert messages[0]["role"] == "user"
    assert messages[-1]["role"] in ("user", "tool")
    waiting: list[str] = []
    seen: set[str] = set()
    before = ""
    for message in messages:
        role = message["role"]
        if role == "tool":
            assert set(message) == {"role", "tool_call_id", "content"}
            assert message["tool_call_id"] == waiting.pop(0)
            check_text(message["content"])
        else:
            assert not waiting, "a call without result"
            assert role != before, "two in a row"
            if role == "user":
                check_user(message)
            else:
                assert role == "assistant"
                assert set(message) <= {"role", "content", "tool_calls"}
                assert message["content"] is None or message["content"].strip()
                assert message["content"] or message["tool_calls"]
                for call in message.get("tool_calls", []):
                    assert set(call) == {"id", "type", "function"}
                    assert id_pattern.fullmatch(call["id"])
                    assert call["id"] not in seen
                    seen.add(call["id"])
                    waiting.append(call["id"])
                    assert NAME.fullmatch(call["function"]["name"])
                    assert isinstance(json.loads(call["function"]["arguments"]), dict)
        before = role
    assert not waiting


def check_user(message):
    content = message["content"]
    if isinstance(content, str):
        check_text(content)
        return
    assert content
    for part in content:
        if part["type"] == "text":
            check_text(part["text"])
        else:
            assert part["type"] == "image_url"
            assert re.match(r"data:image/\w+;base64,.", part["image_url"]["url"])


def check_text(text):
    assert isinstance(text, str)
    assert text.strip()


def check_responses(body):
    allowed = {"model", "input", "stream", "store", "instructions", "tools", "tool_choice", "max_output_tokens"}
    assert set(body) <= allowed | {"reasoning"}
    items = body["input"]
    assert items[0]["role"] == "user"
    open_calls: dict[str, str] = {}
    seen: set[str] = set()
    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call":
            assert ID.fullmatch(item["call_id"])
            assert item["call_id"] not in seen
            seen.add(item["call_id"])
            open_calls[item["call_id"]] = item["name"]
            assert NAME.fullmatch(item["name"])
            assert isinstance(json.loads(item["arguments"]), dict)
        elif kind == "function_call_output":
            open_calls.pop(item["call_id"])
            check_text(item["output"])
        else:
            assert not open_calls, "a call without result"
            if item["role"] == "assistant":
                check_text(item["content"])
            else:
                assert item["role"] == "user"
                assert item["content"]
                for part in item["content"]:
                    if part["type"] == "input_text":
                        check_text(part["text"])
                    else:
                        assert part["type"] == "input_image"
    assert not open_calls

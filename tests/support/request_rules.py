"""What model vendors demand of a request body, written from their rules and not from our code."""

from __future__ import annotations

import json
import re
from typing import Any

CHAT_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
CLAUDE_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MISTRAL_ID = re.compile(r"[A-Za-z0-9]{9}")


def strict(raw: bytes) -> Any:
    """UTF-8 JSON without lone surrogates, NaN and NUL."""
    value = json.loads(raw.decode("utf-8"), parse_constant=_refuse)
    json.dumps(value, ensure_ascii=False).encode("utf-8")  # raises for a lone surrogate
    assert "\\u0000" not in raw.decode("utf-8")
    return value


def _refuse(name: str) -> Any:
    raise ValueError(name)


def check(path: str, raw: bytes, *, id_pattern: re.Pattern[str] | None = None) -> Any:
    """Check a request by the rules of the API that its path names; returns the body."""
    body = strict(raw)
    if path.endswith("/messages"):
        check_claude(body, id_pattern or CLAUDE_ID)
    else:
        assert path.endswith("/chat/completions"), path
        check_chat(body, id_pattern or CHAT_ID)
    return body


def check_chat(body: dict[str, Any], id_pattern: re.Pattern[str]) -> None:
    messages = [m for m in body["messages"] if m["role"] not in ("system", "developer")]
    assert messages
    assert messages[0]["role"] == "user", "the first message is not the user's"
    assert messages[-1]["role"] in ("user", "tool")
    open_calls: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in open_calls, "a result without its call directly before"
            open_calls.remove(message["tool_call_id"])
            assert message["content"]
            continue
        assert not open_calls, f"calls without result: {open_calls}"
        for call in message.get("tool_calls") or ():
            assert id_pattern.fullmatch(call["id"]), call["id"]
            assert call["id"] not in seen, "an id stands twice"
            seen.add(call["id"])
            open_calls.append(call["id"])
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
        assert message.get("content") or message.get("tool_calls"), "an empty message"
    assert not open_calls, f"calls without result: {open_calls}"


def check_claude(body: dict[str, Any], id_pattern: re.Pattern[str]) -> None:
    messages = body["messages"]
    assert messages[0]["role"] == "user"
    before = ""
    open_calls: list[str] = []
    for message in messages:
        assert message["role"] in ("user", "assistant")
        assert message["role"] != before, "two neighbours of one role"
        before = message["role"]
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        assert blocks, "an empty message"
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        assert sorted(results) == sorted(open_calls), "results do not answer the calls directly before"
        kinds = [b["type"] == "tool_result" for b in blocks]
        assert kinds == sorted(kinds, reverse=True), "something stands before a tool result"
        open_calls = [b["id"] for b in blocks if b["type"] == "tool_use"]
        assert len(set(open_calls)) == len(open_calls)
        for block in blocks:
            if block["type"] == "tool_use":
                assert id_pattern.fullmatch(block["id"]), block["id"]
                assert isinstance(block["input"], dict)
            elif block["type"] == "text":
                assert block["text"].strip(), "blank text"
            elif block["type"] == "thinking":
                assert block["signature"]
                assert "thinking" in block
    assert not open_calls


def texts(body: dict[str, Any]) -> list[str]:
    """All texts of the conversation in order, tool results included."""
    out: list[str] = []
    for message in body["messages"]:
        if message["role"] in ("system", "developer"):
            continue
        content = message.get("content") or ""
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            inner = block.get("content") if block["type"] == "tool_result" else block.get("text")
            parts = [inner] if isinstance(inner, str) else [b.get("text", "") for b in inner or ()]
            out += [p for p in parts if p]
    return out

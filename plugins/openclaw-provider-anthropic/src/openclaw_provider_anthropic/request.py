"""The body of a Messages request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openclaw_core.sdk import (
    AssistantMessage,
    Exchange,
    IdRule,
    ImageBlock,
    ModelRequest,
    ModelTurn,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolSchema,
    clean_text,
    dialogue,
)
from openclaw_provider_anthropic.thinking import thinking_fields

API = "anthropic-messages"
IDS = IdRule(max_length=64)
DEFAULT_MAX_TOKENS = 8192
BETWEEN = "(Continue.)"
"""Parts two answers of which the later begins with thinking: merged, its thinking would not come first."""

_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_TAKEN = ("metadata", "service_tier", "stop_sequences", "tool_choice")
_SAMPLING = ("temperature", "top_p", "top_k")


def messages_body(request: ModelRequest) -> dict[str, Any]:
    """Arguments for the SDK's ``messages.create``; messages obey the API's rules whatever the history holds."""
    limit = request.max_tokens or request.model.max_tokens or DEFAULT_MAX_TOKENS
    cache = _cache_mark(request)
    messages = body_messages(request)
    body: dict[str, Any] = {"model": request.model.id, "max_tokens": limit, "messages": messages}
    system = _system(request, cache)
    if system:
        body["system"] = system
    if request.tools:
        body["tools"] = body_tools(request.tools)
    if cache:
        messages[-1]["content"][-1]["cache_control"] = cache
    thinking = thinking_fields(request.thinking, request.model, limit, continues_unthought=_unthought(messages))
    body.update(thinking)
    params = request.params
    for name in _TAKEN:
        if params.get(name) is not None:
            body[name] = params[name]
    # the SDK's signature has no sampling parameters; the API refuses them beside thinking
    extra = {} if thinking else {n: params[n] for n in _SAMPLING if params.get(n) is not None}
    extra.update(params.get("extra_body") or params.get("extraBody") or {})
    if extra:
        body["extra_body"] = extra
    return body


def body_tools(tools: Sequence[ToolSchema]) -> list[dict[str, Any]]:
    """Tool declarations; schemas stay as the tool's author wrote them."""
    return [{"name": t.name, "description": t.description, "input_schema": t.parameters} for t in tools]


def body_messages(request: ModelRequest) -> list[dict[str, Any]]:
    """Strictly alternating messages that begin and end with ``user``; results stand first in theirs."""
    images = "image" in request.model.input
    out: list[dict[str, Any]] = []
    for turn in dialogue(request.messages, IDS):
        if isinstance(turn, ModelTurn):
            _answers(out, turn)
            if turn.exchanges:
                out.append({"role": "user", "content": [_result(e, images=images) for e in turn.exchanges]})
            continue
        blocks = [_shown(b, images=images) for b in turn.blocks]
        if out and out[-1]["role"] == "user":
            out[-1]["content"] += blocks
        else:
            out.append({"role": "user", "content": blocks})
    return out


def _system(request: ModelRequest, cache: dict[str, str] | None) -> list[dict[str, Any]]:
    """The stable part with the cache mark (it covers the tools too), the volatile part below it."""
    out: list[dict[str, Any]] = []
    if request.system.strip():
        block: dict[str, Any] = {"type": "text", "text": clean_text(request.system)}
        if cache:
            block["cache_control"] = cache
        out.append(block)
    if request.system_dynamic.strip():
        out.append({"type": "text", "text": clean_text(request.system_dynamic)})
    return out


def _cache_mark(request: ModelRequest) -> dict[str, str] | None:
    """`params.cacheRetention`: ``none``, ``short`` (5 minutes, default) or ``long`` (1 hour)."""
    kept = request.params.get("cacheRetention", "short")
    if kept == "none":
        return None
    return {"type": "ephemeral", "ttl": "1h"} if kept == "long" else {"type": "ephemeral"}


def _answers(out: list[dict[str, Any]], turn: ModelTurn) -> None:
    content: list[dict[str, Any]] = []
    last = turn.messages[-1]
    for message in turn.messages:
        blocks = _answer(message, turn.exchanges if message is last else ())
        if content and any(b["type"].endswith("thinking") for b in blocks):
            out.append({"role": "assistant", "content": content})
            out.append({"role": "user", "content": [{"type": "text", "text": BETWEEN}]})
            content = []
        content += blocks
    out.append({"role": "assistant", "content": content})


def _answer(message: AssistantMessage, exchanges: Sequence[Exchange]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    calls = iter(exchanges)
    ours = message.api in ("", API)
    for block in message.content:
        if isinstance(block, TextBlock):
            text = clean_text(block.text)
            if text.strip():
                out.append({"type": "text", "text": text})
        elif isinstance(block, ThinkingBlock):
            if ours:
                out += _thought(block)
        elif isinstance(block, ToolCallBlock):
            exchange = next(calls, None)
            if exchange is not None:
                out.append(
                    {"type": "tool_use", "id": exchange.id, "name": exchange.name, "input": dict(exchange.arguments)}
                )
    return out


def _thought(block: ThinkingBlock) -> list[dict[str, Any]]:
    """A block as the API gave it; one without signature was cut off and would be refused."""
    if block.redacted:
        return [{"type": "redacted_thinking", "data": block.redacted}]
    if block.signature and clean_text(block.thinking) == block.thinking:
        return [{"type": "thinking", "thinking": block.thinking, "signature": block.signature}]
    return []


def _result(exchange: Exchange, *, images: bool) -> dict[str, Any]:
    content = [{"type": "text", "text": t} for t in exchange.texts]
    content += [_shown(i, images=images) for i in exchange.images]
    if not content:
        content = [{"type": "text", "text": exchange.text}]
    out: dict[str, Any] = {"type": "tool_result", "tool_use_id": exchange.id, "content": content}
    if exchange.is_error:
        out["is_error"] = True
    return out


def _shown(block: TextBlock | ImageBlock, *, images: bool) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if images and block.mime_type in _IMAGES:
        source = {"type": "base64", "media_type": block.mime_type, "data": block.data}
        return {"type": "image", "source": source}
    return {"type": "text", "text": f"[image of type {block.mime_type}: this model cannot see it]"}


def _unthought(messages: Sequence[dict[str, Any]]) -> bool:
    """The request continues a tool use whose answer does not begin with thinking."""
    if len(messages) < 2 or messages[-1]["content"][0]["type"] != "tool_result":
        return False
    return not messages[-2]["content"][0]["type"].endswith("thinking")

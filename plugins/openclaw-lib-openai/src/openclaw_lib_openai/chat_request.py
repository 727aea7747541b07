"""The body of a Chat Completions request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openclaw_core.sdk import (
    Exchange,
    ImageBlock,
    ModelRequest,
    ModelTurn,
    PersonTurn,
    TextBlock,
    ToolSchema,
    clean_text,
    dialogue,
)
from openclaw_lib_openai.quirks import Quirks
from openclaw_lib_openai.reasoning import reasoning_members, tagged_text
from openclaw_lib_openai.requests import (
    SAMPLING,
    add_params,
    arguments_text,
    as_text,
    data_url,
    image_note,
    system_text,
)
from openclaw_lib_openai.schema import adapt_schema
from openclaw_lib_openai.thinking import thinking_members

_SAMPLING = (*SAMPLING, "seed", "stop", "presence_penalty", "frequency_penalty", "logit_bias")

AFTER_TOOL = "(The tool results are above.)"
"""Stands in for an answer where a server wants one between a result and a person's message."""


def chat_body(request: ModelRequest, quirks: Quirks) -> dict[str, Any]:
    """The whole body; messages obey the format's rules whatever the history holds."""
    body: dict[str, Any] = {
        "model": request.model.id,
        "messages": chat_messages(request, quirks),
        "stream": True,
    }
    if quirks.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = chat_tools(request.tools, quirks)
        body["tool_choice"] = "auto"
        if quirks.parallel_tool_calls is not None:
            body["parallel_tool_calls"] = quirks.parallel_tool_calls
    limit = request.max_tokens or request.model.max_tokens
    if limit:
        body[quirks.max_tokens_field] = limit
    body.update(thinking_members(request.thinking, quirks))
    body.update(quirks.body)
    add_params(body, request.params, [n for n in _SAMPLING if n not in quirks.drop_params])
    chosen = body.get("tool_choice")
    if quirks.tool_choice == "never" or (not request.tools and chosen == "auto"):
        body.pop("tool_choice", None)
    elif quirks.tool_choice == "auto" and chosen is not None and chosen not in ("auto", "none"):
        body["tool_choice"] = "auto"
    return body


def chat_tools(tools: Sequence[ToolSchema], quirks: Quirks | None = None) -> list[dict[str, Any]]:
    """Tool declarations; schemas stay as the tool's author wrote them unless the server takes only a part."""
    rule = (quirks or Quirks()).schema
    return [
        {
            "type": "function",
            "function": {
                "name": t.name,
                "description": t.description,
                "parameters": adapt_schema(t.parameters, rule),
            },
        }
        for t in tools
    ]


def chat_messages(request: ModelRequest, quirks: Quirks) -> list[dict[str, Any]]:
    """System prompt and history."""
    out: list[dict[str, Any]] = []
    carried: tuple[ImageBlock, ...] = ()  # images of results go into the next message of the person
    for turn in dialogue(request.messages, quirks.ids):
        if isinstance(turn, PersonTurn):
            _add_user(out, (*carried, *turn.blocks), quirks)
            carried = ()
            continue
        if carried:
            _add_user(out, carried, quirks)
        out += _answer(turn, request, quirks)
        carried = tuple(i for e in turn.exchanges for i in e.images) if quirks.images else ()
    if carried:
        _add_user(out, carried, quirks)
    _add_system(out, request, quirks)
    if quirks.cache_control:
        _mark_cache(out, request)
    return out


def _add_system(out: list[dict[str, Any]], request: ModelRequest, quirks: Quirks) -> None:
    """The prompt as one message in front, or inside the first one of the person."""
    system = system_text(request)
    if not system:
        return
    if quirks.system_role != "user":
        out.insert(0, {"role": quirks.system_role, "content": system})
        return
    first = out[0]
    if isinstance(first["content"], str):
        first["content"] = f"{system}\n\n{first['content']}"
    else:
        first["content"] = [{"type": "text", "text": system}, *first["content"]]


def _add_user(out: list[dict[str, Any]], blocks: Sequence[TextBlock | ImageBlock], quirks: Quirks) -> None:
    if quirks.assistant_after_tool and out and out[-1]["role"] == "tool":
        out.append({"role": "assistant", "content": AFTER_TOOL})
    out.append({"role": "user", "content": _content(blocks, quirks)})


def _answer(turn: ModelTurn, request: ModelRequest, quirks: Quirks) -> list[dict[str, Any]]:
    text = tagged_text(turn, request.model, quirks)
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    message.update(reasoning_members(turn, request.model, quirks))
    if not turn.exchanges:
        return [message]
    if not text and quirks.empty_content != "null":
        if quirks.empty_content == "omit":
            del message["content"]
        else:
            message["content"] = ""
    message["tool_calls"] = [
        {"id": e.id, "type": "function", "function": {"name": e.name, "arguments": arguments_text(e.arguments)}}
        for e in turn.exchanges
    ]
    return [message, *(_result(e, quirks) for e in turn.exchanges)]


def _result(exchange: Exchange, quirks: Quirks) -> dict[str, Any]:
    text = exchange.text
    if exchange.images:
        notes = ["[the image follows]" if quirks.images else image_note(i) for i in exchange.images]
        text = "\n".join([*exchange.texts, *notes])
    message = {"role": "tool", "tool_call_id": exchange.id, "content": text}
    if quirks.tool_result_name:
        message["name"] = exchange.name
    return message


def _content(blocks: Sequence[TextBlock | ImageBlock], quirks: Quirks) -> str | list[dict[str, Any]]:
    if not quirks.images or all(isinstance(b, TextBlock) for b in blocks):
        return as_text(blocks)
    return [
        {"type": "text", "text": b.text}
        if isinstance(b, TextBlock)
        else {"type": "image_url", "image_url": {"url": data_url(b)}}
        for b in blocks
    ]


def _mark_cache(out: list[dict[str, Any]], request: ModelRequest) -> None:
    """Marks at the end of the stable prompt and of the last message: what lies before them is cached.
    `params.cacheRetention`: ``none``, ``short`` (default) or ``long`` (1 hour)."""
    kept = request.params.get("cacheRetention", "short")
    if kept == "none":
        return
    mark = {"type": "ephemeral", "ttl": "1h"} if kept == "long" else {"type": "ephemeral"}
    stable = clean_text(request.system)
    if out[0]["role"] != "user" and stable.strip():
        rest = clean_text(request.system_dynamic)
        out[0]["content"] = [
            {"type": "text", "text": stable, "cache_control": mark},
            *([{"type": "text", "text": rest}] if rest.strip() else []),
        ]
    last = out[-1]
    parts = last["content"]
    if isinstance(parts, str):
        parts = last["content"] = [{"type": "text", "text": parts}]
    parts[-1] = {**parts[-1], "cache_control": mark}

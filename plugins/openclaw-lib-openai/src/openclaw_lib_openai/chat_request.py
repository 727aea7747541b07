"""The body of a Chat Completions request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openclaw_core.sdk import ImageBlock, ModelRequest, ModelTurn, PersonTurn, TextBlock, ToolSchema, dialogue
from openclaw_lib_openai.quirks import Quirks, effort
from openclaw_lib_openai.requests import (
    SAMPLING,
    add_params,
    arguments_text,
    as_text,
    data_url,
    image_note,
    system_text,
)

_SAMPLING = (*SAMPLING, "seed", "stop", "presence_penalty", "frequency_penalty", "logit_bias")


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
        body["tools"] = chat_tools(request.tools)
        body["tool_choice"] = "auto"
    limit = request.max_tokens or request.model.max_tokens
    if limit:
        body[quirks.max_tokens_field] = limit
    level = effort(request.thinking, quirks, request.model)
    if level:
        body["reasoning_effort"] = level
    add_params(body, request.params, _SAMPLING)
    return body


def chat_tools(tools: Sequence[ToolSchema]) -> list[dict[str, Any]]:
    """Tool declarations; schemas stay as the tool's author wrote them."""
    return [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
        for t in tools
    ]


def chat_messages(request: ModelRequest, quirks: Quirks) -> list[dict[str, Any]]:
    """System prompt and history."""
    out: list[dict[str, Any]] = []
    system = system_text(request)
    if system:
        out.append({"role": "system", "content": system})
    carried: tuple[ImageBlock, ...] = ()  # images of results go into the next message of the person
    for turn in dialogue(request.messages, quirks.ids):
        if isinstance(turn, PersonTurn):
            out.append({"role": "user", "content": _content((*carried, *turn.blocks), quirks)})
            carried = ()
            continue
        if carried:
            out.append({"role": "user", "content": _content(carried, quirks)})
        out += _answer(turn, quirks)
        carried = tuple(i for e in turn.exchanges for i in e.images) if quirks.images else ()
    if carried:
        out.append({"role": "user", "content": _content(carried, quirks)})
    return out


def _answer(turn: ModelTurn, quirks: Quirks) -> list[dict[str, Any]]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if not turn.exchanges:
        return [message]
    message["tool_calls"] = [
        {"id": e.id, "type": "function", "function": {"name": e.name, "arguments": arguments_text(e.arguments)}}
        for e in turn.exchanges
    ]
    out = [message]
    for exchange in turn.exchanges:
        text = exchange.text
        if exchange.images:
            notes = ["[the image follows]" if quirks.images else image_note(i) for i in exchange.images]
            text = "\n".join([*exchange.texts, *notes])
        out.append({"role": "tool", "tool_call_id": exchange.id, "content": text})
    return out


def _content(blocks: Sequence[TextBlock | ImageBlock], quirks: Quirks) -> str | list[dict[str, Any]]:
    if not quirks.images or all(isinstance(b, TextBlock) for b in blocks):
        return as_text(blocks)
    return [
        {"type": "text", "text": b.text}
        if isinstance(b, TextBlock)
        else {"type": "image_url", "image_url": {"url": data_url(b)}}
        for b in blocks
    ]

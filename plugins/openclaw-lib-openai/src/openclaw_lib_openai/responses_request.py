"""The body of a Responses request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openclaw_core.sdk import ImageBlock, ModelRequest, ModelTurn, PersonTurn, TextBlock, ToolSchema, dialogue
from openclaw_lib_openai.quirks import Quirks
from openclaw_lib_openai.requests import SAMPLING, add_params, arguments_text, data_url, image_note, system_text
from openclaw_lib_openai.thinking import effort

_SAMPLING = (*SAMPLING, "truncation")


def responses_body(request: ModelRequest, quirks: Quirks) -> dict[str, Any]:
    """The whole body. Nothing is stored at the vendor: each request carries its history."""
    body: dict[str, Any] = {
        "model": request.model.id,
        "input": responses_input(request, quirks),
        "stream": True,
        "store": False,
    }
    system = system_text(request)
    if system:
        body["instructions"] = system
    if request.tools:
        body["tools"] = responses_tools(request.tools)
        body["tool_choice"] = "auto"
    limit = request.max_tokens or request.model.max_tokens
    if limit:
        body["max_output_tokens"] = limit
    level = effort(request.thinking, quirks)
    if level:
        body["reasoning"] = {"effort": level}
        if level not in ("none", "minimal"):
            body["reasoning"]["summary"] = "auto"
    add_params(body, request.params, _SAMPLING)
    return body


def responses_tools(tools: Sequence[ToolSchema]) -> list[dict[str, Any]]:
    """Tool declarations; `strict` would forbid optional parameters."""
    return [
        {
            "type": "function",
            "name": t.name,
            "description": t.description,
            "parameters": t.parameters,
            "strict": False,
        }
        for t in tools
    ]


def responses_input(request: ModelRequest, quirks: Quirks) -> list[dict[str, Any]]:
    """The history as input items."""
    out: list[dict[str, Any]] = []
    carried: tuple[ImageBlock, ...] = ()
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
    out: list[dict[str, Any]] = []
    if turn.text:
        out.append({"role": "assistant", "content": turn.text})
    for exchange in turn.exchanges:
        out.append(
            {
                "type": "function_call",
                "call_id": exchange.id,
                "name": exchange.name,
                "arguments": arguments_text(exchange.arguments),
            }
        )
    for exchange in turn.exchanges:
        text = exchange.text
        if exchange.images:
            notes = ["[the image follows]" if quirks.images else image_note(i) for i in exchange.images]
            text = "\n".join([*exchange.texts, *notes])
        out.append({"type": "function_call_output", "call_id": exchange.id, "output": text})
    return out


def _content(blocks: Sequence[TextBlock | ImageBlock], quirks: Quirks) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for block in blocks:
        if isinstance(block, TextBlock):
            out.append({"type": "input_text", "text": block.text})
        elif quirks.images:
            out.append({"type": "input_image", "image_url": data_url(block), "detail": "auto"})
        else:
            out.append({"type": "input_text", "text": image_note(block)})
    return out

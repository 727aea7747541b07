"""What both wire formats share when a request is built."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from openclaw_core.sdk import ImageBlock, ModelRequest, TextBlock, clean_json, clean_text

SAMPLING = ("temperature", "top_p", "service_tier", "parallel_tool_calls", "tool_choice", "metadata", "user")
"""Keys of `ModelRequest.params` that both formats take as they are."""


def system_text(request: ModelRequest) -> str:
    """The system prompt: stable part first, so that vendors can cache the prefix."""
    return clean_text("\n\n".join(p for p in (request.system, request.system_dynamic) if p.strip()))


def data_url(image: ImageBlock) -> str:
    """The image as the vendors want it."""
    return f"data:{image.mime_type};base64,{image.data}"


def image_note(image: ImageBlock) -> str:
    """What a model that takes no images is told instead."""
    return f"[image of type {image.mime_type}: this model cannot see images]"


def as_text(blocks: Iterable[TextBlock | ImageBlock]) -> str:
    """Blocks as one text, images described."""
    return "\n\n".join(b.text if isinstance(b, TextBlock) else image_note(b) for b in blocks)


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """A call's arguments as the JSON text that the wire carries."""
    return json.dumps(arguments, separators=(",", ":"), ensure_ascii=False) if arguments else "{}"


def add_params(body: dict[str, Any], params: Mapping[str, Any], names: Iterable[str]) -> None:
    """Copy the known parameters, then everything below `extra_body` (or `extraBody`): a person's own word."""
    for name in names:
        if params.get(name) is not None:
            body[name] = params[name]
    for key in ("extra_body", "extraBody"):
        extra = params.get(key)
        if isinstance(extra, Mapping):
            body.update(extra)


def encode(body: Mapping[str, Any]) -> bytes:
    """The request as bytes: UTF-8 JSON without NaN and without lone surrogates.

    Raises ValueError for a value that JSON does not have (NaN, a cycle).
    """
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError:  # history and prompt are clean already; a tool's description may not be
        return json.dumps(clean_json(body), separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()

"""Reasoning that goes back to the model that made it.

Some vendors refuse the next request of a tool loop when the reasoning before the call is missing (DeepSeek, Kimi),
others only answer worse (GLM, MiniMax), others refuse the field (Groq). `Quirks.reasoning_back` and
`reasoning_field` say which.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from openclaw_core.sdk import AssistantMessage, ModelInfo, ModelTurn, ThinkingBlock, clean_json, clean_text
from openclaw_lib_openai.quirks import Quirks

API = "openai-completions"
DETAILS = "reasoning_details"
TAGS = "tags"


class DetailsJoiner:
    """Collects the ``reasoning_details`` of a stream: signed or encrypted pieces that must go back unchanged."""

    def __init__(self) -> None:
        self._parts: list[dict[str, Any]] = []

    def feed(self, details: Any) -> str:
        """Take the details of one chunk; returns the readable text in them."""
        text = ""
        for item in details if isinstance(details, list) else ():
            if not isinstance(item, Mapping):
                continue
            text += next((item[k] for k in ("text", "summary") if isinstance(item.get(k), str)), "")
            last = self._parts[-1] if self._parts else None
            if last is not None and _same_part(last, item):
                _extend(last, item)
            else:
                self._parts.append(dict(item))
        return text

    def dump(self) -> str:
        """All pieces as JSON text; empty without any."""
        return json.dumps(self._parts, separators=(",", ":"), ensure_ascii=False) if self._parts else ""


def _same_part(last: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    return all(last.get(k) == item.get(k) for k in ("type", "index")) and (
        not item.get("id") or not last.get("id") or item["id"] == last["id"]
    )


def _extend(last: dict[str, Any], item: Mapping[str, Any]) -> None:
    for key, value in item.items():
        if key in ("text", "summary", "data") and isinstance(value, str):
            last[key] = str(last.get(key) or "") + value
        elif value is not None:
            last[key] = value


def reasoning_members(turn: ModelTurn, model: ModelInfo, quirks: Quirks) -> dict[str, Any]:
    """What the assistant message carries beside content and calls. The field is present, if empty, even
    where another model answered: servers that want it want it in each message."""
    if quirks.reasoning_back == "never" or quirks.reasoning_field == TAGS:
        return {}
    if quirks.reasoning_back == "tools" and not turn.exchanges:
        return {}
    if quirks.reasoning_field == DETAILS:
        details = _details(turn.messages, model)
        return {DETAILS: details} if details else {}
    return {quirks.reasoning_field: _text(turn.messages, model)}


def tagged_text(turn: ModelTurn, model: ModelInfo, quirks: Quirks) -> str:
    """The visible text, with its reasoning in tags where the vendor wants that."""
    if quirks.reasoning_field != TAGS or quirks.reasoning_back == "never":
        return turn.text
    if quirks.reasoning_back == "tools" and not turn.exchanges:
        return turn.text
    thought = _text(turn.messages, model)
    return f"<think>{thought}</think>\n\n{turn.text}" if thought.strip() else turn.text


def _own(messages: Sequence[AssistantMessage], model: ModelInfo) -> list[AssistantMessage]:
    return [m for m in messages if m.provider == model.provider and m.api == API]


def _text(messages: Sequence[AssistantMessage], model: ModelInfo) -> str:
    return "".join(
        clean_text(b.thinking) for m in _own(messages, model) for b in m.content if isinstance(b, ThinkingBlock)
    )


def _details(messages: Sequence[AssistantMessage], model: ModelInfo) -> list[Any]:
    """The pieces as they came. Signatures hold for one model only."""
    out: list[Any] = []
    for message in _own(messages, model):
        for block in message.content if message.model == model.id else ():
            if isinstance(block, ThinkingBlock) and block.signature:
                try:
                    stored = json.loads(block.signature)
                except ValueError:  # another plugin's signature: nothing that this wire knows
                    continue
                out += clean_json(stored) if isinstance(stored, list) else []
    return out

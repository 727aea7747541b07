"""What one vendor's server wants differently, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from openclaw_core.sdk import IdRule, ModelInfo

MaxTokensField = Literal["max_tokens", "max_completion_tokens"]

OPENAI_HOST = "api.openai.com"

_IDS = IdRule(max_length=40)
_MISTRAL_IDS = IdRule(max_length=9, exact=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirks:
    """How to talk to one model of one server. Made from the `compat` entry of the model, where each key
    may be written in snake_case or camelCase."""

    max_tokens_field: MaxTokensField
    """`max_tokens_field`: name of the output limit in Chat Completions."""
    ids: IdRule
    """`tool_id` ``"alnum9"``: ids of exactly nine alphanumeric characters (Mistral)."""
    stream_usage: bool
    """`supports_usage_in_streaming`: ask for the usage chunk; default true."""
    reasoning_effort: bool
    """`supports_reasoning_effort`: send the thinking level; default: the model is a reasoning model."""
    reasoning_off: str
    """`reasoning_off`: the effort that means "do not think" (``none``, ``minimal``); empty: send nothing."""
    images: bool
    """The model takes images."""


def quirks_for(provider_id: str, base_url: str, model: ModelInfo) -> Quirks:
    """The quirks of a model: its own `compat`, else what is known of the vendor."""
    compat = model.compat
    host = urlsplit(base_url).hostname or ""
    openai = provider_id == "openai" or host == OPENAI_HOST
    mistral = provider_id == "mistral" or host.endswith("mistral.ai")
    field = _get(compat, "max_tokens_field", "maxTokensField")
    if field not in ("max_tokens", "max_completion_tokens"):
        field = "max_completion_tokens" if openai else "max_tokens"
    rule = _get(compat, "tool_id", "toolId")
    effort = _get(compat, "supports_reasoning_effort", "supportsReasoningEffort")
    return Quirks(
        max_tokens_field=field,
        ids=_MISTRAL_IDS if rule == "alnum9" or (rule is None and mistral) else _IDS,
        stream_usage=_get(compat, "supports_usage_in_streaming", "supportsUsageInStreaming") is not False,
        reasoning_effort=model.reasoning if effort is None else bool(effort),
        reasoning_off=str(_get(compat, "reasoning_off", "reasoningOff") or ""),
        images="image" in model.input,
    )


def _get(compat: Mapping[str, Any], *names: str) -> Any:
    return next((compat[n] for n in names if n in compat), None)


_EFFORTS = {
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "adaptive": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "high",
    "ultra": "high",
}


def effort(level: str, quirks: Quirks, model: ModelInfo) -> str:
    """The vendor's word for a thinking level (behaviour.md 7.6); empty: send none.

    Levels that not every reasoning model knows (``minimal``, ``xhigh``) are lowered to the nearest common
    one unless the model's `compat.efforts` lists them.
    """
    if not quirks.reasoning_effort:
        return ""
    if level in ("", "off"):
        return quirks.reasoning_off
    if level in (_get(model.compat, "efforts") or ()):
        return level
    if level in ("max", "ultra") and "xhigh" in (_get(model.compat, "efforts") or ()):
        return "xhigh"
    return _EFFORTS.get(level, "medium")

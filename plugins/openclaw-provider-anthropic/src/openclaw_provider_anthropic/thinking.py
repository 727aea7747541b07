"""From a thinking level (behaviour.md 7.6) to what the Messages API wants."""

from __future__ import annotations

import re
from typing import Any, Literal

from openclaw_core.sdk import ModelInfo

MIN_BUDGET = 1024
"""Tokens; the API refuses less."""
_BUDGETS = {
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "adaptive": 8192,
    "high": 16_384,
    "xhigh": 32_768,
    "max": 32_768,
    "ultra": 32_768,
}
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
# Models up to generation 4.5 take a budget; later ones decide by themselves and take an effort.
_BUDGET_MODELS = re.compile(r"claude-(?:[123]\b|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8})?$)")

Style = Literal["adaptive", "budget", ""]


def style_of(model: ModelInfo) -> Style:
    """How a model is told to think; empty for one that cannot. `compat.thinking` decides, else the name."""
    if not model.reasoning:
        return ""
    chosen = model.compat.get("thinking")
    if chosen in ("adaptive", "budget"):
        return "adaptive" if chosen == "adaptive" else "budget"
    return "adaptive" if "claude" in model.id and not _BUDGET_MODELS.search(model.id) else "budget"


def thinking_fields(level: str, model: ModelInfo, max_tokens: int, *, continues_unthought: bool) -> dict[str, Any]:
    """The fields `thinking` and `output_config` of a request; empty for none.

    `continues_unthought`: the request continues a tool use that was made without thinking; models with a
    budget refuse to begin thinking there.
    """
    style = style_of(model)
    if not style or level in ("", "off"):
        return {}
    if style == "adaptive":
        return {
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": _effort(level, model)},
        }
    budget = min(_BUDGETS.get(level, _BUDGETS["medium"]), max_tokens - MIN_BUDGET)
    if budget < MIN_BUDGET or continues_unthought:
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _effort(level: str, model: ModelInfo) -> str:
    known = model.compat.get("efforts") or ()
    if level == "ultra" and "max" in known:
        return "max"
    return level if level in known else _EFFORTS.get(level, "medium")

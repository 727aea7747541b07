"""From a thinking level (behaviour.md 7.6) to what a vendor reads."""

from __future__ import annotations

from typing import Any

from openclaw_lib_openai.quirks import Quirks

ORDER = ("minimal", "low", "medium", "high", "xhigh", "max", "ultra")
"""Levels from little to much; ``adaptive`` counts as medium."""

_COMMON = {
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "high",
    "ultra": "high",
}


def effort(level: str, quirks: Quirks) -> str:
    """The vendor's word for a thinking level; empty: send none.

    A level that the model does not know falls to the next lower one that it knows, which may be "off" where the
    vendor has a word for it, else to its lowest. Models whose `levels` nobody wrote down know low, medium and
    high, and what `efforts` lists.
    """
    if not quirks.reasoning_effort:
        return ""
    if level in ("", "off"):
        return _nearest("minimal", quirks) if quirks.always_thinks and quirks.levels else quirks.reasoning_off
    level = level if level in ORDER else "medium"
    if quirks.levels:
        return _nearest(level, quirks)
    if level in quirks.efforts:
        return level
    if level in ("max", "ultra") and "xhigh" in quirks.efforts:
        return "xhigh"
    return _COMMON[level]


def _nearest(level: str, quirks: Quirks) -> str:
    levels = quirks.levels or {}
    known = [name for name in ORDER if name in levels]
    lower = [name for name in known if ORDER.index(name) <= ORDER.index(level)]
    if lower:
        return levels[lower[-1]]
    return quirks.reasoning_off or (levels[known[0]] if known else "")


def thinking_members(level: str, quirks: Quirks) -> dict[str, Any]:
    """The members of the body that carry the level, in the vendor's form."""
    if not quirks.reasoning_effort or quirks.thinking_format == "none":
        return {}
    word = effort(level, quirks)
    on = level not in ("", "off") or quirks.always_thinks
    if quirks.thinking_format == "openai":
        return {"reasoning_effort": word} if word else {}
    if quirks.thinking_format == "openrouter":
        return {"reasoning": {"effort": word}} if word else {}
    if quirks.thinking_format == "qwen":
        return {"enable_thinking": on}
    if quirks.thinking_format == "qwen-chat-template":
        # templates read one of the two names and ignore the other
        return {"chat_template_kwargs": {"enable_thinking": on, "thinking": on}}
    members: dict[str, Any] = {"thinking": {"type": quirks.thinking_on if on else "disabled", **quirks.thinking_extra}}
    if on and quirks.levels and word:
        members["reasoning_effort"] = word
    return members

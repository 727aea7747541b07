"""Tells the core about MiniMax."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {
    "max_tokens_field": "max_completion_tokens",
    "think_tags": True,
    "reasoning_field": "tags",
    "reasoning_back": "all",
    "tool_choice": "never",
    "drop_params": (
        "presence_penalty",
        "frequency_penalty",
        "logit_bias",
        "seed",
        "parallel_tool_calls",
        "service_tier",
    ),
}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="MiniMax-M3",
        name="MiniMax M3",
        context_window=1_000_000,
        max_tokens=131_072,
        reasoning=True,
        cost=(0.35, 1.4, 0.07, 0.4),
        compat={"thinking_format": "deepseek", "thinking_on": "adaptive"},
    ),
    ProviderModel(
        id="MiniMax-M2.5",
        name="MiniMax M2.5",
        context_window=204_800,
        max_tokens=65_536,
        reasoning=True,
        cost=(0.3, 1.2, 0.03, 0.375),
        compat={"thinking_format": "none"},
    ),
)
"""Limits in tokens, US dollars per million tokens, from MiniMax' price page (2026)."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="minimax",
            summary="MiniMax models",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="https://api.minimax.io/v1",
            env_keys=("MINIMAX_API_KEY",),
            models=MODELS,
            default_model="MiniMax-M3",
            compat=COMPAT,
        )
    ]

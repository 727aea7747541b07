"""Tells the core about DeepSeek."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {"thinking_format": "deepseek", "reasoning_back": "all"}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="deepseek-flash",
        name="DeepSeek V4.1 Flash",
        context_window=1_000_000,
        max_tokens=64_000,
        reasoning=True,
        input=("text", "image"),
        cost=(0.15, 0.6, 0.003, 0.0),
        compat={"levels": ("low", "high", "max")},
    ),
    ProviderModel(
        id="deepseek-v4-pro",
        name="DeepSeek V4 Pro",
        context_window=1_000_000,
        max_tokens=64_000,
        reasoning=True,
        cost=(1.32, 3.96, 0.044, 0.0),
        compat={"levels": ("high", "max")},
    ),
)
"""Limits in tokens, US dollars per million tokens, from DeepSeek's price page (2026). The vendor bills by the hour: Flash
stands at the price of quiet hours (double at peak), Pro at the peak price (half in quiet hours)."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="deepseek",
            summary="DeepSeek models",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="https://api.deepseek.com",
            env_keys=("DEEPSEEK_API_KEY",),
            models=MODELS,
            default_model="deepseek-flash",
            compat=COMPAT,
        )
    ]

"""Tells the core about Qwen."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {"thinking_format": "qwen", "tool_choice": "auto", "parallel_tool_calls": True}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="qwen-plus",
        name="Qwen Plus",
        context_window=1_000_000,
        max_tokens=32_768,
        reasoning=True,
        cost=(0.4, 1.2, 0.08, 0.5),
    ),
    ProviderModel(
        id="qwen3-max",
        name="Qwen3 Max",
        context_window=262_144,
        max_tokens=32_768,
        cost=(1.2, 6.0, 0.24, 1.5),
    ),
    ProviderModel(
        id="qwen3-coder-plus",
        name="Qwen3 Coder Plus",
        context_window=1_000_000,
        max_tokens=65_536,
        cost=(1.0, 5.0, 0.2, 1.25),
    ),
)
"""Limits in tokens, US dollars per million tokens of the lowest tier, from Model Studio's price page (2026)."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="qwen",
            summary="Qwen models of Alibaba Cloud Model Studio",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
            env_keys=(
                "DASHSCOPE_API_KEY",
                "QWEN_API_KEY",
            ),
            models=MODELS,
            default_model="qwen-plus",
            compat=COMPAT,
        )
    ]

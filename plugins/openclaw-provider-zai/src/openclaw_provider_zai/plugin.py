"""Tells the core about Z.AI."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {
    "thinking_format": "deepseek",
    "thinking_extra": {"clear_thinking": False},
    "reasoning_back": "all",
    "tool_choice": "auto",
    "body": {"tool_stream": True},
}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="glm-5.3",
        name="GLM-5.3",
        context_window=1_000_000,
        max_tokens=131_072,
        reasoning=True,
        cost=(1.4, 4.4, 0.26, 0.0),
        compat={"levels": ("low", "high", "max"), "always_thinks": True},
    ),
    ProviderModel(
        id="glm-4.7",
        name="GLM-4.7",
        context_window=204_800,
        max_tokens=65_536,
        reasoning=True,
        cost=(0.6, 2.2, 0.11, 0.0),
    ),
    ProviderModel(
        id="glm-4.5-air",
        name="GLM-4.5 Air",
        context_window=131_072,
        max_tokens=32_768,
        reasoning=True,
        cost=(0.2, 1.1, 0.03, 0.0),
    ),
)
"""Limits in tokens, US dollars per million tokens, from Z.AI's price page (2026)."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="zai",
            summary="GLM models of Z.AI",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="https://api.z.ai/api/paas/v4",
            env_keys=(
                "ZAI_API_KEY",
                "Z_AI_API_KEY",
            ),
            models=MODELS,
            default_model="glm-5.3",
            compat=COMPAT,
        )
    ]

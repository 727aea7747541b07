"""Tells the core about OpenRouter."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {
    "thinking_format": "openrouter",
    "reasoning_field": "reasoning_details",
    "reasoning_back": "all",
    "by_model": {
        "anthropic/*": {"cache_control": "anthropic"},
        "mistralai/*": {"tool_id": "alnum9", "requires_assistant_after_tool_result": True},
        "moonshotai/*": {"tool_id": "open", "schema_inline": True, "schema_plain_types": True, "schema_typed": True},
    },
}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="openrouter/auto",
        name="Auto",
        context_window=200_000,
        max_tokens=16_384,
        input=("text", "image"),
    ),
    ProviderModel(
        id="anthropic/claude-sonnet-5",
        name="Claude Sonnet 5",
        context_window=1_000_000,
        max_tokens=64_000,
        reasoning=True,
        input=("text", "image"),
        cost=(2.0, 10.0, 0.2, 2.5),
    ),
    ProviderModel(
        id="openai/gpt-5.4",
        name="GPT-5.4",
        context_window=1_050_000,
        max_tokens=64_000,
        reasoning=True,
        input=("text", "image"),
        cost=(2.5, 15.0, 0.25, 0.0),
    ),
    ProviderModel(
        id="moonshotai/kimi-k3",
        name="Kimi K3",
        context_window=1_048_576,
        max_tokens=64_000,
        reasoning=True,
        input=("text", "image"),
        cost=(3.0, 15.0, 0.3, 0.0),
    ),
    ProviderModel(
        id="z-ai/glm-5.3",
        name="GLM-5.3",
        context_window=1_000_000,
        max_tokens=64_000,
        reasoning=True,
    ),
    ProviderModel(
        id="deepseek/deepseek-v4-pro",
        name="DeepSeek V4 Pro",
        context_window=1_000_000,
        max_tokens=64_000,
        reasoning=True,
    ),
)
"""Limits in tokens, US dollars per million tokens. Prices of 0 are unknown here: they depend on the route."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="openrouter",
            summary="Models of many vendors through OpenRouter",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="https://openrouter.ai/api/v1",
            env_keys=("OPENROUTER_API_KEY",),
            models=MODELS,
            default_model="openrouter/auto",
            priority=60,
            compat=COMPAT,
        )
    ]

"""Tells the core about Fireworks AI."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {"think_tags": True, "by_model": {"*kimi*": {"tool_id": "open"}}}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="accounts/fireworks/models/glm-5p3",
        name="GLM 5.3",
        context_window=1_048_573,
        max_tokens=131_072,
        reasoning=True,
        cost=(1.4, 4.4, 0.26, 0.0),
        compat={"levels": ("low", "high", "max"), "always_thinks": True, "reasoning_back": "all"},
    ),
    ProviderModel(
        id="accounts/fireworks/models/deepseek-v4-pro-0813",
        name="DeepSeek V4 Pro",
        context_window=1_048_576,
        max_tokens=64_000,
        reasoning=True,
        cost=(1.32, 3.96, 0.044, 0.0),
        compat={"levels": ("low", "high", "max"), "thinking_format": "deepseek", "reasoning_back": "all"},
    ),
    ProviderModel(
        id="accounts/fireworks/models/gpt-oss-120b",
        name="GPT OSS 120B",
        context_window=131_072,
        max_tokens=32_768,
        reasoning=True,
        cost=(0.15, 0.6, 0.01, 0.0),
    ),
)
"""Limits in tokens, US dollars per million tokens, from Fireworks' price page (2026)."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="fireworks",
            summary="Open models on Fireworks AI",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="https://api.fireworks.ai/inference/v1",
            env_keys=("FIREWORKS_API_KEY",),
            models=MODELS,
            default_model="accounts/fireworks/models/glm-5p3",
            priority=60,
            compat=COMPAT,
        )
    ]

"""Tells the core about Together AI."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {"think_tags": True}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="zai-org/GLM-5.3",
        name="GLM-5.3",
        context_window=1_048_575,
        max_tokens=131_072,
        reasoning=True,
        cost=(1.4, 4.4, 0.26, 0.0),
        compat={"levels": ("low", "medium", "high", "max"), "always_thinks": True, "reasoning_back": "all"},
    ),
    ProviderModel(
        id="moonshotai/Kimi-K3",
        name="Kimi K3",
        context_window=1_048_576,
        max_tokens=131_072,
        reasoning=True,
        input=("text", "image"),
        cost=(3.0, 15.0, 0.3, 0.0),
        compat={"levels": ("low", "medium", "high", "max"), "reasoning_back": "all", "tool_id": "open"},
    ),
    ProviderModel(
        id="deepseek-ai/DeepSeek-V4.1-Flash",
        name="DeepSeek V4.1 Flash",
        context_window=1_000_000,
        max_tokens=64_000,
        reasoning=True,
        input=("text", "image"),
        cost=(0.3, 1.2, 0.006, 0.0),
        compat={"levels": ("low", "high", "max"), "reasoning_back": "all"},
    ),
    ProviderModel(
        id="meta-llama/Llama-3.3-70B-Instruct-Turbo",
        name="Llama 3.3 70B Turbo",
        context_window=131_072,
        max_tokens=8_192,
    ),
)
"""Limits in tokens, US dollars per million tokens, from Together's model pages (2026). A price of 0 is unknown here."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="together",
            summary="Open models on Together AI",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="https://api.together.xyz/v1",
            env_keys=("TOGETHER_API_KEY",),
            models=MODELS,
            default_model="zai-org/GLM-5.3",
            priority=60,
            compat=COMPAT,
        )
    ]

"""Tells the core about Groq."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {
    "max_tokens_field": "max_completion_tokens",
    "drop_params": ("logit_bias",),
    "by_model": {"qwen/*": {"body": {"reasoning_format": "parsed"}}},
}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="openai/gpt-oss-120b",
        name="GPT OSS 120B",
        context_window=131_072,
        max_tokens=32_768,
        reasoning=True,
        cost=(0.15, 0.6, 0.075, 0.0),
    ),
    ProviderModel(
        id="openai/gpt-oss-20b",
        name="GPT OSS 20B",
        context_window=131_072,
        max_tokens=32_768,
        reasoning=True,
        cost=(0.075, 0.3, 0.0375, 0.0),
    ),
    ProviderModel(
        id="qwen/qwen3.8-27b",
        name="Qwen3.8 27B",
        context_window=131_042,
        max_tokens=16_384,
        reasoning=True,
        input=("text", "image"),
        cost=(0.8, 4.0, 0.4, 0.0),
        compat={"levels": {"minimal": "default"}, "reasoning_off": "none"},
    ),
)
"""Limits in tokens, US dollars per million tokens, from Groq's model and price pages (2026)."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="groq",
            summary="Open models on Groq",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="https://api.groq.com/openai/v1",
            env_keys=("GROQ_API_KEY",),
            models=MODELS,
            default_model="openai/gpt-oss-120b",
            compat=COMPAT,
        )
    ]

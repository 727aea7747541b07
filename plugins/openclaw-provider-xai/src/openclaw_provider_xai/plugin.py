"""Tells the core about xAI."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {
    "max_tokens_field": "max_completion_tokens",
    "drop_params": ("presence_penalty", "frequency_penalty", "stop"),
    "schema_drop": ("minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains"),
}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="grok-4.7",
        name="Grok 4.7",
        context_window=500_000,
        max_tokens=64_000,
        reasoning=True,
        input=("text", "image"),
        cost=(2.0, 6.0, 0.5, 0.0),
        compat={"levels": ("low", "medium", "high", "xhigh")},
    ),
    ProviderModel(
        id="grok-4.3",
        name="Grok 4.3",
        context_window=1_000_000,
        max_tokens=30_000,
        reasoning=True,
        input=("text", "image"),
        cost=(1.25, 2.5, 0.2, 0.0),
        compat={"supports_reasoning_effort": False},
    ),
    ProviderModel(
        id="grok-4-1-fast",
        name="Grok 4.1 Fast",
        context_window=2_000_000,
        max_tokens=30_000,
        reasoning=True,
        input=("text", "image"),
        cost=(0.2, 0.5, 0.05, 0.0),
        compat={"supports_reasoning_effort": False},
    ),
)
"""Limits in tokens, US dollars per million tokens below 200,000 tokens of prompt (double above), from xAI's pages (2026)."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="xai",
            summary="Grok models of xAI",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="https://api.x.ai/v1",
            env_keys=("XAI_API_KEY",),
            models=MODELS,
            default_model="grok-4.7",
            compat=COMPAT,
        )
    ]

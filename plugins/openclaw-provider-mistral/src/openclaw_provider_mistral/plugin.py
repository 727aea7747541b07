"""Tells the core about Mistral."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {
    "tool_id": "alnum9",
    "requires_tool_result_name": True,
    "requires_assistant_after_tool_result": True,
    "supports_usage_in_streaming": False,
}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="mistral-medium-3.5",
        name="Mistral Medium 3.5",
        context_window=262_144,
        max_tokens=65_536,
        reasoning=True,
        input=("text", "image"),
        cost=(1.5, 7.5, 0.0, 0.0),
        compat={"levels": ("high",), "reasoning_off": "none"},
    ),
    ProviderModel(
        id="mistral-large-2512",
        name="Mistral Large 3",
        context_window=262_144,
        max_tokens=65_536,
        input=("text", "image"),
        cost=(0.5, 1.5, 0.0, 0.0),
    ),
    ProviderModel(
        id="mistral-small-latest",
        name="Mistral Small",
        context_window=128_000,
        max_tokens=16_384,
        input=("text", "image"),
        cost=(0.1, 0.3, 0.0, 0.0),
    ),
    ProviderModel(
        id="codestral-2508",
        name="Codestral",
        context_window=256_000,
        max_tokens=16_384,
        cost=(0.3, 0.9, 0.0, 0.0),
    ),
)
"""Limits in tokens, US dollars per million tokens, from Mistral's model pages (2026)."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="mistral",
            summary="Mistral models",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="https://api.mistral.ai/v1",
            env_keys=("MISTRAL_API_KEY",),
            models=MODELS,
            default_model="mistral-medium-3.5",
            compat=COMPAT,
        )
    ]

"""Tells the core about Azure OpenAI."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {
    "path": "/openai/deployments/{model}/chat/completions",
    "query": {"api-version": "2024-10-21"},
    "key_header": "api-key",
    "max_tokens_field": "max_completion_tokens",
}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="gpt-4.1",
        name="GPT-4.1",
        context_window=1_047_576,
        max_tokens=32_768,
        input=("text", "image"),
        cost=(2.0, 8.0, 0.5, 0.0),
    ),
    ProviderModel(
        id="gpt-4.1-mini",
        name="GPT-4.1 mini",
        context_window=1_047_576,
        max_tokens=32_768,
        input=("text", "image"),
        cost=(0.4, 1.6, 0.1, 0.0),
    ),
    ProviderModel(
        id="gpt-4o",
        name="GPT-4o",
        context_window=128_000,
        max_tokens=16_384,
        input=("text", "image"),
        cost=(2.5, 10.0, 1.25, 0.0),
    ),
    ProviderModel(
        id="gpt-5",
        name="GPT-5",
        context_window=400_000,
        max_tokens=64_000,
        reasoning=True,
        input=("text", "image"),
        cost=(1.25, 10.0, 0.125, 0.0),
    ),
    ProviderModel(
        id="o4-mini",
        name="o4-mini",
        context_window=200_000,
        max_tokens=64_000,
        reasoning=True,
        input=("text", "image"),
        cost=(1.1, 4.4, 0.275, 0.0),
    ),
)
"""Limits in tokens, US dollars per million tokens of global deployments. The id is the name of the deployment."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="azure-openai",
            summary="OpenAI models deployed on Azure",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            env_base_urls=("AZURE_OPENAI_ENDPOINT",),
            env_keys=("AZURE_OPENAI_API_KEY",),
            models=MODELS,
            default_model="gpt-4.1",
            compat=COMPAT,
        )
    ]

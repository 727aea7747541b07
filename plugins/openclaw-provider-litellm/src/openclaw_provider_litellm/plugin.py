"""Tells the core about LiteLLM."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {"by_model": {"*claude*": {"cache_control": "anthropic"}}}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="gpt-5.4",
        name="GPT-5.4",
        context_window=1_050_000,
        max_tokens=64_000,
        reasoning=True,
        input=("text", "image"),
        compat={"supports_reasoning_effort": False},
    ),
    ProviderModel(
        id="claude-sonnet-5",
        name="Claude Sonnet 5",
        context_window=1_000_000,
        max_tokens=64_000,
        reasoning=True,
        input=("text", "image"),
        compat={"supports_reasoning_effort": False},
    ),
    ProviderModel(
        id="gpt-4o",
        name="GPT-4o",
        context_window=128_000,
        max_tokens=16_384,
        input=("text", "image"),
    ),
)
"""Examples: the names are those of the proxy's `model_list`. Prices are the proxy's business."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="litellm",
            summary="Models behind a LiteLLM proxy",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="http://127.0.0.1:4000/v1",
            env_base_urls=("LITELLM_PROXY_API_BASE",),
            env_keys=(
                "LITELLM_PROXY_API_KEY",
                "LITELLM_API_KEY",
            ),
            needs_key=False,
            local=True,
            models=MODELS,
            default_model="gpt-5.4",
            compat=COMPAT,
        )
    ]

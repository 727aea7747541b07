"""Tells the core about Cerebras."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {
    "max_tokens_field": "max_completion_tokens",
    "tool_choice": "auto",
    "drop_params": ("frequency_penalty", "presence_penalty", "logit_bias", "parallel_tool_calls", "service_tier"),
}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="gpt-oss-120b",
        name="GPT OSS 120B",
        context_window=131_072,
        max_tokens=32_768,
        reasoning=True,
    ),
    ProviderModel(
        id="qwen-3.8-27b",
        name="Qwen3.8 27B",
        context_window=65_536,
        max_tokens=16_384,
        reasoning=True,
        input=("text", "image"),
        cost=(0.99, 1.49, 0.0, 0.0),
        compat={"levels": ("low", "medium", "high"), "reasoning_off": "none"},
    ),
    ProviderModel(
        id="zai-glm-4.7",
        name="GLM-4.7",
        context_window=131_072,
        max_tokens=32_768,
    ),
)
"""Limits in tokens, US dollars per million tokens, from Cerebras' public model list (2026). Prices of 0 are unknown here."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="cerebras",
            summary="Fast inference of open models on Cerebras",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="https://api.cerebras.ai/v1",
            env_keys=("CEREBRAS_API_KEY",),
            models=MODELS,
            default_model="gpt-oss-120b",
            compat=COMPAT,
        )
    ]

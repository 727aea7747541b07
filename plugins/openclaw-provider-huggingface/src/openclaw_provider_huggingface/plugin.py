"""Tells the core about Hugging Face."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {"think_tags": True}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="openai/gpt-oss-120b",
        name="GPT OSS 120B",
        context_window=131_072,
        max_tokens=32_768,
        reasoning=True,
        cost=(0.25, 0.69, 0.0, 0.0),
    ),
    ProviderModel(
        id="zai-org/GLM-5.3",
        name="GLM-5.3",
        context_window=1_000_000,
        max_tokens=64_000,
        reasoning=True,
        cost=(1.4, 4.4, 0.0, 0.0),
        compat={"levels": ("low", "high", "max"), "always_thinks": True},
    ),
    ProviderModel(
        id="moonshotai/Kimi-K3",
        name="Kimi K3",
        context_window=1_000_000,
        max_tokens=64_000,
        reasoning=True,
        input=("text", "image"),
        cost=(3.0, 15.0, 0.0, 0.0),
        compat={"tool_id": "open", "reasoning_back": "all"},
    ),
)
"""Limits in tokens, US dollars per million tokens of the usual route (2026); another route may cost something else."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="huggingface",
            summary="Open models through Hugging Face Inference Providers",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="https://router.huggingface.co/v1",
            env_keys=(
                "HF_TOKEN",
                "HUGGINGFACE_HUB_TOKEN",
            ),
            models=MODELS,
            default_model="openai/gpt-oss-120b",
            priority=90,
            compat=COMPAT,
        )
    ]

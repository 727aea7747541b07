"""Tells the core about NVIDIA."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {
    "supports_usage_in_streaming": False,
    "thinking_format": "qwen-chat-template",
    "think_tags": True,
    "by_model": {"mistralai/*": {"tool_id": "alnum9", "requires_assistant_after_tool_result": True}},
}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="nvidia/nemotron-3-super-120b-a12b",
        name="Nemotron 3 Super",
        context_window=262_144,
        max_tokens=32_768,
        reasoning=True,
    ),
    ProviderModel(
        id="nvidia/nemotron-3-ultra-550b-a55b",
        name="Nemotron 3 Ultra",
        context_window=1_000_000,
        max_tokens=65_536,
        reasoning=True,
    ),
    ProviderModel(
        id="moonshotai/kimi-k3",
        name="Kimi K3",
        context_window=1_048_576,
        max_tokens=65_536,
        reasoning=True,
        input=("text", "image"),
        compat={"tool_id": "open", "reasoning_back": "all"},
    ),
)
"""Limits in tokens. The hosted models are free within the account's credits; prices are not listed."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="nvidia",
            summary="Models on NVIDIA NIM",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="https://integrate.api.nvidia.com/v1",
            env_keys=("NVIDIA_API_KEY",),
            models=MODELS,
            default_model="nvidia/nemotron-3-super-120b-a12b",
            priority=70,
            compat=COMPAT,
        )
    ]

"""Tells the core about Moonshot AI."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {
    "thinking_format": "deepseek",
    "reasoning_back": "all",
    "tool_id": "open",
    "tool_choice": "auto",
    "drop_params": ("temperature", "top_p", "presence_penalty", "frequency_penalty"),
    "schema_inline": True,
    "schema_plain_types": True,
    "schema_typed": True,
    "schema_drop": ("if", "then", "else", "not", "patternProperties"),
}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="kimi-k3",
        name="Kimi K3",
        context_window=1_048_576,
        max_tokens=131_072,
        reasoning=True,
        input=("text", "image"),
        cost=(3.0, 15.0, 0.3, 0.0),
    ),
    ProviderModel(
        id="kimi-k2.6",
        name="Kimi K2.6",
        context_window=262_144,
        max_tokens=65_536,
        reasoning=True,
        input=("text", "image"),
        cost=(0.95, 4.0, 0.16, 0.0),
    ),
    ProviderModel(
        id="kimi-k2.5",
        name="Kimi K2.5",
        context_window=262_144,
        max_tokens=32_768,
        reasoning=True,
        input=("text", "image"),
        cost=(0.6, 3.0, 0.1, 0.0),
    ),
)
"""Limits in tokens, US dollars per million tokens, from Moonshot's price pages (2026)."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="moonshot",
            summary="Kimi models of Moonshot AI",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="https://api.moonshot.ai/v1",
            env_keys=("MOONSHOT_API_KEY",),
            models=MODELS,
            default_model="kimi-k3",
            compat=COMPAT,
        )
    ]

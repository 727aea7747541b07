"""Tells the core about Anthropic."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

MODELS = (
    ProviderModel(
        id="claude-opus-4-7",
        name="Claude Opus 4.7",
        context_window=1_000_000,
        max_tokens=128_000,
        reasoning=True,
        input=("text", "image"),
        cost=(5.0, 25.0, 0.5, 6.25),
        compat={"thinking": "adaptive", "efforts": ("low", "medium", "high", "xhigh", "max")},
    ),
    ProviderModel(
        id="claude-sonnet-4-6",
        name="Claude Sonnet 4.6",
        context_window=1_000_000,
        max_tokens=64_000,
        reasoning=True,
        input=("text", "image"),
        cost=(3.0, 15.0, 0.3, 3.75),
        compat={"thinking": "adaptive", "efforts": ("low", "medium", "high")},
    ),
    ProviderModel(
        id="claude-haiku-4-5",
        name="Claude Haiku 4.5",
        context_window=200_000,
        max_tokens=64_000,
        reasoning=True,
        input=("text", "image"),
        cost=(1.0, 5.0, 0.1, 1.25),
        compat={"thinking": "budget"},
    ),
)
"""Limits in tokens, US dollars per million tokens, from Anthropic's models overview (April 2026). Any other
model can be named in ``models.providers.anthropic.models``."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider; it also serves entries of other names whose `api` is ``anthropic-messages``."""
    return [
        ProviderSpec(
            id="anthropic",
            summary="Anthropic, and any server that speaks the Messages API",
            factory="openclaw_provider_anthropic.provider:create",
            wire_apis=("anthropic-messages",),
            default_api="anthropic-messages",
            base_url="https://api.anthropic.com",
            env_keys=("ANTHROPIC_API_KEY",),
            models=MODELS,
            default_model="claude-opus-4-7",
            priority=10,
        )
    ]

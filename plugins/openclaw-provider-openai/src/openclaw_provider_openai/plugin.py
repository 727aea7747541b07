"""Tells the core about OpenAI and about every server that speaks its wire formats."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

_EFFORTS = ("low", "medium", "high", "xhigh")
_NO_THINKING = {"reasoning_off": "none", "efforts": _EFFORTS}

MODELS = (
    ProviderModel(
        id="gpt-5.5",
        name="GPT-5.5",
        context_window=1_050_000,
        max_tokens=128_000,
        reasoning=True,
        input=("text", "image"),
        cost=(5.0, 30.0, 0.5, 0.0),
        compat=_NO_THINKING,
    ),
    ProviderModel(
        id="gpt-5.4",
        name="GPT-5.4",
        context_window=1_050_000,
        max_tokens=128_000,
        reasoning=True,
        input=("text", "image"),
        cost=(2.5, 15.0, 0.25, 0.0),
        compat=_NO_THINKING,
    ),
    ProviderModel(
        id="gpt-5.4-mini",
        name="GPT-5.4 mini",
        context_window=400_000,
        max_tokens=128_000,
        reasoning=True,
        input=("text", "image"),
        cost=(0.75, 4.5, 0.075, 0.0),
        compat=_NO_THINKING,
    ),
    ProviderModel(
        id="gpt-5",
        name="GPT-5",
        context_window=400_000,
        max_tokens=128_000,
        reasoning=True,
        input=("text", "image"),
        cost=(1.25, 10.0, 0.125, 0.0),
        compat={"reasoning_off": "minimal", "efforts": ("minimal", "low", "medium", "high")},
    ),
    ProviderModel(
        id="gpt-4.1",
        name="GPT-4.1",
        context_window=1_047_576,
        max_tokens=32_768,
        input=("text", "image"),
        cost=(2.0, 8.0, 0.5, 0.0),
    ),
    ProviderModel(
        id="gpt-4o",
        name="GPT-4o",
        context_window=128_000,
        max_tokens=16_384,
        input=("text", "image"),
        cost=(2.5, 10.0, 1.25, 0.0),
    ),
)
"""Limits in tokens, US dollars per million tokens, from OpenAI's model and price pages (2026). Any other
model can be named in ``models.providers.openai.models``."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider; it also serves entries of other names whose `api` is one of its wire formats."""
    return [
        ProviderSpec(
            id="openai",
            summary="OpenAI, and any server that speaks Chat Completions or Responses",
            factory="openclaw_provider_openai.provider:create",
            wire_apis=("openai-completions", "openai-responses"),
            default_api="openai-completions",
            base_url="https://api.openai.com/v1",
            env_keys=("OPENAI_API_KEY",),
            models=MODELS,
            default_model="gpt-5.4",
            priority=20,
        )
    ]

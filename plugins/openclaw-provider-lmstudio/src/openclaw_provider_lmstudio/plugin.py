"""Tells the core about LM Studio."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {"think_tags": True, "schema_inline": True, "schema_plain_types": True}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="openai/gpt-oss-20b",
        name="GPT OSS 20B",
        context_window=32_768,
        max_tokens=8_192,
        reasoning=True,
    ),
    ProviderModel(
        id="qwen/qwen3-8b",
        name="Qwen3 8B",
        context_window=32_768,
        max_tokens=8_192,
    ),
    ProviderModel(
        id="mistralai/mistral-small-3.2",
        name="Mistral Small 3.2",
        context_window=32_768,
        max_tokens=8_192,
        input=("text", "image"),
    ),
)
"""Common models. The window is what the model was loaded with; the loader's default is smaller."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="lmstudio",
            summary="Models on an LM Studio server",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="http://127.0.0.1:1234/v1",
            env_base_urls=("LM_STUDIO_API_BASE",),
            env_keys=(
                "LM_API_TOKEN",
                "LM_STUDIO_API_KEY",
            ),
            needs_key=False,
            local=True,
            models=MODELS,
            default_model="openai/gpt-oss-20b",
            compat=COMPAT,
        )
    ]

"""Tells the core about Ollama."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {"think_tags": True}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="gpt-oss:20b",
        name="GPT OSS 20B",
        context_window=32_768,
        max_tokens=8_192,
        reasoning=True,
    ),
    ProviderModel(
        id="qwen3:8b",
        name="Qwen3 8B",
        context_window=32_768,
        max_tokens=8_192,
        reasoning=True,
        compat={"reasoning_off": "none"},
    ),
    ProviderModel(
        id="mistral-small3.2:24b",
        name="Mistral Small 3.2",
        context_window=32_768,
        max_tokens=8_192,
        input=("text", "image"),
    ),
    ProviderModel(
        id="llama3.2:3b",
        name="Llama 3.2 3B",
        context_window=32_768,
        max_tokens=4_096,
    ),
)
"""Common models. The windows are what a server gives that was started with OLLAMA_CONTEXT_LENGTH=32768."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="ollama",
            summary="Models on an Ollama server",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="http://127.0.0.1:11434/v1",
            env_base_urls=("OLLAMA_HOST",),
            env_keys=("OLLAMA_API_KEY",),
            needs_key=False,
            local=True,
            models=MODELS,
            default_model="gpt-oss:20b",
            compat=COMPAT,
        )
    ]

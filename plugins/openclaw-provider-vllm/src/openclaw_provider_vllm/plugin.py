"""Tells the core about vLLM."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl

COMPAT = {
    "think_tags": True,
    "thinking_format": "qwen-chat-template",
    "by_model": {
        "*mistral*": {"tool_id": "alnum9", "requires_assistant_after_tool_result": True},
        "*kimi*": {"tool_id": "open"},
    },
}
"""The quirks; README.md says why."""

MODELS = (
    ProviderModel(
        id="openai/gpt-oss-20b",
        name="GPT OSS 20B",
        context_window=131_072,
        max_tokens=16_384,
        reasoning=True,
        compat={"thinking_format": "openai"},
    ),
    ProviderModel(
        id="Qwen/Qwen3-32B",
        name="Qwen3 32B",
        context_window=40_960,
        max_tokens=8_192,
        reasoning=True,
    ),
    ProviderModel(
        id="mistralai/Mistral-Small-3.2-24B-Instruct-2506",
        name="Mistral Small 3.2",
        context_window=131_072,
        max_tokens=16_384,
        input=("text", "image"),
    ),
)
"""Examples: the server's own list is what it was started with."""


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, in the format of Chat Completions."""
    return [
        ProviderSpec(
            id="vllm",
            summary="Models on a vLLM server",
            factory="openclaw_lib_openai.provider:OpenAIWireProvider",
            default_api="openai-completions",
            base_url="http://127.0.0.1:8000/v1",
            env_base_urls=("VLLM_BASE_URL",),
            env_keys=("VLLM_API_KEY",),
            needs_key=False,
            local=True,
            models=MODELS,
            default_model="openai/gpt-oss-20b",
            compat=COMPAT,
        )
    ]

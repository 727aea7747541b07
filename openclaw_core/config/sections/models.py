"""``models``: providers and their catalogues (behaviour.md 7.1)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from openclaw_core.config.secret import Secret
from openclaw_core.config.sections.base import Section, nested_default

Api = Literal[
    "openai-completions",
    "openai-responses",
    "openai-codex-responses",
    "anthropic-messages",
    "google-generative-ai",
    "github-copilot",
    "bedrock-converse-stream",
    "ollama",
]


class Cost(Section):
    """US dollars per million tokens."""

    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0


class ConfiguredModel(Section):
    """A model of a provider. Token numbers that are left out come from the provider entry, then from the
    defaults of behaviour.md 7.1 (200000 and 8192)."""

    id: str = Field(min_length=1)
    name: str = ""
    api: Api | None = None
    reasoning: bool = False
    input: list[str] = Field(default_factory=lambda: ["text"])
    cost: Cost = nested_default()
    context_window: int | None = Field(default=None, ge=1)
    context_tokens: int | None = Field(default=None, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    compat: dict[str, Any] = Field(default_factory=dict)
    params: dict[str, Any] = Field(default_factory=dict)
    headers: dict[str, Secret] = Field(default_factory=dict)


class RequestOptions(Section):
    """How requests of a provider are sent."""

    headers: dict[str, Secret] = Field(default_factory=dict)
    auth: dict[str, Any] = Field(default_factory=dict)
    proxy: dict[str, Any] | str | None = None
    tls: dict[str, Any] = Field(default_factory=dict)
    allow_private_network: bool | None = None


class ProviderEntry(Section):
    """``models.providers.<id>``."""

    base_url: str = ""
    api_key: Secret | None = None
    api: Api | None = None
    auth: Literal["api-key", "oauth", "token", "aws-sdk"] | None = None
    auth_header: bool | str | None = None
    headers: dict[str, Secret] = Field(default_factory=dict)
    timeout_seconds: float | None = Field(default=None, gt=0)
    context_window: int | None = Field(default=None, ge=1)
    context_tokens: int | None = Field(default=None, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    request: RequestOptions = nested_default()
    models: list[ConfiguredModel] = Field(default_factory=list)
    params: dict[str, Any] = Field(default_factory=dict)
    compat: dict[str, Any] = Field(default_factory=dict)
    enabled: bool = True


class ModelsSection(Section):
    """``models``. `merge` keeps the catalogues of installed providers, `replace` drops them."""

    mode: Literal["merge", "replace"] = "merge"
    providers: dict[str, ProviderEntry] = Field(default_factory=dict)

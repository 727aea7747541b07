"""Builds the provider when it is first needed."""

from __future__ import annotations

from openclaw_lib_openai.provider import OpenAIWireProvider

from openclaw_core.sdk import ModelCost, ModelInfo, Provider, ProviderEnv
from openclaw_provider_openai.plugin import MODELS

_OPENAI = "openai"


def create(env: ProviderEnv) -> Provider:
    """The factory that the spec names. Only an entry called ``openai`` knows the catalogue; what other
    servers offer is in the configuration."""
    return OpenAIWireProvider(env, _catalogue() if env.provider_id == _OPENAI else ())


def _catalogue() -> tuple[ModelInfo, ...]:
    return tuple(
        ModelInfo(
            provider=_OPENAI,
            id=m.id,
            name=m.name,
            api=m.api,
            context_window=m.context_window,
            max_tokens=m.max_tokens,
            reasoning=m.reasoning,
            input=m.input,
            cost=ModelCost(input=m.cost[0], output=m.cost[1], cache_read=m.cost[2], cache_write=m.cost[3]),
            compat=m.compat,
        )
        for m in MODELS
    )

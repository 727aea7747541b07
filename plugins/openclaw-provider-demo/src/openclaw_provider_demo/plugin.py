"""Tells the core about the demonstration provider."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ProviderModel, ProviderSpec, hookimpl


@hookimpl
def openclaw_providers() -> Iterable[ProviderSpec]:
    """One provider, chosen only while no real one is configured."""
    return [
        ProviderSpec(
            id="demo",
            summary="A demonstration without a model, a key or the network",
            factory="openclaw_provider_demo.provider:create",
            wire_apis=("demo",),
            default_api="demo",
            needs_key=False,
            models=(ProviderModel(id="demo", name="Demonstration", context_window=200_000, max_tokens=8192),),
            default_model="demo",
            fallback=True,
        )
    ]

"""Tests over every provider plugin, and a registry that reaches them."""

from __future__ import annotations

from typing import Any

import pytest
from shipped import ALL, WIRE

from openclaw_core.config.model import Config
from openclaw_core.models.registry import ModelRegistry
from openclaw_core.plugins.resolve import resolve
from openclaw_core.testing.fakes.http import TestHttp


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`plugin` runs over every provider, `wire` over those that share the format."""
    for name, found in (("plugin", ALL), ("wire", WIRE)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, found, ids=[s.id for s in found])


@pytest.fixture
async def registry() -> Any:
    """Makes registries over all provider plugins; `providers` is ``models.providers``."""
    http = TestHttp()

    def make(providers: dict[str, Any] | None = None, environ: dict[str, str] | None = None) -> ModelRegistry:
        return ModelRegistry(
            Config.model_validate({"models": {"providers": providers or {}}}, context={"environ": environ or {}}),
            [(s.id, s.spec) for s in ALL],
            resolve=lambda plugin_id, text: resolve(text, plugin_id=plugin_id),
            http=http,
            environ=environ or {},
        )

    yield make
    await http.aclose()

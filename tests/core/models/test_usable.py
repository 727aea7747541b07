"""Which provider is usable, where its requests go, and which model is taken when none is named."""

from __future__ import annotations

from typing import Any

import pytest

from openclaw_core.config.model import Config
from openclaw_core.contracts.provider import ProviderEnv
from openclaw_core.models.registry import ModelRegistry
from openclaw_core.plugin import ProviderModel, ProviderSpec
from openclaw_core.testing.fakes.http import TestHttp


def spec(ident: str, **fields: Any) -> ProviderSpec:
    return ProviderSpec(
        id=ident, summary=ident, factory="x:y", models=(ProviderModel(id="m"),), default_model="m", **fields
    )


SPECS = (
    spec("azure", env_keys=("AZURE_KEY",), env_base_urls=("AZURE_URL",)),
    spec(
        "box",
        needs_key=False,
        local=True,
        base_url="http://127.0.0.1:9/v1",
        env_base_urls=("BOX_URL",),
        env_keys=("BOX_KEY",),
    ),
    spec("cloud", base_url="https://cloud.test/v1", env_keys=("CLOUD_KEY",)),
    spec("demo", needs_key=False, fallback=True),
    spec("first", base_url="https://first.test/v1", env_keys=("FIRST_KEY",), priority=10),
)


@pytest.fixture
async def http() -> Any:
    clients = TestHttp()
    yield clients
    await clients.aclose()


def make(http: TestHttp, environ: dict[str, str] | None = None, **providers: Any) -> ModelRegistry:
    config = Config.model_validate({"models": {"providers": providers}}, context={"environ": environ or {}})
    return ModelRegistry(
        config,
        [(s.id, s) for s in SPECS],
        resolve=lambda _plugin, _text: lambda env: env,
        http=http,
        environ=environ or {},
    )


def unusable(registry: ModelRegistry) -> dict[str, str]:
    return {ident: reason for ident, _, _, reason in registry.providers() if reason}


def test_nothing_is_set(http: TestHttp) -> None:
    registry = make(http)
    assert unusable(registry) == {
        "azure": "no address (AZURE_URL or baseUrl)",
        "box": "not configured (models.providers.box or BOX_URL)",
        "cloud": "no API key (CLOUD_KEY)",
        "first": "no API key (FIRST_KEY)",
    }
    assert registry.default_ref() == "demo/m"
    assert [r.model.ref for r in registry.rows() if r.available] == ["demo/m"]


@pytest.mark.parametrize(
    ("environ", "providers", "default"),
    [
        ({"BOX_URL": "0.0.0.0"}, {}, "box/m"),
        ({"BOX_URL": "127.0.0.1:9"}, {}, "box/m"),
        ({"BOX_KEY": "k"}, {}, "box/m"),
        ({}, {"box": {}}, "box/m"),
        ({}, {"box": {"enabled": False}}, "demo/m"),
        ({"BOX_KEY": "k", "CLOUD_KEY": "k"}, {}, "cloud/m"),
        ({"CLOUD_KEY": "k", "FIRST_KEY": "k"}, {}, "first/m"),
        ({"CLOUD_KEY": "k"}, {"box": {"models": [{"id": "mine"}]}}, "box/mine"),
        ({"AZURE_KEY": "k"}, {}, "demo/m"),
        ({"AZURE_KEY": "k", "AZURE_URL": "https://r.test"}, {}, "azure/m"),
    ],
)
def test_the_model_when_none_is_named(
    http: TestHttp, environ: dict[str, str], providers: dict[str, Any], default: str
) -> None:
    assert make(http, environ, **providers).default_ref() == default


async def env_of(registry: ModelRegistry, ref: str) -> ProviderEnv:
    env: Any = await registry.provider(registry.resolve(ref))
    return env


async def test_addresses_and_keys(http: TestHttp) -> None:
    environ = {"BOX_URL": "10.0.0.2", "BOX_KEY": "kk-box", "CLOUD_KEY": "kk-cloud", "AZURE_KEY": "kk-az"}
    box = await env_of(make(http, environ), "box/m")
    assert (box.base_url, box.api_key) == ("http://10.0.0.2:9/v1", "kk-box")
    own = await env_of(make(http, environ, box={"baseUrl": "http://other:1/v1"}), "box/m")
    assert (own.base_url, own.api_key) == ("http://other:1/v1", "kk-box"), "the owner's server, the owner's key"
    azure = await env_of(make(http, environ, azure={"baseUrl": "https://r.test"}), "azure/m")
    assert (azure.base_url, azure.api_key) == ("https://r.test", "kk-az")
    away = await env_of(make(http, environ, cloud={"baseUrl": "https://elsewhere.test/v1"}), "cloud/m")
    assert away.api_key == "", "a vendor's key goes to the vendor only"

"""Which model a turn uses, and why a provider cannot be used."""

from __future__ import annotations

from typing import Any

import pytest

from openclaw_core.config.model import Config
from openclaw_core.errors import PluginNotFound, ProviderError
from openclaw_core.models.registry import ModelRegistry
from openclaw_core.plugin import ProviderModel, ProviderSpec
from openclaw_core.testing.fakes.http import TestHttp

VENDOR = ProviderSpec(
    id="vendor",
    summary="",
    factory="x:y",
    default_api="vendor-api",
    wire_apis=("vendor-api",),
    base_url="https://api.vendor.example",
    env_keys=("VENDOR_API_KEY",),
    models=(ProviderModel(id="big", context_window=1000), ProviderModel(id="small")),
    default_model="big",
)
WIRE = ProviderSpec(id="wire", summary="", factory="x:y", wire_apis=("openai-completions",), env_keys=("WIRE_KEY",))
DEMO = ProviderSpec(
    id="demo", summary="", factory="x:y", needs_key=False, fallback=True, models=(ProviderModel(id="demo"),)
)


class Made:
    """What a factory gives."""

    def __init__(self, env: Any) -> None:
        self.env = env

    async def aclose(self) -> None:
        self.env = None


def registry(config: dict[str, Any] | None = None, **environ: str) -> ModelRegistry:
    return ModelRegistry(
        Config.model_validate(config or {}),
        [("p-vendor", VENDOR), ("p-wire", WIRE), ("p-demo", DEMO)],
        resolve=lambda _plugin, _text: Made,
        http=TestHttp(),
        environ=environ,
    )


def served(name: str = "mine", **entry: Any) -> dict[str, Any]:
    return {"models": {"providers": {name: {"baseUrl": "http://127.0.0.1:1/v1", "models": [{"id": "m"}], **entry}}}}


def test_the_order_of_choice() -> None:
    assert registry().default_ref() == "demo/demo"
    assert registry(VENDOR_API_KEY="k" * 20).default_ref() == "vendor/big"
    assert registry(served(), VENDOR_API_KEY="k" * 20).default_ref() == "mine/m"
    chosen = {**served(), "agents": {"defaults": {"model": "vendor/small"}}}
    assert registry(chosen).default_ref() == "vendor/small"


def test_why_a_provider_cannot_be_used() -> None:
    reasons = {ident: reason for ident, _, _, reason in registry(served("off", enabled=False)).providers()}
    assert reasons["vendor"] == "no API key (VENDOR_API_KEY)"
    assert reasons["off"] == "switched off in the configuration"
    assert reasons["demo"] == ""
    unknown = registry(served("odd", api="bedrock-converse-stream"))
    assert {i: r for i, _, _, r in unknown.providers()}["odd"] == "no plugin serves it"


async def test_a_key_of_the_environment_goes_to_the_vendor_only() -> None:
    elsewhere = {"models": {"providers": {"vendor": {"baseUrl": "http://evil.example", "models": [{"id": "big"}]}}}}
    made: Any = await registry(elsewhere, VENDOR_API_KEY="k" * 20).provider(registry(elsewhere).resolve("vendor/big"))
    assert made.env.api_key == ""
    made = await registry(VENDOR_API_KEY="k" * 20).provider(registry().resolve("vendor/big"))
    assert (made.env.api_key, made.env.base_url) == ("k" * 20, "https://api.vendor.example")


def test_names() -> None:
    config = {**served(), "agents": {"defaults": {"models": {"vendor/big": {"alias": "Best"}}}}}
    models = registry(config, VENDOR_API_KEY="k" * 20)
    assert models.resolve("best").ref == "vendor/big"
    assert models.resolve(" vendor/big ").context_window == 1000
    assert models.resolve("small").ref == "vendor/small"
    assert models.resolve("mine/unlisted").ref == "mine/unlisted"
    for wrong in ("", "nothing", "no/such", "vendor/"):
        with pytest.raises(ProviderError) as caught:
            models.resolve(wrong)
        assert caught.value.code == "model_not_found"


def test_a_chain_has_no_doubles_and_only_its_first_must_exist() -> None:
    models = registry(served(), VENDOR_API_KEY="k" * 20)
    refs = ["mine/m", "no/such", "vendor/big", "mine/m", "big"]
    assert [m.ref for m in models.chain(refs)] == ["mine/m", "vendor/big"]
    with pytest.raises(ProviderError):
        models.chain(["no/such", "vendor/big"])


async def test_provider_objects_are_made_once_and_closed() -> None:
    models = registry(served())
    model = models.resolve("mine/m")
    first: Any = await models.provider(model)
    assert await models.provider(model) is first
    assert first.env.api == "openai-completions"
    await models.aclose()
    assert first.env is None
    with pytest.raises(ProviderError, match="no API key"):
        await models.provider(models.resolve("vendor/big"))
    odd = registry(served("odd", api="bedrock-converse-stream"))
    model = next(row.model for row in odd.rows() if row.model.provider == "odd")
    with pytest.raises(PluginNotFound):
        await odd.provider(model)


def test_rows_show_usable_ones_first() -> None:
    rows = [row.as_dict() for row in registry(served()).rows()]
    assert [r["available"] for r in rows] == sorted((r["available"] for r in rows), reverse=True)
    assert next(r for r in rows if r["key"] == "mine/m")["tags"] == ["default"]

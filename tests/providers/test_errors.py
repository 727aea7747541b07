"""Refusals in each vendor's words lead to the right kind, and never show the key."""

from __future__ import annotations

from typing import Any

import pytest
from shipped import WIRE
from vendor_errors import ERRORS

from openclaw_core.sdk import ErrorKind, ModelRequest, ProviderError
from openclaw_core.testing.contracts.provider import collect
from openclaw_core.testing.fakes.wire import WireReply, WireServer

KEY = "Zq9secret0123456789"


def test_every_vendor_has_cases() -> None:
    assert {provider for provider, *_ in ERRORS} == {w.id for w in WIRE}


@pytest.mark.parametrize(
    ("provider_id", "status", "body", "kind"), ERRORS, ids=[f"{p}-{s}-{n}" for n, (p, s, _, _) in enumerate(ERRORS)]
)
async def test_the_kind(registry: Any, provider_id: str, status: int, body: Any, kind: ErrorKind) -> None:
    async with WireServer(WireReply.refusal(status, body)) as server:
        models = registry({provider_id: {"baseUrl": f"{server.base}/v1", "apiKey": KEY}})
        model = models.resolve(f"{provider_id}/any")
        provider = await models.provider(model)
        with pytest.raises(ProviderError) as caught:
            await collect(provider.stream(ModelRequest(model=model, system="", messages=())))
        assert caught.value.kind is kind, caught.value.message
        assert KEY not in caught.value.message
        assert len(server.requests) == 1, "a refusal is not asked again here"
        await models.aclose()

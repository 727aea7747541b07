"""Each vendor's observed way of streaming gives the same message, and the loop goes on in its dialect."""

from __future__ import annotations

import json
from typing import Any

import pytest
import vendor_rules
import vendor_streams
from shipped import Shipped

from openclaw_core.sdk import (
    ErrorKind,
    ModelRequest,
    ProviderError,
    StopReason,
    TextBlock,
    TextDelta,
    ThinkingBlock,
    ThinkingDelta,
    ToolResultMessage,
    ToolSchema,
    UserMessage,
)
from openclaw_core.testing.contracts.provider import collect
from openclaw_core.testing.fakes.wire import WireReply, WireServer

TOOL = ToolSchema(
    name="read", description="d", parameters={"type": "object", "properties": {"path": {"type": "string"}}}
)
KEY = "Zq9secret0123456789"


def entry(server: WireServer) -> dict[str, Any]:
    return {"baseUrl": f"{server.base}/base", "apiKey": KEY}


def default_ref(wire: Shipped) -> str:
    if wire.id == "nvidia":
        return "nvidia/moonshotai/kimi-k3"
    return f"{wire.id}/{wire.spec.default_model}"


async def test_one_round_of_the_loop(wire: Shipped, registry: Any) -> None:
    async with WireServer(
        vendor_streams.reply(wire.id), WireReply.events(vendor_streams.chunk({"content": "ok"}, "stop"))
    ) as server:
        models = registry({wire.id: entry(server)})
        model = models.resolve(default_ref(wire))
        provider = await models.provider(model)
        asked = UserMessage(content=(TextBlock(text="compare them"),))
        first = ModelRequest(model=model, system="sys", messages=(asked,), tools=(TOOL,), thinking="high")
        events = await collect(provider.stream(first))
        message = events[-1].message

        assert message.text == vendor_streams.TEXT == "".join(e.text for e in events if isinstance(e, TextDelta))
        thought = "".join(b.thinking for b in message.content if isinstance(b, ThinkingBlock))
        assert thought == ("" if wire.id in vendor_streams.NO_THOUGHT else vendor_streams.THOUGHT)
        assert thought == "".join(e.text for e in events if isinstance(e, ThinkingDelta))
        assert [(c.name, c.arguments) for c in message.tool_calls] == vendor_streams.CALLS
        assert message.stop_reason is StopReason.TOOL_USE
        if wire.id not in vendor_streams.NO_USAGE:
            assert (message.usage.prompt, message.usage.output) == (100, 20)

        results = [
            ToolResultMessage(tool_call_id=c.id, tool_name=c.name, content=(TextBlock(text="text"),))
            for c in message.tool_calls
        ]
        again = ModelRequest(
            model=model, system="sys", messages=(asked, message, *results), tools=(TOOL,), thinking="high"
        )
        assert (await collect(provider.stream(again)))[-1].message.text == "ok"
        await models.aclose()

    rules = vendor_rules.RULES[wire.id]
    for sent in server.requests:
        assert f"/base{rules.path}" in sent.path or f"{rules.path}" in sent.path
        assert KEY in sent.headers[rules.key_header]
        assert ("authorization" in sent.headers) == (rules.key_header == "authorization")
        vendor_rules.check_body(vendor_rules.strict_json(sent.body), rules, provider=wire.id)
    ids = [c["id"] for c in server.requests[1].json["messages"][2]["tool_calls"]]
    assert ids == [c.id for c in message.tool_calls], "the vendor's own ids come back unchanged"


async def test_signed_reasoning_survives_the_round(registry: Any) -> None:
    async with WireServer(vendor_streams.reply("openrouter")) as server:
        models = registry({"openrouter": entry(server)})
        model = models.resolve("openrouter/anthropic/claude-sonnet-5")
        provider = await models.provider(model)
        request = ModelRequest(model=model, system="", messages=(), thinking="high")
        message = (await collect(provider.stream(request)))[-1].message
        results = [
            ToolResultMessage(tool_call_id=c.id, tool_name=c.name, content=(TextBlock(text="x"),))
            for c in message.tool_calls
        ]
        await collect(provider.stream(ModelRequest(model=model, system="", messages=(message, *results))))
        (details,) = server.requests[1].json["messages"][1]["reasoning_details"]
        assert (details["text"], details["signature"]) == (vendor_streams.THOUGHT, "SIG==")
        await models.aclose()


async def test_a_stream_that_is_cut_is_no_answer(wire: Shipped, registry: Any) -> None:
    lines = [f"data: {json.dumps(c)}\n\n".encode() for c in vendor_streams.STREAMS[wire.id][:4]]
    async with WireServer(WireReply(pieces=lines)) as server:
        models = registry({wire.id: entry(server)})
        model = models.resolve(default_ref(wire))
        provider = await models.provider(model)
        with pytest.raises(ProviderError) as caught:
            await collect(provider.stream(ModelRequest(model=model, system="", messages=())))
        assert caught.value.kind is ErrorKind.TIMEOUT
        await models.aclose()


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21"),
        ("/openai", "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21"),
        ("/openai/v1", "/openai/v1/chat/completions"),
    ],
)
async def test_addresses_of_azure(registry: Any, base: str, path: str) -> None:
    async with WireServer(WireReply.events(vendor_streams.chunk({"content": "ok"}, "stop"))) as server:
        models = registry(environ={"AZURE_OPENAI_API_KEY": KEY, "AZURE_OPENAI_ENDPOINT": f"{server.base}{base}/"})
        model = models.resolve("azure-openai/my-deployment")
        provider = await models.provider(model)
        await collect(provider.stream(ModelRequest(model=model, system="", messages=())))
        assert server.requests[0].path == path
        assert server.requests[0].headers["api-key"] == KEY
        await models.aclose()

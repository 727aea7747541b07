from __future__ import annotations

import httpx
import peers
import pytest
from openclaw_provider_openai.plugin import openclaw_providers
from openclaw_provider_openai.provider import create

from openclaw_core.sdk import (
    ErrorKind,
    ModelCost,
    ModelInfo,
    ModelRequest,
    ProviderEnv,
    ProviderError,
    TextBlock,
    ThinkingBlock,
    ToolResultMessage,
    ToolSchema,
    UserMessage,
)
from openclaw_core.testing.contracts.provider import ProviderContract, collect
from openclaw_core.testing.fakes.aimock import Aimock
from openclaw_core.testing.fakes.http import TestHttp

TOOL = ToolSchema(
    name="get_weather", description="d", parameters={"type": "object", "properties": {"city": {"type": "string"}}}
)
USAGE = {"prompt_tokens": 100, "completion_tokens": 5}
FIXTURES = [
    {
        "match": {"userMessage": "weather", "hasToolResult": False},
        "response": {
            "toolCalls": [
                {"id": "call_1", "name": "get_weather", "arguments": '{"city":"Paris"}'},
                {"id": "call_2", "name": "get_weather", "arguments": '{"city":"Lyon"}'},
            ]
        },
    },
    {"match": {"userMessage": "weather", "hasToolResult": True}, "response": {"content": "It is sunny in Paris."}},
    {"match": {"userMessage": "think"}, "response": {"content": "final", "reasoning": "step by step"}},
    {"match": {"userMessage": "hello"}, "response": {"content": "Hello there, 你好🙂é!", "usage": USAGE}},
    {
        "match": {"userMessage": "boom"},
        "response": {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429},
    },
]


def ask(text, **fields):
    model = ModelInfo(provider="mock", id="m", cost=ModelCost(input=1.0, output=2.0), reasoning=True)
    return ModelRequest(
        model=model, system="sys", messages=(UserMessage(content=(TextBlock(text=text),)),), tools=(TOOL,), **fields
    )


@pytest.fixture
async def aimock(tmp_path):
    command = peers.aimock()
    async with Aimock(command, FIXTURES, tmp_path) as server:
        yield server


@pytest.fixture
async def http():
    clients = TestHttp()
    yield clients
    await clients.aclose()


def provider_for(server, http, api):
    return create(ProviderEnv(provider_id="mock", base_url=f"{server.base}/v1", api=api, api_key="k-1234", http=http))


class _Contract(ProviderContract):
    __test__ = False
    plugin = "openclaw_provider_openai.plugin"
    api = ""

    @pytest.fixture
    async def provider(self, aimock, http):
        return provider_for(aimock, http, self.api)

    @pytest.fixture
    def text_request(self):
        return ask("hello")

    @pytest.fixture
    def tool_request(self):
        return ask("weather")


@pytest.mark.peer("aimock")
class TestChat(_Contract):
    __test__ = True
    api = "openai-completions"


@pytest.mark.peer("aimock")
class TestResponses(_Contract):
    __test__ = True
    api = "openai-responses"


@pytest.mark.peer("aimock")
@pytest.mark.parametrize("api", ["openai-completions", "openai-responses"])
async def test_a_whole_conversation(aimock, http, api):
    provider = provider_for(aimock, http, api)
    hello = (await collect(provider.stream(ask("hello"))))[-1].message
    assert hello.text == "Hello there, 你好🙂é!"
    assert (hello.usage.input, hello.usage.output) == (100, 5)
    assert hello.usage.cost == pytest.approx(110 / 1e6)

    first = ask("weather")
    called = (await collect(provider.stream(first)))[-1].message
    assert [(c.id, c.arguments) for c in called.tool_calls] == [
        ("call_1", {"city": "Paris"}),
        ("call_2", {"city": "Lyon"}),
    ]
    results = [
        ToolResultMessage(tool_call_id=c.id, tool_name=c.name, content=(TextBlock(text="sun"),))
        for c in called.tool_calls
    ]
    again = ModelRequest(model=first.model, system="", messages=(*first.messages, called, *results), tools=(TOOL,))
    assert (await collect(provider.stream(again)))[-1].message.text == "It is sunny in Paris."

    thought = (await collect(provider.stream(ask("think", thinking="low"))))[-1].message
    assert thought.content[0] == ThinkingBlock(thinking="step by step")
    assert thought.text == "final"

    with pytest.raises(ProviderError) as caught:
        await collect(provider.stream(ask("boom")))
    assert (caught.value.kind, caught.value.status) == (ErrorKind.RATE_LIMIT, 429)
    assert len(await aimock.journal()) == 5  # none was sent twice


async def test_only_openai_has_the_catalogue(http):
    def made(name):
        return create(ProviderEnv(provider_id=name, base_url="http://127.0.0.1:1", api="", api_key="", http=http))

    (spec,) = openclaw_providers()
    assert [m.id for m in await made("openai").models()] == [m.id for m in spec.models]
    assert await made("vllm").models() == ()


async def test_reasoning_models_of_openai_itself_use_responses():
    paths = []

    def refuse(request):
        paths.append(request.url.path)
        return httpx.Response(401)

    http = TestHttp(httpx.MockTransport(refuse))
    env = ProviderEnv(
        provider_id="openai", base_url="https://api.openai.com/v1", api="openai-completions", api_key="", http=http
    )
    for reasoning in (True, False):
        model = ModelInfo(provider="openai", id="m", reasoning=reasoning)
        with pytest.raises(ProviderError):
            await collect(create(env).stream(ModelRequest(model=model, system="", messages=())))
    await http.aclose()
    assert paths == ["/v1/responses", "/v1/chat/completions"]

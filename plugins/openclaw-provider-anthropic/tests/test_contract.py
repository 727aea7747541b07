from __future__ import annotations

import peers
import pytest
from openclaw_provider_anthropic.provider import create

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
CALLS = [
    {"id": "toolu_1", "name": "get_weather", "arguments": '{"city":"Paris"}'},
    {"id": "toolu_2", "name": "get_weather", "arguments": '{"city":"Lyon"}'},
]
FIXTURES = [
    {
        "match": {"userMessage": "weather", "hasToolResult": False},
        "response": {"toolCalls": CALLS, "reasoning": "where is it"},
    },
    {"match": {"userMessage": "weather", "hasToolResult": True}, "response": {"content": "It is sunny in Paris."}},
    {"match": {"userMessage": "think"}, "response": {"content": "final", "reasoning": "step by step"}},
    {
        "match": {"userMessage": "hello"},
        "response": {"content": "Hello there, 你好🙂é!", "usage": {"input_tokens": 100, "output_tokens": 5}},
    },
    {
        "match": {"userMessage": "boom"},
        "response": {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429},
    },
]


def ask(text, **fields):
    model = ModelInfo(
        provider="anthropic", id="claude-haiku-4-5", cost=ModelCost(input=1.0, output=2.0), reasoning=True
    )
    return ModelRequest(
        model=model, system="sys", messages=(UserMessage(content=(TextBlock(text=text),)),), tools=(TOOL,), **fields
    )


@pytest.fixture
async def aimock(tmp_path):
    command = peers.aimock()
    async with Aimock(command, FIXTURES, tmp_path) as server:
        yield server


@pytest.fixture
async def anthropic(aimock):
    http = TestHttp()
    made = create(ProviderEnv(provider_id="anthropic", base_url=aimock.base, api="", api_key="k-1234", http=http))
    yield made
    await made.aclose()
    await http.aclose()


@pytest.mark.peer("aimock")
class TestContract(ProviderContract):
    plugin = "openclaw_provider_anthropic.plugin"

    @pytest.fixture
    async def provider(self, anthropic):
        return anthropic

    @pytest.fixture
    def text_request(self):
        return ask("hello")

    @pytest.fixture
    def tool_request(self):
        return ask("weather")


@pytest.mark.peer("aimock")
async def test_a_whole_conversation(aimock, anthropic):
    hello = (await collect(anthropic.stream(ask("hello"))))[-1].message
    assert hello.text == "Hello there, 你好🙂é!"
    assert (hello.usage.input, hello.usage.output) == (100, 5)

    first = ask("weather", thinking="low")
    called = (await collect(anthropic.stream(first)))[-1].message
    calls = called.tool_calls
    assert [(c.id, c.arguments) for c in calls] == [("toolu_1", {"city": "Paris"}), ("toolu_2", {"city": "Lyon"})]
    sun = (TextBlock(text="sun"),)
    results = [ToolResultMessage(tool_call_id=c.id, tool_name=c.name, content=sun) for c in calls]
    again = ModelRequest(
        model=first.model, system="", messages=(*first.messages, called, *results), tools=(TOOL,), thinking="low"
    )
    assert (await collect(anthropic.stream(again)))[-1].message.text == "It is sunny in Paris."

    thought = (await collect(anthropic.stream(ask("think", thinking="low"))))[-1].message
    assert isinstance(thought.content[0], ThinkingBlock)
    assert thought.content[0].thinking == "step by step"
    assert thought.content[0].signature

    with pytest.raises(ProviderError) as caught:
        await collect(anthropic.stream(ask("boom")))
    assert (caught.value.kind, caught.value.status) == (ErrorKind.RATE_LIMIT, 429)
    assert len(await aimock.journal()) == 5  # none was sent twice

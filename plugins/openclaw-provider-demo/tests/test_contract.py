from __future__ import annotations

import pytest
from openclaw_provider_demo.provider import create

from openclaw_core.sdk import ModelInfo, ModelRequest, ProviderEnv, TextBlock, ToolSchema, UserMessage
from openclaw_core.testing.contracts.provider import ProviderContract
from openclaw_core.testing.fakes.http import TestHttp

MODEL = ModelInfo(provider="demo", id="demo")
TOOLS = tuple(ToolSchema(name=n, description="", parameters={"type": "object"}) for n in ("read", "ls"))


def ask(text):
    return ModelRequest(model=MODEL, system="", messages=(UserMessage(content=(TextBlock(text=text),)),), tools=TOOLS)


class TestContract(ProviderContract):
    plugin = "openclaw_provider_demo.plugin"

    @pytest.fixture
    async def provider(self):
        http = TestHttp()
        yield create(ProviderEnv(provider_id="demo", base_url="", api="demo", api_key="", http=http))
        await http.aclose()

    @pytest.fixture
    def text_request(self):
        return ask("good morning")

    @pytest.fixture
    def tool_request(self):
        return ask("read NOTES.md")

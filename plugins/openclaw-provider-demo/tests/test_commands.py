from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_provider_demo.commands import understand
from openclaw_provider_demo.plugin import openclaw_providers
from openclaw_provider_demo.provider import CLOSING, MAX_SHOWN, DemoProvider

from openclaw_core.sdk import (
    ModelInfo,
    ModelRequest,
    StopReason,
    TextBlock,
    TextDelta,
    ToolResultMessage,
    ToolSchema,
    UserMessage,
)
from openclaw_core.testing.histories import histories

TOOLS = ("read", "write", "ls", "find", "grep")


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ("read NOTES.md", "read", {"path": "NOTES.md"}),
        ("Please read the file `my notes.md`.", "read", {"path": "my notes.md"}),
        ("read NOTES.md and tell me the marker", "read", {"path": "NOTES.md"}),
        ("can you read a.txt?", "read", {"path": "a.txt"}),
        ("[IRC alice 12:00] read a.txt", "read", {"path": "a.txt"}),
        ("hello there\nread ../up/a.txt", "read", {"path": "../up/a.txt"}),
        ("ls", "ls", {"path": "."}),
        ("List files", "ls", {"path": "."}),
        ("list the files in docs.", "ls", {"path": "docs"}),
        ("ls .", "ls", {"path": "."}),
        ("ls ..", "ls", {"path": ".."}),
        ("write a.txt: hello\nworld", "write", {"path": "a.txt", "content": "hello\nworld"}),
        ("write a.txt:", "write", {"path": "a.txt", "content": ""}),
        ("find *.md", "find", {"pattern": "*.md"}),
        ('grep "foo bar"', "grep", {"pattern": "foo bar"}),
    ],
)
def test_what_is_understood(text, tool, arguments):
    wanted = understand(text, TOOLS)
    assert (wanted.tool, wanted.arguments) == (tool, arguments)


@pytest.mark.parametrize(
    "text", ["", "hi", "list of fruits", "read me a story", "I read a book", "reading a.txt", "read"]
)
def test_what_is_not_understood(text):
    assert understand(text, TOOLS) is None


def test_a_tool_that_is_not_offered_is_not_called():
    assert understand("read a.txt", ("ls",)) is None


@given(st.text(max_size=60))
def test_any_text_is_fine(text):
    wanted = understand(text, TOOLS)
    assert wanted is None or wanted.tool in TOOLS
    assert understand(text, ()) is None


def request(*messages, tools=TOOLS):
    schemas = tuple(ToolSchema(name=n, description="", parameters={}) for n in tools)
    return ModelRequest(model=ModelInfo(provider="demo", id="demo"), system="", messages=messages, tools=schemas)


def user(text):
    return UserMessage(content=(TextBlock(text=text),))


async def reply(req):
    events = [e async for e in DemoProvider().stream(req)]
    message = events[-1].message
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == message.text
    return message


async def test_a_conversation():
    first = await reply(request(user("read a.txt")))
    call = first.tool_calls[0]
    assert call.arguments == {"path": "a.txt"}

    def told(text, **fields):
        return ToolResultMessage(tool_call_id=call.id, tool_name="read", content=(TextBlock(text=text),), **fields)

    second = await reply(request(user("read a.txt"), first, told("the MARKER\n")))
    assert second.stop_reason is StopReason.STOP
    assert "the MARKER" in second.text
    assert second.text.endswith(CLOSING)
    failed = await reply(request(user("read a.txt"), first, told("no such file", is_error=True)))
    assert "failed" in failed.text
    long = await reply(request(user("read a.txt"), first, told("x" * 9000)))
    assert len(long.text) < MAX_SHOWN + 500
    after = await reply(request(user("read a.txt"), first, told("x"), second, user("thanks")))
    assert "read FILE" in after.text


async def test_the_greeting_names_only_what_is_offered():
    assert "grep" not in (await reply(request(user("hi"), tools=("read",)))).text
    assert "none of these tools" in (await reply(request(user("hi"), tools=()))).text


@given(histories())
async def test_any_history_gets_a_reply(messages):
    message = await reply(request(*messages))
    assert message.tool_calls or message.text.endswith(CLOSING)
    message.text.encode()


def test_it_is_only_a_fallback():
    (spec,) = openclaw_providers()
    assert spec.fallback
    assert not spec.needs_key
    assert "OPENAI_API_KEY" in CLOSING
    assert "openclaw config set models.providers." in CLOSING


async def test_ids_differ_from_turn_to_turn():
    first = await reply(request(user("ls")))
    again = await reply(request(user("ls")))
    later = await reply(request(user("ls"), first, user("ls")))
    assert first.tool_calls[0].id == again.tool_calls[0].id != later.tool_calls[0].id

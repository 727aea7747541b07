"""The context budget: estimated without network, dropped in whole turns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from openclaw_core.domain.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    StopReason,
    TextBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
)
from openclaw_core.prompt.budget import fit, message_tokens, reserve_tokens, status


def turn(size: int) -> list[Message]:
    """A question, a call, its result and an answer of about `size` characters each."""
    text = TextBlock(text="x" * size)
    return [
        UserMessage(content=(text,)),
        AssistantMessage(content=(ToolCallBlock(id="c", name="t", arguments={}),), stop_reason=StopReason.TOOL_USE),
        ToolResultMessage(tool_call_id="c", tool_name="t", content=(text,)),
        AssistantMessage(content=(text,), stop_reason=StopReason.STOP),
    ]


def test_estimates() -> None:
    assert message_tokens(UserMessage(content=(TextBlock(text="x" * 400),))) == 104
    assert message_tokens(UserMessage(content=(ImageBlock(data="y" * 10**6, mime_type="image/png"),))) == 1204


def test_the_reserve_never_takes_more_than_half() -> None:
    assert reserve_tokens(200_000, reserve=16_384, floor=20_000) == 20_000
    assert reserve_tokens(200_000, reserve=30_000, floor=20_000) == 30_000
    assert reserve_tokens(8_000, reserve=16_384, floor=20_000) == 4_000


def test_the_numbers_of_the_report_add_up() -> None:
    history = turn(4000)
    found = status(window=10_000, reserve=4_000, prompt_chars=8_000, tools_chars=4_000, messages=history)
    assert found["historyTokens"] == sum(message_tokens(m) for m in history)
    assert found["estimatedPromptTokens"] == 3_000 + found["historyTokens"]
    assert found["remainingTokens"] == max(0, 6_000 - found["estimatedPromptTokens"])
    assert found["shouldCompact"] is (found["estimatedPromptTokens"] > 6_000)
    assert status(window=10_000, reserve=4_000, prompt_chars=40_000, tools_chars=0, messages=[])["shouldCompact"]


@given(st.lists(st.integers(0, 4000), max_size=8), st.integers(-6000, 100))
def test_whole_turns_go_oldest_first_until_it_fits(sizes: list[int], spare: int) -> None:
    turns = [turn(size) for size in sizes]
    history = [m for t in turns for m in t]
    left = fit(history, spare=spare)
    assert left == history[len(history) - len(left) :]
    assert len(left) % 4 == 0
    gone = history[: len(history) - len(left)]
    saved = sum(message_tokens(m) for m in gone)
    assert spare + saved >= 0 or not left
    if gone:
        assert spare + saved - sum(message_tokens(m) for m in gone[-4:]) < 0, "more was dropped than needed"

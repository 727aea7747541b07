"""From lines to what a model is shown: pairs are always valid, limits never cut inside an exchange."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from openclaw_core.domain.messages import (
    AssistantMessage,
    Message,
    StopReason,
    TextBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
)
from openclaw_core.sessions.codec import decode, encode, encode_line, line_id
from openclaw_core.sessions.history import HistoryWindow, MessageCache, paired, unanswered, usable
from openclaw_core.testing.histories import histories, messages


def user(text: str) -> UserMessage:
    return UserMessage(content=(TextBlock(text=text),))


def said(text: str, *calls: str, stop: StopReason = StopReason.STOP) -> AssistantMessage:
    blocks = (TextBlock(text=text), *(ToolCallBlock(id=c, name="t", arguments={}) for c in calls))
    return AssistantMessage(content=blocks, stop_reason=stop)


def result(ident: str, text: str = "r") -> ToolResultMessage:
    return ToolResultMessage(tool_call_id=ident, tool_name="t", content=(TextBlock(text=text),))


def assert_paired(shown: list[Message]) -> None:
    """Directly after each answer stand exactly the results of its calls, in order."""
    index = 0
    while index < len(shown):
        message = shown[index]
        index += 1
        assert not isinstance(message, ToolResultMessage), "a result without its call"
        if isinstance(message, AssistantMessage):
            calls = [call.id for call in message.tool_calls]
            results = shown[index : index + len(calls)]
            assert [r.tool_call_id for r in results if isinstance(r, ToolResultMessage)] == calls
            index += len(calls)


@given(histories(20))
def test_any_history_becomes_pairs(history: list[Message]) -> None:
    shown = paired(history)
    assert_paired(shown)
    kept = [m for m in history if isinstance(m, UserMessage) or (isinstance(m, AssistantMessage) and m.content)]
    assert [m for m in shown if not isinstance(m, ToolResultMessage)] == kept
    assert paired(shown) == shown


@given(histories(20))
def test_what_is_unanswered(history: list[Message]) -> None:
    for call in unanswered(history):
        history = [*history, result(call.id)]
    assert unanswered(history) == []


@given(st.lists(st.sampled_from(["u", "a", "ac", "r", "e"]), max_size=40), st.lists(st.integers(0, 5), max_size=5))
def test_a_window_starts_at_a_user_message_and_holds_the_newest_turns(kinds: list[str], turns: list[int]) -> None:
    made: dict[str, Any] = {
        "u": user("q"),
        "a": said("x"),
        "ac": said("x", "c"),
        "r": result("c"),
        "e": said("", stop=StopReason.ERROR),
    }
    entries: list[tuple[str, Message]] = [(f"id{n}", made[kind]) for n, kind in enumerate(kinds)]
    users = [n for n, kind in enumerate(kinds) if kind == "u"]
    window = HistoryWindow()
    for limit in turns:
        cut = window.cut("s", entries, turns=limit)
        assert cut == entries[len(entries) - len(cut) :]
        if not users:
            assert cut == []
            continue
        assert isinstance(cut[0][1], UserMessage)
        shown = sum(isinstance(m, UserMessage) for _, m in cut)
        assert min(len(users), limit + 1) <= shown
        assert shown <= limit + 1 + max(1, limit // 4) if limit else shown == 1
        assert_paired(paired([m for _, m in cut if usable(m)]))


def test_the_beginning_moves_in_steps_so_that_prefixes_stay_the_same() -> None:
    window = HistoryWindow()
    entries: list[tuple[str, Message]] = []
    starts = []
    for number in range(60):
        entries += [(f"u{number}", user("q")), (f"a{number}", said("x"))]
        starts.append(window.cut("s", entries, turns=20)[0][0])
    assert len(set(starts)) < 10
    assert starts[0] == starts[20]


def test_the_memory_of_windows_and_messages_is_bounded() -> None:
    window = HistoryWindow(sessions=3)
    cache = MessageCache(transcripts=3, lines=5)
    for number in range(10):
        entries = [(f"u{n}", user("q")) for n in range(20)]
        window.cut(f"s{number}", entries, turns=2)
        lines = [encode_line(m, line=i, run_id="r", at=0) for i, m in entries]
        assert [i for i, _ in cache.decode(f"s{number}", lines)] == [i for i, _ in entries]
    assert len(window._anchors) == 3
    assert len(cache._all) == 3
    assert all(len(known) <= 5 for known in cache._all.values())


def test_failed_answers_are_left_out_unless_they_called_tools() -> None:
    assert not usable(said("x", stop=StopReason.ERROR))
    assert usable(said("x", "c", stop=StopReason.ERROR))
    assert usable(said("x", stop=StopReason.ABORTED))


@given(
    st.lists(
        st.dictionaries(st.sampled_from(["type", "id", "message", "summary"]), st.none() | st.integers() | st.text()),
        max_size=5,
    )
)
def test_lines_of_strangers_are_passed_over(lines: list[dict[str, Any]]) -> None:
    found = MessageCache().decode("s", lines)
    assert len(found) <= sum(line.get("type") in ("message", "compaction") for line in lines)


# ---- codec -------------------------------------------------------------------------------------------------


@given(messages())
def test_messages_survive_the_file(message: Message) -> None:
    again = decode(encode(message))
    assert again is not None
    if isinstance(message, AssistantMessage):
        assert isinstance(again, AssistantMessage)
        assert [_known(b) for b in again.content] == [_known(b) for b in message.content]
        assert again.stop_reason is message.stop_reason
    else:
        assert again == message


def _known(block: Any) -> Any:
    return (block.id, block.name, block.arguments) if isinstance(block, ToolCallBlock) else block


def test_an_incomplete_call_stays_incomplete() -> None:
    call = ToolCallBlock(id="c", name="t", arguments=None, raw='{"a": ')
    stored = encode(AssistantMessage(content=(call,), stop_reason=StopReason.TOOL_USE))
    assert stored["content"][0]["arguments"] == {}
    again = decode(stored)
    assert isinstance(again, AssistantMessage)
    assert again.tool_calls == (call,)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["content", "timestamp", "usage", "stopReason", "details", "isError", "toolCallId", "durationMs", "cost"]


@given(
    st.sampled_from(["user", "assistant", "toolResult", "system", ""]), st.dictionaries(st.sampled_from(FIELDS), JSON)
)
def test_any_json_is_decoded_or_passed_over(role: str, fields: dict[str, Any]) -> None:
    message = decode({**fields, "role": role})
    assert (message is None) == (role in ("system", ""))


def test_line_ids_are_the_same_each_time_and_different_for_each_place() -> None:
    assert line_id("run", "a:1") == line_id("run", "a:1")
    assert len({line_id("run", "a:1"), line_id("run", "a:2"), line_id("run2", "a:1"), line_id("ru", "n\na:1")}) == 4
    assert len(line_id("run", "\ud83d")) == 16

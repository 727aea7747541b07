from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_core.domain.dialogue import (
    CONTINUE,
    INTERRUPTED,
    OPENING,
    IdRule,
    ModelTurn,
    PersonTurn,
    clean_json,
    clean_name,
    clean_text,
    dialogue,
)
from openclaw_core.domain.messages import (
    AssistantMessage,
    StopReason,
    TextBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
)
from openclaw_core.testing.histories import histories

MISTRAL = IdRule(max_length=9, exact=True)
OPENAI = IdRule(max_length=40)
RULES = {OPENAI: r"[a-zA-Z0-9_-]{1,40}", MISTRAL: r"[A-Za-z0-9]{9}", IdRule(max_length=64): r"[a-zA-Z0-9_-]{1,64}"}


def user(text):
    return UserMessage(content=(TextBlock(text=text),))


def answer(text="", *ids, stop=StopReason.STOP):
    calls = tuple(ToolCallBlock(id=i, name="read", arguments={}) for i in ids)
    return AssistantMessage(content=((TextBlock(text=text),) if text else ()) + calls, stop_reason=stop)


def result(call_id, text):
    return ToolResultMessage(tool_call_id=call_id, tool_name="read", content=(TextBlock(text=text),))


@given(histories(), st.sampled_from(list(RULES)))
def test_any_history_becomes_a_legal_dialogue(messages, rule):
    turns = dialogue(messages, rule)
    assert isinstance(turns[0], PersonTurn)
    ids = []
    for before, turn in zip([None, *turns], turns, strict=False):
        if isinstance(turn, PersonTurn):
            assert turn.blocks
            assert not isinstance(before, PersonTurn)
            assert all(b.text.strip() for b in turn.blocks if isinstance(b, TextBlock))
        else:
            assert not isinstance(before, ModelTurn) or before.exchanges
            assert turn.text or turn.exchanges
            ids += [e.id for e in turn.exchanges]
            assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", e.name) and e.text for e in turn.exchanges)
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(RULES[rule], i) for i in ids)
    last = turns[-1]
    assert isinstance(last, PersonTurn) or last.exchanges


@given(histories(), st.sampled_from(list(RULES)))
def test_ids_stay_the_same_in_the_next_request(messages, rule):
    now = [e.id for t in dialogue(messages, rule) if isinstance(t, ModelTurn) for e in t.exchanges]
    longer = [*messages, user("more"), answer("", "new"), result("new", "x")]
    later = [e.id for t in dialogue(longer, rule) if isinstance(t, ModelTurn) for e in t.exchanges]
    assert later[: len(now)] == now


@given(histories())
def test_every_text_of_a_person_is_there_once_and_in_order(messages):
    said = [
        clean_text(b.text)
        for m in messages
        if isinstance(m, UserMessage)
        for b in m.content
        if isinstance(b, TextBlock) and clean_text(b.text).strip()
    ]
    blocks = [b for t in dialogue(messages, OPENAI) if isinstance(t, PersonTurn) for b in t.blocks]
    shown = [b.text for b in blocks if isinstance(b, TextBlock) and b.text not in (OPENING, CONTINUE)]
    assert shown == said


def test_results_go_to_the_nearest_call_of_their_id():
    turns = dialogue(
        [user("a"), answer("", "x"), user("b"), answer("", "x", "x"), result("x", "1"), user("c"), result("x", "2")],
        OPENAI,
    )
    first, second = (t for t in turns if isinstance(t, ModelTurn))
    assert [e.text for e in first.exchanges] == [INTERRUPTED]
    assert first.exchanges[0].is_error
    assert [e.text for e in second.exchanges] == ["1", "2"]


def test_parallel_results_after_a_message_in_between():
    turns = dialogue([user("go"), answer("", "A", "B"), user("wait"), result("B", "b"), result("A", "a")], OPENAI)
    assert isinstance(turns[1], ModelTurn)
    assert [e.text for e in turns[1].exchanges] == ["a", "b"]
    assert turns[2] == PersonTurn(blocks=(TextBlock(text="wait"),))


def test_ids_of_other_vendors_for_mistral():
    ids = ["toolu_01AAAAAAAAAAAAAAAAAAAAAA", "call_aaaaaaaaa1", "call_aaaaaaaaa2", "fn-é|x"]
    messages = [user("go")]
    for i in ids:
        messages += [answer("", i), result(i, f"result of {i}")]
    mapped = [(e.id, e.text) for t in dialogue(messages, MISTRAL) if isinstance(t, ModelTurn) for e in t.exchanges]
    assert all(re.fullmatch(r"[A-Za-z0-9]{9}", i) for i, _ in mapped)
    assert len({i for i, _ in mapped}) == 4
    assert [t for _, t in mapped] == [f"result of {i}" for i in ids]


def test_a_failed_answer_is_left_out_and_an_aborted_one_stays():
    turns = dialogue(
        [user("a"), answer("Par", stop=StopReason.ERROR), answer("seen", stop=StopReason.ABORTED), user("b")], OPENAI
    )
    assert [t.text for t in turns if isinstance(t, ModelTurn)] == ["seen"]


def test_an_answer_of_nothing_but_nul_is_no_answer():
    assert [type(t) for t in dialogue([user("a"), answer("\0 "), user("b")], OPENAI)] == [PersonTurn]


def test_the_ends_belong_to_the_person():
    turns = dialogue([answer("hello")], OPENAI)
    assert turns[0] == PersonTurn(blocks=(TextBlock(text=OPENING),))
    assert turns[-1] == PersonTurn(blocks=(TextBlock(text=CONTINUE),))
    assert dialogue([], OPENAI) == [PersonTurn(blocks=(TextBlock(text=OPENING),))]


@given(st.text(alphabet=st.characters(codec=None), max_size=12))
def test_clean_text_is_always_utf8_and_keeps_what_was_legal(text):
    cleaned = clean_text(text)
    cleaned.encode("utf-8")
    assert "\0" not in cleaned
    if "\0" not in text and not re.search("[\ud800-\udfff]", text):
        assert cleaned == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [("ok\ud83d end", "ok\ufffd end"), ("\ud83d\ude42", "🙂"), ("\ude42\ud83d", "\ufffd\ufffd"), ("a\0b", "ab")],
)
def test_clean_text(text, cleaned):
    assert clean_text(text) == cleaned


def test_clean_json_and_names():
    assert clean_json({"k\0": ["\ud83d", {"x": ("a", 1, None, True)}]}) == {
        "k": ["\ufffd", {"x": ["a", 1, None, True]}]
    }
    assert clean_name("my tool.é") == "my_tool__"
    assert clean_name("") == "unknown"

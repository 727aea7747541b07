from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_lib_openai.chat_stream import ChatStream
from openclaw_lib_openai.reasoning import DetailsJoiner
from openclaw_lib_openai.think_tags import ThinkTags

from openclaw_core.sdk import ErrorKind, ModelInfo, ModelRequest, ProviderError, TextBlock, ThinkingBlock

REQUEST = ModelRequest(model=ModelInfo(provider="p", id="m"), system="", messages=())


def split(pieces):
    tags = ThinkTags()
    out = [part for piece in pieces for part in tags.feed(piece)] + tags.end()
    return tuple("".join(text for thinking, text in out if thinking is wanted) for wanted in (True, False))


@given(
    st.text("ab<>/think \n", max_size=12).filter(lambda t: "</think>" not in t),
    st.text("ab<>/think \n", max_size=12),
    st.lists(st.integers(1, 9)),
)
def test_tags_may_be_cut_anywhere(thought, text, cuts):
    whole = f" \n<think>{thought}</think>\n\n{text}"
    pieces = []
    for size in cuts:
        pieces.append(whole[:size])
        whole = whole[size:]
    assert split([*pieces, whole]) == (thought, text.lstrip())


@given(st.lists(st.text("ab<>/thk \n", max_size=5)))
def test_text_without_tags_is_text(pieces):
    whole = "".join(pieces)
    assert split(pieces) == ("", whole if whole.strip() else "")


def test_a_tag_that_never_closes_is_reasoning():
    assert split(["<think>a", "b</thi"]) == ("ab</thi", "")


def test_later_tags_are_text():
    assert split(["x<think>y</think>"]) == ("", "x<think>y</think>")


def test_pieces_join_and_come_back_as_they_were():
    joiner = DetailsJoiner()
    text = joiner.feed([{"type": "reasoning.text", "text": "a", "index": 0, "id": "r1"}])
    text += joiner.feed([{"type": "reasoning.text", "text": "b", "index": 0, "signature": "S", "id": None}])
    text += joiner.feed([{"type": "reasoning.summary", "summary": "s", "index": 1}])
    assert joiner.feed([{"type": "reasoning.encrypted", "data": "x", "index": 2}, "odd"]) == ""
    assert joiner.feed("odd") == ""
    assert text == "abs"
    assert json.loads(joiner.dump()) == [
        {"type": "reasoning.text", "text": "ab", "index": 0, "id": "r1", "signature": "S"},
        {"type": "reasoning.summary", "summary": "s", "index": 1},
        {"type": "reasoning.encrypted", "data": "x", "index": 2},
    ]
    assert DetailsJoiner().dump() == ""


def delta(finish=None, **fields):
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def play(*chunks, **options):
    stream = ChatStream(REQUEST, **options)
    for chunk in chunks:
        stream.feed("", chunk)
    return stream.result()


def test_encrypted_reasoning_alone_is_kept():
    message = play(delta(reasoning_details=[{"type": "reasoning.encrypted", "data": "x"}]), delta("stop", content="hi"))
    assert message.content == (
        ThinkingBlock(thinking="", signature='[{"type":"reasoning.encrypted","data":"x"}]'),
        TextBlock(text="hi"),
    )


def test_tags_in_a_stream_and_only_where_expected():
    chunks = (delta(content="<th"), delta(content="ink>why</think>\nso"), delta("stop"))
    assert play(*chunks, think_tags=True).content == (ThinkingBlock(thinking="why"), TextBlock(text="so"))
    assert play(*chunks).text == "<think>why</think>\nso"
    assert play(delta("stop", content="<thi"), think_tags=True).text == "<thi"


@pytest.mark.parametrize(
    ("text", "kind"), [("insufficient balance", ErrorKind.BILLING), ("rate limit", ErrorKind.RATE_LIMIT)]
)
def test_an_error_of_minimax_in_the_stream(text, kind):
    with pytest.raises(ProviderError) as caught:
        play({"base_resp": {"status_code": 1, "status_msg": text}, "choices": None})
    assert caught.value.kind is kind

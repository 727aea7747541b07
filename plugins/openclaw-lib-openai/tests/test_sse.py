from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_lib_openai.sse import EventReader, LineSplitter, LineTooLong

MIXED = (
    b':\n: OPENROUTER PROCESSING\r\n\r\nid: 7\r\nevent: message\r\ndata:{"a":1}\r\n\r\ndata: \n\n: ping\n\n'
    b'data: {"b":\ndata: 2}\n\nretry: 10\n\ndata:[DONE]\r\n\r\n'
)
FOUR = "你好🙂é"


def read(*pieces):
    reader = EventReader()
    out = [e for p in pieces for e in reader.feed(p)]
    return [e.data for e in (*out, *reader.end())]


def test_every_legal_form():
    assert read(MIXED) == ['{"a":1}', '{"b":\n2}', "[DONE]"]


def test_lone_cr_as_the_only_line_end():
    assert read(MIXED.replace(b"\r\n", b"\n").replace(b"\n", b"\r")) == ['{"a":1}', '{"b":\n2}', "[DONE]"]


@given(st.lists(st.integers(0, len(MIXED)), max_size=8))
def test_any_cut_gives_the_same_events(cuts):
    edges = [0, *sorted(cuts), len(MIXED)]
    pieces = [MIXED[a:b] for a, b in pairwise(edges)]
    assert read(*pieces) == read(MIXED)


def test_one_byte_at_a_time_with_long_characters():
    body = f'data: {{"x":"{FOUR}"}}\n\n'.encode()
    assert [json.loads(d)["x"] for d in read(*(bytes([b]) for b in body))] == [FOUR]


def test_a_cr_whose_lf_comes_later_ends_one_line_only():
    assert read(b"data: a\r", b"\n\r", b"\ndata: b\r\n\r\n") == ["a", "b"]


def test_the_event_is_there_before_the_lf_of_its_last_crlf():
    reader = EventReader()
    assert [e.data for e in reader.feed(b"data: a\r\n\r")] == ["a"]


def test_separators_that_are_not_line_ends_stay_data():
    assert read("data: a\u2028b\x0bc\x85d\u2029e\n\n".encode()) == ["a\u2028b\x0bc\x85d\u2029e"]


def test_the_last_event_needs_no_blank_line():
    assert read(b"data: a\n\ndata: b") == ["a", "b"]
    assert read(b"data: a\n\ndata: b\n") == ["a", "b"]


def test_byte_order_mark_and_broken_bytes():
    assert read(b"\xef\xbb\xbfdata: a\n\ndata: \xff\n\n") == ["a", "\ufffd"]


def test_a_line_without_end_is_bounded():
    splitter = LineSplitter(max_line=10)
    splitter.feed(b"0123456789")
    with pytest.raises(LineTooLong):
        splitter.feed(b"0")


LINES = st.lists(st.text(alphabet=st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=6), max_size=6)


@given(LINES, st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=6, max_size=6), st.data())
def test_the_splitter_gives_back_the_lines(lines, ends, data):
    lines = [line.replace("\ufeff", "") for line in lines]
    # an empty line after CR would be read as CRLF with LF: only then are the ends made unambiguous
    text = b"".join(line.encode() + end.encode() for line, end in zip(lines, ends, strict=False))
    splitter = LineSplitter()
    cut = data.draw(st.integers(0, len(text)))
    got = [*splitter.feed(text[:cut]), *splitter.feed(text[cut:]), *splitter.end()]
    assert got == text.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n")[:-1]

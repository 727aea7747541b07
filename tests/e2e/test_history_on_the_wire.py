"""What a session holds and what a vendor is sent: any history becomes a request that the vendor takes."""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Callable
from typing import Any

import pytest
from client import Refused
from request_rules import CHAT_ID, CLAUDE_ID, MISTRAL_ID, check, texts
from scripted import called, chat_text, claude, said
from table import Table, assistant, call, result, spoken, text_of, user

from openclaw_core.testing.fakes.wire import WireReply

OK = chat_text("ok")
CLAUDE_OK = claude(said("ok"))


def last(seat: Table) -> Any:
    """The body of the last request."""
    return json.loads(seat.model.requests[-1].body)


def begin(table: Callable[..., Table], agent: str = "main") -> Table:
    """A conversation that exists."""
    seat = table(agent)
    seat.model.script(OK)
    seat.say("first")
    return seat


# ---- thinking --------------------------------------------------------------------------------------


def test_thinking_is_sent_back_unchanged_and_only_to_its_vendor(table: Callable[..., Table]) -> None:
    seat = table()
    thinking = {
        "start": {"type": "thinking", "thinking": "", "signature": ""},
        "deltas": [
            {"type": "thinking_delta", "thinking": "pl"},
            {"type": "thinking_delta", "thinking": "an"},
            {"type": "signature_delta", "signature": "SIG1=="},
        ],
    }
    hidden = {"start": {"type": "redacted_thinking", "data": "ZZZ"}}
    blank = {"start": thinking["start"], "deltas": [{"type": "signature_delta", "signature": "SIG2=="}]}
    seat.model.script(claude(thinking, hidden, blank, called("t1", "ls", "{}"), stop="tool_use"), CLAUDE_OK)
    seat.say(model="claude/c")
    blocks = last(seat)["messages"][1]["content"]
    assert [b["type"] for b in blocks] == ["thinking", "redacted_thinking", "thinking", "tool_use"]
    assert (blocks[0]["thinking"], blocks[0]["signature"]) == ("plan", "SIG1==")
    assert blocks[1]["data"] == "ZZZ"
    assert (blocks[2]["thinking"], blocks[2]["signature"]) == ("", "SIG2==")

    seat.foreign(user("more"), assistant({"type": "thinking", "thinking": "x"}, stop="aborted"))
    seat.say("again", model="claude/c")
    flat = json.dumps(last(seat)["messages"])
    assert '"thinking": "x"' not in flat.replace('":"', '": "')
    seat.model.script(OK)
    seat.say("and you?", model="mock/m")
    flat = json.dumps(last(seat))
    assert not re.search(r"SIG1|SIG2|ZZZ|redacted|signature", flat)


# ---- ids, roles, order -------------------------------------------------------------------------------

IDS = ("toolu_01AAAAAAAAAAAAAAAAAAAAAA", "call_aaaaaaaaa1", "call_aaaaaaaaa2", "fn-é|x")


def test_ids_of_one_vendor_become_legal_for_the_next(table: Callable[..., Table]) -> None:
    seat = begin(table)
    seat.foreign(
        user("q"),
        assistant(*(call(i) for i in IDS), stop="toolUse"),
        *(result(i, f"result of {n}") for n, i in enumerate(IDS)),
    )
    mapped = []
    for model, pattern in (("mock/nine", MISTRAL_ID), ("mock/nine", MISTRAL_ID), ("mock/m", CHAT_ID)):
        seat.say("next", model=model)
        body = check(seat.model.requests[-1].path, seat.model.requests[-1].body, id_pattern=pattern)
        calls = next(m for m in body["messages"] if m.get("tool_calls"))["tool_calls"]
        mapped.append([c["id"] for c in calls])
        found = {m["tool_call_id"]: m["content"] for m in body["messages"] if m["role"] == "tool"}
        assert [found[i] for i in mapped[-1]] == [f"result of {n}" for n in range(4)]
    assert mapped[0] == mapped[1]
    assert len(set(mapped[0])) == 4
    seat.model.script(CLAUDE_OK)
    seat.say("next", model="claude/c")
    check("/v1/messages", seat.model.requests[-1].body, id_pattern=CLAUDE_ID)


@pytest.mark.parametrize("model", ["claude/c", "mock/m"])
def test_roles_alternate_and_results_follow_their_calls(table: Callable[..., Table], model: str) -> None:
    seat = begin(table)
    seat.foreign(
        assistant(spoken("greeting")),
        user("one"),
        user("two"),
        user("three"),
        assistant(call("A"), call("B"), stop="toolUse"),
        user("between"),
        result("B", "of B"),
        result("A", "of A"),
        user(""),
        assistant(stop="stop"),
    )
    seat.model.script(CLAUDE_OK if model == "claude/c" else OK)
    seat.say("last", model=model)
    told = "\n".join(texts(last(seat)))
    for text in ("greeting", "one", "two", "three", "between", "last"):
        assert told.count(text) == 1, text
    assert told.index("one") < told.index("two") < told.index("three") < told.index("between") < told.index("last")


def test_a_compaction_line_replaces_what_lies_before_it(table: Callable[..., Table]) -> None:
    seat = begin(table)
    line = {"type": "compaction", "id": "cmp1", "summary": "They greeted.", "firstKeptEntryId": "none"}
    seat.foreign(raw=json.dumps(line).encode() + b"\n")
    seat.model.script(CLAUDE_OK)
    seat.say("after", model="claude/c")
    told = texts(last(seat))
    assert "They greeted." in told[0]
    assert "first" not in told
    assert told[-1].endswith("after")


# ---- bytes -------------------------------------------------------------------------------------------


def test_broken_unicode_never_breaks_a_request(table: Callable[..., Table]) -> None:
    seat = table()
    (seat.home.workspace / "torn.txt").write_bytes(b"ok \xff\xfe \xed\xa0\xbd end\n" + "grün".encode()[:-2])
    seat.model.script(chat_text("x"))
    seat.say("lone \ud83d surrogate and NUL \0 in the message")
    seat.foreign(user("also \ud83d alone"), assistant(spoken("answered \ude00 too")))
    seat.model.script(
        claude(
            called("t1", "read", '{"path": "torn.txt"}'), called("t2", "read", '{"path": "\\ud83d"}'), stop="tool_use"
        ),
        CLAUDE_OK,
    )
    seat.say("go on", model="claude/c")
    first, _ = seat.results()
    assert first.startswith("ok ")
    assert "end" in first
    seat.model.script(OK)
    seat.say("still there?")
    assert seat.home.run("sessions", "show", seat.key).stdout
    seat.home.run("trace", seat.key)
    seat.home.run("tasks", "list")


# ---- limits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["openai/o4-mini", "openai/gpt-5", "openai/gpt-4o", "mock/m"])
def test_the_name_of_the_output_limit(table: Callable[..., Table], model: str) -> None:
    seat = table()
    seat.model.script(OK)
    seat.say(model=model)
    names = {"max_tokens", "max_completion_tokens"} & set(last(seat))
    assert names == ({"max_completion_tokens"} if model.startswith("openai") else {"max_tokens"})


def test_a_refused_parameter_is_adapted_once_and_burns_nobody(table: Callable[..., Table]) -> None:
    seat = table()
    refusal = {"error": {"message": "Unsupported", "code": "unsupported_parameter", "param": "max_tokens"}}
    seat.model.script(WireReply.refusal(400, refusal), OK)
    result_ = seat.say()
    assert result_["payloads"][0]["text"] == "ok"
    assert len(seat.model.requests) == 2
    assert "max_tokens" not in last(seat)
    seat.model.script(WireReply.refusal(400, refusal))
    assert seat.fails()["details"]["code"] == "model_format"
    assert len(seat.model.requests) <= 2


# ---- history windows ---------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_a_history_limit_never_cuts_inside_an_exchange(table: Callable[..., Table], limit: int) -> None:
    seat = begin(table, f"last{limit}")
    seat.foreign(user("q1"), assistant(call("A"), stop="toolUse"), result("A", "of A"), user("q2"), result("B", "of B"))
    seat.say("q3")
    told = texts(seat.checked()[-1])
    assert told[-1].endswith("q3")
    joined = "\n".join(told)
    assert "q2" in joined
    assert ("of A" in joined) == ("q1" in joined) == (limit >= 2)
    assert "of B" not in joined


def test_history_turns_0_is_refused_in_the_configuration(table: Callable[..., Table]) -> None:
    done = table().home.run("config", "set", "agents.defaults.historyTurns", "0", "--json", status=1)
    assert "historyTurns" in done.stdout


def test_one_long_turn_is_not_sent_empty(table: Callable[..., Table]) -> None:
    seat = begin(table)
    pairs = [m for n in range(300) for m in (assistant(call(f"c{n}"), stop="toolUse"), result(f"c{n}", f"r{n}"))]
    seat.foreign(user("the long one"), *pairs, assistant(spoken("done")))
    seat.say("q3")
    told = texts(seat.checked()[-1])
    assert "the long one" in told
    assert {f"r{n}" for n in range(300)} <= set(told)


# ---- images ------------------------------------------------------------------------------------------


def png(width: int, height: int, size: int = 64) -> str:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    return base64.b64encode(head.ljust(size, b"\0")).decode()


BAD_IMAGES = {
    "heavy": {"mimeType": "image/png", "content": png(10, 10, 5_600_000)},
    "wide": {"mimeType": "image/png", "content": png(9000, 9000)},
    "html": {"mimeType": "image/png", "content": base64.b64encode(b"<html><body>no</body></html>").decode()},
    "broken": {"mimeType": "image/png", "content": "not base64!"},
    "nothing": {"mimeType": "image/png"},
}


@pytest.mark.parametrize("bad", BAD_IMAGES)
def test_an_image_that_vendors_refuse_is_refused_at_the_door(table: Callable[..., Table], bad: str) -> None:
    seat = begin(table)
    with pytest.raises(Refused, match="Attachment 1"):
        seat.client.run("see this", key=seat.key, attachments=[BAD_IMAGES[bad]])
    seat.say("hello")
    assert "see this" not in "\n".join(texts(seat.checked()[-1]))


def test_an_image_within_the_limits_is_shown(table: Callable[..., Table]) -> None:
    seat = table()
    seat.model.script(OK)
    seat.say("see this", attachments=[{"mimeType": "image/png", "content": png(10, 10)}])
    parts = last(seat)["messages"][-1]["content"]
    assert [p["type"] for p in parts] == ["text", "image_url"]


@pytest.mark.parametrize("model", ["claude/c", "mock/m"])
def test_an_oversize_image_in_the_history_is_described(table: Callable[..., Table], model: str) -> None:
    seat = begin(table)
    block = {"type": "image", "mimeType": "image/png"}
    seat.foreign(
        {"role": "user", "content": [{**block, "data": png(10, 10, 5_600_000)}, {**block, "data": png(9000, 9)}]},
        assistant(call("A", "read"), stop="toolUse"),
        {**result("A", "shown", "read"), "content": [{**block, "data": png(10, 10, 5_600_000)}]},
    )
    seat.model.script(CLAUDE_OK if model == "claude/c" else OK)
    seat.say("hello", model=model)
    assert len(seat.model.requests) == 1
    assert len(seat.model.requests[0].body) < 200_000
    assert sum("image left out" in t for t in texts(last(seat))) >= 2


def test_an_html_file_named_png_is_read_as_text(table: Callable[..., Table]) -> None:
    seat = table()
    (seat.home.workspace / "page.png").write_text("<html><body>no picture</body></html>")
    seat.model.script(claude(called("t1", "read", '{"path": "page.png"}'), stop="tool_use"), CLAUDE_OK)
    seat.say(model="claude/c")
    assert "no picture" in seat.results()[0]
    assert text_of(seat.transcript()[-1]) == "ok"

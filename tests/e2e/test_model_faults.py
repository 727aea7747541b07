"""What a model may do wrong: every answer becomes a paired transcript and a clear outcome, never half a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from client import Refused
from request_rules import check, texts
from scripted import (
    arguments,
    called,
    chat_calls,
    chat_text,
    chunk,
    claude,
    claude_events,
    cut,
    said,
)
from table import Table, text_of

from openclaw_core.testing.fakes.wire import WireReply

FULL = "Full answer"


# ---- tool calls that are none ----------------------------------------------------------------------

BROKEN = {
    "truncated": '{"path": "bait.txt", "content": "x',
    "not-json": "path=bait.txt",
    "a-list": '["bait.txt"]',
    "two-objects": '{"path": "bait.txt", "content": "x"}{"path": "bait.txt", "content": "x"}',
    "trailing-comma": '{"path": "bait.txt", "content": "x",}',
}


@pytest.mark.parametrize("broken", BROKEN)
def test_arguments_that_are_not_one_json_object_are_never_executed(table: Callable[..., Table], broken: str) -> None:
    seat = table()
    seat.model.script(chat_calls(("c1", "write", BROKEN[broken])), chat_text("sorry"))
    result = seat.say()
    assert not (seat.home.workspace / "bait.txt").exists()
    assert result["payloads"][0]["text"] == "sorry"
    assert result["meta"]["toolSummary"] == {"calls": 1, "tools": ["write"], "failures": 1}
    assert "were not one complete JSON object" in seat.results()[0]


def test_an_unknown_tool_gets_an_answer_that_names_the_known_ones(table: Callable[..., Table]) -> None:
    seat = table()
    seat.model.script(chat_calls(("c1", "rm_rf", "{}"), ("c2", "ls", "{}")), chat_text("ok"))
    assert seat.say()["payloads"][0]["text"] == "ok"
    unknown, known = seat.results()
    assert "There is no tool" in unknown
    assert "read" in unknown
    assert "There is no tool" not in known


def test_wrong_arguments_name_the_key(table: Callable[..., Table]) -> None:
    seat = table()
    seat.model.script(chat_calls(("c1", "read", '{"file_name": 1}')), chat_text("ok"))
    seat.say()
    assert "path" in seat.results()[0]


@pytest.mark.parametrize("sent", ["", ..., None, "  "], ids=["empty", "absent", "null", "blank"])
def test_a_call_without_arguments_runs_once_with_none(table: Callable[..., Table], sent: Any) -> None:
    seat = table()
    seat.model.script(chat_calls(("c1", "ls", sent)), chat_text("ok"))
    assert seat.say()["meta"]["toolSummary"] == {"calls": 1, "tools": ["ls"], "failures": 0}
    second = seat.checked()[1]
    call = next(m for m in second["messages"] if m.get("tool_calls"))["tool_calls"][0]
    assert call["function"]["arguments"] == "{}"


def test_a_call_without_arguments_in_the_words_of_anthropic(table: Callable[..., Table]) -> None:
    seat = table()
    seat.model.script(claude(called("t1", "ls", None), stop="tool_use"), claude(said("ok")))
    assert seat.say(model="claude/c")["meta"]["toolSummary"]["failures"] == 0
    call = seat.checked()[1]["messages"][1]["content"][0]
    assert (call["type"], call["input"]) == ("tool_use", {})


def test_two_calls_with_one_id_get_a_result_each(table: Callable[..., Table]) -> None:
    seat = table()
    seat.model.script(chat_calls(("same", "ls", "{}"), ("same", "ls", '{"path": "."}')), chat_text("ok"))
    assert seat.say()["meta"]["toolSummary"]["calls"] == 2
    assert len(seat.results()) == 2


# ---- loops -------------------------------------------------------------------------------------------


def test_an_endless_identical_call_is_ended_long_before_the_bound(table: Callable[..., Table]) -> None:
    seat = table()
    seat.model.script(chat_calls(("c", "ls", "{}")))
    error = seat.fails()
    assert error["details"]["code"] == "tool_loop"
    assert "'ls' was called" in error["message"]
    assert error["details"]["hint"]
    assert len(seat.model.requests) < 40
    assert seat.client.call("tasks.get", taskId=seat.key)["task"]["status"] == "failed"
    results = seat.results()
    assert any("was made 10 times" in text for text in results)
    assert any(text.startswith("Blocked") for text in results)
    seat.model.script(chat_text("fresh"))
    assert seat.say("and now?")["payloads"][0]["text"] == "fresh"


def test_tools_that_do_not_exist_are_not_asked_for_for_ever(table: Callable[..., Table]) -> None:
    seat = table()
    numbers = iter(range(1000))
    seat.model.script(lambda _request: chat_calls(("c", f"made_up_{next(numbers)}", "{}")))
    error = seat.fails()
    assert error["details"]["code"] == "tool_loop"
    assert len(seat.model.requests) < 40
    seat.transcript()


def test_varying_calls_end_at_the_bound_of_requests(table: Callable[..., Table]) -> None:
    seat = table()
    numbers = iter(range(1000))
    seat.model.script(lambda _request: chat_calls(("c", "find", arguments(pattern=f"none-{next(numbers)}*"))))
    with pytest.raises(Refused, match="160 model requests") as caught:
        seat.client.run("go", key=seat.key, timeout=90)
    assert caught.value.code == "retry_limit"
    check(seat.model.requests[-1].path, seat.model.requests[-1].body)
    assert len(seat.model.requests) == 160
    assert len(seat.transcript()) == 1 + 2 * 160 + 1


# ---- streams that break ------------------------------------------------------------------------------


def test_an_empty_answer_is_asked_for_again(table: Callable[..., Table]) -> None:
    seat = table()
    empty = WireReply.events(chunk({"content": ""}), chunk({}, "stop"))
    seat.model.script(empty, chat_text("there"))
    assert seat.say()["payloads"][0]["text"] == "there"
    assert len(seat.model.requests) == 2
    assert [m["role"] for m in seat.transcript()] == ["user", "assistant"]


def test_answers_that_stay_empty_are_an_error_with_a_reason(table: Callable[..., Table]) -> None:
    seat = table()
    seat.model.script(WireReply.events(chunk({"content": " "}), chunk({}, "stop")))
    error = seat.fails()
    assert "empty answer" in error["message"]
    assert len(error["details"]["attempts"]) == 3
    last = seat.transcript()[-1]
    assert (last["role"], last["stopReason"]) == ("assistant", "error")
    seat.model.script(chat_text("back"))
    assert seat.say()["payloads"][0]["text"] == "back"
    assert texts(seat.checked()[0]) == ["go", "go"] or texts(seat.checked()[0]) == ["go\n\ngo"]


@pytest.mark.parametrize("keep", [1, 2, 4])
def test_a_stream_that_stops_half_way_is_repeated_without_doubled_text(table: Callable[..., Table], keep: int) -> None:
    seat = table()
    whole = chat_text("One two three four five six", pieces=6)
    seat.model.script(cut(whole, keep), whole)
    assert seat.say()["payloads"][0]["text"] == "One two three four five six"
    assert [text_of(m) for m in seat.transcript()] == ["go", "One two three four five six"]
    assert len(seat.model.requests) == 2


def test_a_stream_without_its_finish_is_no_answer(table: Callable[..., Table]) -> None:
    seat = table()
    seat.model.script(WireReply(pieces=chat_text("half", pieces=1).pieces[:1]), chat_text("whole"))
    assert seat.say()["payloads"][0]["text"] == "whole"


def test_a_call_that_stops_half_way_is_not_executed(table: Callable[..., Table]) -> None:
    seat = table()
    call = chat_calls(("c1", "write", arguments(path="half.txt", content="x")))
    seat.model.script(cut(call, 1), chat_text("done"))
    assert seat.say()["payloads"][0]["text"] == "done"
    assert not (seat.home.workspace / "half.txt").exists()
    assert [m["role"] for m in seat.transcript()] == ["user", "assistant"]


def test_an_error_inside_the_stream_leads_to_the_fallback_and_its_text_alone(table: Callable[..., Table]) -> None:
    seat = table("chained")
    partial = claude_events([said("Par")], "end_turn")[:3]
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    broken = WireReply.typed(*partial, error)
    seat.model.script(broken, broken, broken, chat_text(FULL, pieces=3))
    ident = seat.client.send("chat.send", message="go", sessionKey=seat.key, idempotencyKey=f"{seat.key}-1")
    assert seat.client.answer(ident)["status"] == "started"
    final = seat.client.until(lambda f: f.get("event") == "chat" and f["payload"]["state"] not in ("delta",))
    assert final["payload"]["state"] == "final"
    assert final["payload"]["message"]["content"] == [{"type": "text", "text": FULL}]
    shown = [e["payload"] for e in seat.client.events if e["event"] == "agent"]
    resets = [e for e in shown if e["data"].get("reset")]
    assert {e["data"]["reason"] for e in resets} == {"overloaded"}
    assert [e["data"]["text"] for e in shown if e["stream"] == "assistant"][-1] == FULL
    assert [text_of(m) for m in seat.transcript()] == ["go", FULL]
    paths = [request.path for request in seat.model.requests]
    assert paths == ["/v1/messages"] * 3 + ["/v1/chat/completions"]
    trace = seat.client.call("trace.get", run=seat.key)
    failed = next(e["failedAttempts"] for e in trace["timeline"] if e.get("failedAttempts"))
    assert {a["reason"] for a in failed} == {"overloaded"}


def test_chunks_without_choices(table: Callable[..., Table]) -> None:
    seat = table()
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    role = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]}
    seat.model.script(
        WireReply.events(
            role, chunk({"content": "Hi"}), chunk({}, "stop"), {"choices": [], "usage": usage}, {"usage": None}
        )
    )
    meta = seat.say()["meta"]
    assert (meta["agentMeta"]["usage"]["input"], meta["agentMeta"]["usage"]["output"]) == (10, 2)
    assert len(seat.model.requests) == 1


IN_BAND = {
    "an-error-object": WireReply.events({"id": "x", "choices": [], "error": {"code": 502, "message": "upstream busy"}}),
    "an-error-text": WireReply.events({"error": "quota exceeded"}),
    "only-comments": WireReply(pieces=[b": ping\n\n", b": ping\n\n"]),
}


@pytest.mark.parametrize("case", IN_BAND)
def test_an_error_in_a_stream_of_status_200_is_an_error(table: Callable[..., Table], case: str) -> None:
    seat = table()
    seat.model.script(IN_BAND[case], chat_text("then"))
    seat_error: dict[str, Any] = {}
    try:
        assert seat.say()["payloads"][0]["text"] == "then"
    except Refused as error:
        seat_error = error.error
    entries = [m for m in seat.transcript() if m["role"] == "assistant"]
    assert len(entries) == 1
    assert entries[0]["content"] or entries[0]["stopReason"] == "error"
    if case == "an-error-text":
        reasons = [a["reason"] for a in seat_error["details"]["attempts"]] if seat_error else _reasons(seat)
        assert set(reasons) <= {"rate_limit", "billing"}


def _reasons(seat: Table) -> list[str]:
    timeline = seat.client.call("trace.get", run=seat.key)["timeline"]
    return [a["reason"] for e in timeline for a in e.get("failedAttempts", ())]

"""The judge notices: each promise broken once, in facts that are right otherwise, and by a channel that errs."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from crashsweep.case import Plan, play
from crashsweep.chat import Message
from crashsweep.home import install
from crashsweep.judge import NOTICE, Facts, judge
from crashsweep.launcher import Launcher
from crashsweep.model import violation
from crashsweep.sweep import Sweep

MESSAGES = (Message("e1", "ada", "do alpha"), Message("e2", "ada", "say gamma"))
SYSTEM = {"role": "system", "content": "be good"}
USER = {"role": "user", "content": "do alpha"}
CALL = {"id": "c1", "type": "function", "function": {"name": "count", "arguments": "{}"}}
ASKS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "counted"}


def lines() -> list[dict[str, Any]]:
    def line(number: int, message: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "message",
            "id": f"l{number}",
            "parentId": f"l{number - 1}" if number else None,
            "message": message,
        }

    call = {"type": "toolCall", "id": "c1", "name": "count", "arguments": {"value": "alpha"}}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "do alpha"},
        {"role": "assistant", "content": [call]},
        {"role": "toolResult", "toolCallId": "c1", "content": []},
        {"role": "assistant", "content": [{"type": "text", "text": "done alpha"}]},
        {"role": "user", "content": "say gamma"},
        {"role": "assistant", "content": [{"type": "text", "text": "said gamma"}]},
    ]
    return [{"type": "session", "id": "s"}, *(line(n, m) for n, m in enumerate(messages))]


def packed(found: list[dict[str, Any]]) -> dict[str, bytes]:
    return {"s": b"".join(json.dumps(line).encode() + b"\n" for line in found)}


def facts() -> Facts:
    def part(run: str) -> dict[str, Any]:
        return {"idem": f"{run}:0", "run_id": run, "kind": "reply", "state": "sent"}

    return Facts(
        shown=[
            {"idem": "r1:0", "target": "ada", "text": "done alpha"},
            {"idem": "r2:0", "target": "ada", "text": "said gamma"},
        ],
        acked=["e1", "e2"],
        requests=[{"wrong": "", "users": ["do alpha"]}, {"wrong": "", "users": ["do alpha", "say gamma"]}],
        inbox=[
            {"event_key": "e1", "run_id": "r1", "state": "answered", "ord": 1},
            {"event_key": "e2", "run_id": "r2", "state": "answered", "ord": 2},
        ],
        outbox=[part("r1"), part("r2")],
        runs=[{"run_id": r, "held": 0, "status": "ok"} for r in ("r1", "r2")],
        steps=[{"kind": "tool", "state": "done", "call_id": "c1"}],
        tasks=[],
        effects=[{"call": "c1", "value": "alpha"}],
        files=packed(lines()),
        lives=[["outbox.before_sending"], []],
    )


def unknown(found: Facts) -> None:
    """The reply to e1 is in doubt, and the person is told."""
    found.outbox[0]["state"] = "unknown"
    found.outbox.append({"idem": "r1:0:notice", "run_id": "r1", "kind": "notice", "state": "sent"})
    found.shown[:1] = [{"idem": "r1:0:notice", "target": "ada", "text": NOTICE}]


def test_right_facts_pass() -> None:
    assert judge(facts(), "plain", MESSAGES) == []
    told = facts()
    unknown(told)
    assert judge(told, "plain", MESSAGES) == []


def doubted(change: Callable[[Facts], None]) -> Callable[[Facts], None]:
    def both(found: Facts) -> None:
        unknown(found)
        change(found)

    return both


BROKEN: list[tuple[str, Callable[[Facts], Any]]] = [
    ("lost", lambda f: f.shown.pop()),
    ("lost", lambda f: f.outbox.pop()),
    ("lost", lambda f: f.inbox.pop()),
    ("lost", lambda f: f.outbox[0].update(state="failed")),
    ("doubled", lambda f: f.shown.append(f.shown[0])),
    ("foreign", lambda f: f.shown.append({"idem": "x", "target": "ada", "text": "x"})),
    ("wrong", lambda f: f.shown[1].update(text="said delta")),
    ("order", lambda f: f.shown.reverse()),
    ("lost", doubted(lambda f: f.shown.pop(0))),
    ("lost", doubted(lambda f: f.outbox.pop())),
    ("notice", doubted(lambda f: f.shown[0].update(text="sorry"))),
    ("notice", doubted(lambda f: f.lives[0].append("outbox.sent"))),
    ("notice", doubted(lambda f: f.shown.append(f.shown[0]))),
    ("notice", doubted(lambda f: f.outbox[0].update(state="sent"))),
    ("count", lambda f: f.inbox[1].update(state="running")),
    ("count", lambda f: f.inbox[1].update(state="dead")),
    ("count", lambda f: f.inbox[1].update(ord=3)),
    ("stuck", lambda f: f.runs[0].update(held=1)),
    ("stuck", lambda f: f.tasks.append({"task_id": "t", "status": "running"})),
    ("effect", lambda f: f.effects.append({"call": "c1", "value": "beta"})),
    ("effect", lambda f: f.effects.append({"call": "c2", "value": "alpha"})),
    ("effect", lambda f: f.effects.append({"call": "c9", "value": "beta"})),
    ("effect", lambda f: f.effects.clear()),
    ("request", lambda f: f.requests[0].update(wrong="no")),
    ("request", lambda f: f.requests[1].update(users=["say gamma"])),
    ("torn", lambda f: f.files.update(s=f.files["s"][:-1])),
    ("torn", lambda f: f.files.update(s=f.files["s"].replace(b'"role"', b'"ro', 1))),
    ("torn", lambda f: f.files.update(packed(lines()[1:]))),
]


@pytest.mark.parametrize(("kind", "change"), BROKEN, ids=[f"{n}-{kind}" for n, (kind, _) in enumerate(BROKEN)])
def test_one_broken_promise_is_named(kind: str, change: Callable[[Facts], Any]) -> None:
    found = deepcopy(facts())
    change(found)
    assert kind in {v.split(":")[0] for v in judge(found, "plain", MESSAGES)}


def test_a_doubt_on_an_idempotent_channel_is_named() -> None:
    found = facts()
    unknown(found)
    assert any(v.startswith("notice") for v in judge(found, "idempotent", MESSAGES))


@pytest.mark.parametrize("number", range(1, 7))
def test_a_line_that_is_missing_or_doubled_is_named(number: int) -> None:
    whole = lines()
    for changed in (whole[:number] + whole[number + 1 :], whole[: number + 1] + whole[number:]):
        found = replace(facts(), files=packed(changed))
        assert any(v.startswith("transcript") for v in judge(found, "plain", MESSAGES))


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [SYSTEM, USER, SYSTEM],
        [SYSTEM, USER, {"role": "assistant", "content": "hello"}],
        [SYSTEM, USER, ASKS],
        [SYSTEM, USER, ASKS, USER],
        [SYSTEM, USER, RESULT],
        [SYSTEM, USER, ASKS, RESULT, RESULT],
        [SYSTEM, USER, ASKS, RESULT, ASKS, RESULT],
        [SYSTEM, USER, {"role": "assistant", "content": ""}, USER],
        [SYSTEM, USER, {"role": "assistant", "content": "x", "tool_calls": []}, USER],
        [SYSTEM, {"role": "user", "content": ""}],
    ],
)
def test_the_model_refuses_what_the_format_forbids(messages: list[dict[str, Any]]) -> None:
    assert violation({"stream": True, "messages": messages})
    assert not violation({"stream": True, "messages": [SYSTEM, USER, ASKS, RESULT]})


@pytest.mark.slow
def test_a_channel_that_acknowledges_first_loses_a_message(tmp_path: Path, launcher: Launcher) -> None:
    sweep = Sweep(tmp_path, launcher)
    verdict = sweep.play([Plan(flavour="plain", script="one", wrong="ack-first", crash=("sweep.offered#1",))])[0]
    assert any(v.startswith(("lost", "count")) for v in verdict.violations)


@pytest.mark.slow
def test_a_channel_that_sends_twice_doubles_a_reply(tmp_path: Path, launcher: Launcher) -> None:
    install(tmp_path / "distributions")
    found = {}
    for flavour in ("plain", "idempotent"):
        plan = Plan(flavour=flavour, script="one", wrong="send-twice")
        found[flavour] = play(plan, tmp_path / flavour, launcher, tmp_path / "distributions").violations
    assert any(v.startswith("doubled") for v in found["plain"])
    assert found["idempotent"] == []

"""A kill while a tool runs, and the same request after a kill."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from crashsweep.caller import ask
from crashsweep.chat import Message
from crashsweep.home import Home, install, points
from crashsweep.judge import collect, effects, judge, transcripts
from crashsweep.launcher import Launcher
from crashsweep.sweep import WORKERS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
TWO = Message("e1", "ada", "two alpha")
GO = [Message("e2", "ada", "go one"), Message("e3", "ada", "go two"), Message("e4", "ada", "go three")]


@pytest.fixture
def distributions(tmp_path: Path) -> Path:
    install(tmp_path / "distributions")
    return tmp_path / "distributions"


@pytest.mark.parametrize("point", ["sweep.effect.before", "sweep.effect.after"])
def test_killed_during_the_second_of_two_tools(
    tmp_path: Path, launcher: Launcher, distributions: Path, point: str
) -> None:
    """sess-02: one closing result for the cut call, over all requests and in the file; the tool is not run again."""
    rehearsal = Home(tmp_path / "rehearsal", launcher, distributions, flavour="idempotent")
    home = Home(tmp_path / "home", launcher, distributions, flavour="idempotent")
    try:
        rehearsal.chat.offer(TWO)
        life = rehearsal.start()
        assert rehearsal.wait(rehearsal.settled)
        assert life.passages.count(point) == 2

        home.chat.offer(TWO)
        life = home.start(crash_at=f"{point}#2")
        assert home.wait(lambda: life.process.dead)
        assert life.killed
        home.chat.offer(*GO[:2])
        life = home.start()
        assert home.wait(home.settled)
        life.process.kill()
        home.chat.offer(GO[2])
        home.start()
        assert home.wait(home.settled)
        facts = collect(home)
    finally:
        rehearsal.close()
        home.close()
    assert judge(facts, "idempotent", [TWO, *GO]) == []
    assert [r["last"] for r in facts.requests if r["role"] == "tool"] == ["two alpha"]
    assert [e["text"] for e in facts.shown] == ["done alpha (uncertain)", "said one", "said two", "said three"]
    (data,) = facts.files.values()
    results = [json.loads(x)["message"] for x in data.splitlines() if b'"role":"toolResult"' in x]
    assert [r["isError"] for r in results] == [False, True]
    assert "interrupted" in results[1]["content"][0]["text"]
    assert len(facts.effects) == (2 if point.endswith("after") else 1)


def test_the_same_key_never_starts_a_second_run(tmp_path: Path, launcher: Launcher, distributions: Path) -> None:
    """A client asks, the gateway dies at a point, the client asks again with the same key: one run, one task."""
    whole = _asked(Home(tmp_path / "whole", launcher, distributions, flavour="plain"), "")
    assert len(whole) > 20

    def at(point: str) -> None:
        _asked(Home(tmp_path / point, launcher, distributions, flavour="plain"), point)

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(at, points(whole)))


def _asked(home: Home, crash_at: str) -> list[str]:
    """Ask a gateway that dies, ask its successor the same; the passages of the first life."""
    params = {"message": "do alpha", "sessionKey": "rpc", "idempotencyKey": "key-1"}
    try:
        life = home.start(crash_at=crash_at)
        ready = life.process.ready()
        first = ask(ready["url"], home.state, params) if ready is not None else None
        assert first is not None or crash_at
        life.process.kill()
        ready = home.start().process.ready()
        assert ready is not None
        got = ask(ready["url"], home.state, params)
        assert got is not None
        assert home.wait(home.settled)
        facts = collect(home)
    finally:
        home.close()
    broken = [*effects(facts), *transcripts(facts, [Message("", "", "do alpha")])]
    assert broken == [], crash_at
    assert got["final"]["ok"], got
    assert first is None or first["final"] == got["final"]
    unsure = any(row["state"] == "interrupted" for row in facts.steps)
    text = got["final"]["payload"]["result"]["payloads"][0]["text"]
    assert text == ("done alpha (uncertain)" if unsure else "done alpha")
    assert [(t["run_id"], t["status"]) for t in facts.tasks] == [("key-1", "succeeded")]
    assert [(r["run_id"], r["status"]) for r in facts.runs] == [("key-1", "ok")]
    assert len(facts.inbox) == 1
    return facts.lives[0]

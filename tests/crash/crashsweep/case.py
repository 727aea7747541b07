"""One case: offer messages, let the gateway die where it is told to, start it again, judge."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from crashsweep.chat import Message
from crashsweep.home import Home
from crashsweep.judge import collect, judge, sends_open
from crashsweep.launcher import Launcher

MESSAGES = (
    Message("e1", "ada", "do alpha"),
    Message("e2", "bob", "say beta"),
    Message("e3", "ada", "say gamma"),
)
"""Three messages in two conversations, one with a tool."""
FAILING = (Message("e1", "ada", "fail alpha"), Message("e2", "ada", "say beta"))
"""A run that the provider refuses, and one after it."""
ONE = (Message("e1", "ada", "say alpha"),)
SCRIPTS = {"work": MESSAGES, "fail": FAILING, "one": ONE}
SETTLE_S = 30.0
LAST_POINTS_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to play. `crash`: the point (``name#k``) at which each life dies; the life after the last is left alone."""

    flavour: str
    crash: tuple[str, ...] = ()
    full_at: str = ""
    script: str = "work"
    wrong: str = ""
    real: bool = False

    def __str__(self) -> str:
        mark = f"full@{self.full_at}" if self.full_at else "+".join(self.crash) or "none"
        return f"{self.script}/{self.flavour}/{mark}"


@dataclass(slots=True, kw_only=True)
class Verdict:
    """What became of a case."""

    plan: Plan
    kills: list[str] = field(default_factory=list)
    """The point of each kill."""
    windows: int = 0
    """Kills while a send was under way."""
    passages: list[list[str]] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    notices: int = 0
    seconds: float = 0.0


def play(plan: Plan, folder: Path, launcher: Launcher, distributions: Path) -> Verdict:
    """Play and judge one case."""
    began = time.monotonic()
    home = Home(folder, launcher, distributions, flavour=plan.flavour, wrong=plan.wrong)
    verdict = Verdict(plan=plan)
    try:
        messages = SCRIPTS[plan.script]
        home.chat.offer(*messages)
        if live(home, plan, verdict):
            facts = collect(home)
            home.lives[-1].process.kill()
            verdict.notices = sum(row["kind"] == "notice" for row in facts.outbox)
            verdict.violations += judge(facts, plan.flavour, messages)
    finally:
        home.close()
        verdict.seconds = time.monotonic() - began
    return verdict


def live(home: Home, plan: Plan, verdict: Verdict) -> bool:
    """All lives of a case; False when it did not come to rest."""
    for crash_at in (*plan.crash, ""):
        life = home.start(crash_at=crash_at, full_at=plan.full_at, real=plan.real)
        rest = home.wait(lambda now=life: now.process.dead or home.settled(), seconds=SETTLE_S)  # type: ignore[misc]  # bound now
        if crash_at and rest:  # the last points come after the last write: the journal is at rest before them
            home.wait(lambda now=life: now.process.dead, seconds=LAST_POINTS_S)  # type: ignore[misc]  # bound now
        verdict.passages.append(life.passages)
        if life.killed:
            verdict.kills.append(life.killed)
            verdict.windows += sends_open(life.passages)
            continue
        if life.process.dead:
            verdict.violations.append("the gateway ended by itself; see stderr.log")
        elif not rest:
            verdict.violations.append(f"not at rest after {SETTLE_S:g} s: {open_rows(home)}")
        else:
            return True
        return False
    raise AssertionError("the last life is never told to die")


def open_rows(home: Home) -> str:
    """What is left to do, in words."""
    inbox = [(r["event_key"], r["state"], r["attempt"]) for r in home.rows("inbox")]
    outbox = [(r["idem"][-12:], r["kind"], r["state"], r["attempt"]) for r in home.rows("outbox")]
    held = [r["run_id"] for r in home.rows("runs") if r["held"]]
    return f"inbox {inbox}, outbox {outbox}, held {held}, acked {home.chat.all_acked()}"

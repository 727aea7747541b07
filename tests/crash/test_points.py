"""SIGKILL at every point, and at pairs of a point and a point of the recovery: nothing is lost, doubled or torn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from crashsweep.case import Plan, Verdict
from crashsweep.launcher import Launcher
from crashsweep.sweep import FLAVOURS, Sweep, around_send, failures, full_disks, pairs, singles, spread, summary

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
KILLS: list[int] = []
AT_LEAST = 200


@pytest.fixture
def sweep(tmp_path: Path, launcher: Launcher) -> Sweep:
    return Sweep(tmp_path, launcher)


@pytest.fixture(autouse=True)
def report(capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> Iterator[list[Verdict]]:
    """What a test appends is counted and summed up in one line."""
    verdicts: list[Verdict] = []
    yield verdicts
    KILLS.append(sum(len(v.kills) for v in verdicts))
    with capsys.disabled():
        print(f"\n{request.node.name}: {summary(verdicts)}")


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_kill_at_every_point(sweep: Sweep, report: list[Verdict], flavour: str) -> None:
    base = Plan(flavour=flavour)
    passages = sweep.recording(base)
    report += sweep.play(singles(base, passages))
    assert failures(report) == []
    missed = [v.plan for v in report if not v.kills]
    assert all("store.audit" in str(plan) for plan in missed), missed  # events are gathered: batches vary
    if flavour == "idempotent":
        assert sum(v.notices for v in report) == 0


@pytest.mark.parametrize(("flavour", "count"), [("plain", 1000), ("idempotent", 24)])
def test_a_second_kill_while_the_first_send_is_settled(
    sweep: Sweep, report: list[Verdict], flavour: str, count: int
) -> None:
    """Every pair in which both kills lie around a send: marked, sent, not recorded; doubted, told, not recorded."""
    base = Plan(flavour=flavour, script="one")
    passages = sweep.recording(base)
    first = [plan for plan in singles(base, passages) if around_send(plan.crash[0])]
    report += sweep.play(first)
    report += sweep.play(spread(list(pairs(report, sending=True)), count))
    assert failures(report) == []
    assert any(len(v.kills) == 2 for v in report)


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_second_kill_anywhere(sweep: Sweep, report: list[Verdict], flavour: str) -> None:
    """A sample of the whole matrix, evenly spread; `make sweep` plays all of it."""
    base = Plan(flavour=flavour)
    passages = sweep.recording(base)
    report += sweep.play(spread(singles(base, passages), 4))
    report += sweep.play(spread(list(pairs(report)), 12))
    assert failures(report) == []


def test_a_failed_run_is_told_although_the_gateway_dies(sweep: Sweep, report: list[Verdict]) -> None:
    """The provider refuses the first message; from there to the end of the run a kill comes at each point."""
    base = Plan(flavour="plain", script="fail")
    passages = sweep.recording(base)
    begin, end = passages.index("run.user_line"), passages.index("run.finish.after")
    report += sweep.play(singles(base, passages)[begin : end + 1])
    assert failures(report) == []


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_a_full_disk_at_points(sweep: Sweep, report: list[Verdict], flavour: str) -> None:
    """One write fails; the gateway goes on by itself, and everything is answered."""
    base = Plan(flavour=flavour)
    passages = sweep.recording(base)
    plans = full_disks(base, passages)
    held = [
        plan for plan in plans if plan.full_at in ("run.locked#1", "run.finish.before#1", "run.answer.before_store#1")
    ]
    report += sweep.play([*held, *spread([plan for plan in plans if plan not in held], 20)])
    assert failures(report) == []


def test_the_real_command_passes_the_same_points(sweep: Sweep, report: list[Verdict]) -> None:
    """The gateways of the sweep are forked from a process that has everything imported; these are not."""
    plans = [
        Plan(flavour="plain", real=real, crash=crash)
        for real, crash in ((True, ()), (False, ()), (True, ("run.tool.after#1",)))
    ]
    report += sweep.play(plans)
    assert failures(report) == []
    assert set(report[0].passages[0]) == set(report[1].passages[0])
    assert len(report[2].kills) == 1


def test_enough_kills() -> None:
    assert len(KILLS) < 9 or sum(KILLS) >= AT_LEAST

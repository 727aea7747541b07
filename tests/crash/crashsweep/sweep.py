"""Many cases: which ones, two at a time, and what they come to."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from crashsweep.case import Plan, Verdict, play
from crashsweep.home import install, points
from crashsweep.launcher import Launcher

FLAVOURS = ("idempotent", "plain")
WORKERS = 2
_IN_NAMES = str.maketrans("/#", "_-")
_SENDING = ("outbox.", "sweep.send.", "store.outbox_mark.")


class Sweep:
    """Plays plans in a folder; the folders of cases without a violation are removed."""

    def __init__(self, folder: Path, launcher: Launcher) -> None:
        self._folder = folder
        self._launcher = launcher
        self._distributions = folder / "distributions"
        install(self._distributions)
        self._number = 0

    def play(self, plans: Iterable[Plan], each: Callable[[Verdict], None] | None = None) -> list[Verdict]:
        """All verdicts in the order of the plans; `each` is called as they come."""

        def one(numbered: tuple[int, Plan]) -> Verdict:
            number, plan = numbered
            folder = self._folder / f"case-{number:05}-{plan}".translate(_IN_NAMES)
            verdict = play(plan, folder, self._launcher, self._distributions)
            if not verdict.violations:
                shutil.rmtree(folder)
            if each is not None:
                each(verdict)
            return verdict

        start = self._number
        numbered = list(enumerate(plans, start))
        self._number += len(numbered)
        with ThreadPoolExecutor(WORKERS) as pool:
            return list(pool.map(one, numbered))

    def recording(self, plan: Plan) -> list[str]:
        """The passages of a whole life without a kill."""
        verdict = self.play([plan])[0]
        assert not verdict.violations, verdict.violations
        return verdict.passages[0]


def singles(base: Plan, passages: Sequence[str]) -> list[Plan]:
    """A kill at every passage."""
    return [replace(base, crash=(point,)) for point in points(passages)]


def full_disks(base: Plan, passages: Sequence[str]) -> list[Plan]:
    """No space at every passage, once."""
    return [replace(base, full_at=point) for point in points(passages)]


def around_send(name: str) -> bool:
    """Whether a point lies between the first mark of a part and the record of its outcome."""
    return name.startswith(_SENDING)


def pairs(verdicts: Iterable[Verdict], *, sending: bool = False) -> Iterator[Plan]:
    """A kill at every passage of each recovery; with `sending`, only where both lie around a send."""
    for verdict in verdicts:
        if not verdict.kills or len(verdict.passages) < 2:
            continue
        if sending and not around_send(verdict.kills[0]):
            continue
        for point in points(verdict.passages[-1]):
            if not sending or around_send(point):
                yield replace(verdict.plan, crash=(*verdict.plan.crash, point))


def spread(plans: Sequence[Plan], count: int) -> list[Plan]:
    """So many of them, evenly spread."""
    if len(plans) <= count:
        return list(plans)
    return [plans[i * len(plans) // count] for i in range(count)]


def failures(verdicts: Iterable[Verdict]) -> list[str]:
    """Each broken case with where it was killed and what was broken."""
    return [f"{v.plan} killed at {v.kills}: {w}" for v in verdicts for w in v.violations]


def summary(verdicts: Sequence[Verdict]) -> str:
    """One line."""
    kills = sum(len(v.kills) for v in verdicts)
    kinds = Counter(w.split(":")[0] for v in verdicts for w in v.violations)
    found = ", ".join(f"{kind} {number}" for kind, number in sorted(kinds.items())) or "no violation"
    notices = sum(v.notices for v in verdicts)
    return f"{len(verdicts)} cases, {kills} SIGKILLs, {notices} notices, {found}"


def remembered(path: Path) -> dict[str, Verdict]:
    """Verdicts of an earlier, interrupted sweep, by plan."""
    out: dict[str, Verdict] = {}
    if path.exists():
        for line in path.read_text().splitlines():
            data = json.loads(line)
            plan = Plan(crash=tuple(data.pop("crash")), **data.pop("plan"))
            out[str(plan)] = Verdict(plan=plan, **data)
    return out


def remember(path: Path, verdict: Verdict) -> None:
    """Store a verdict for `remembered`."""
    plan = verdict.plan
    row = {
        "plan": {"flavour": plan.flavour, "script": plan.script, "full_at": plan.full_at},
        "crash": plan.crash,
        "kills": verdict.kills,
        "windows": verdict.windows,
        "passages": verdict.passages if len(plan.crash) == 1 else [],  # of these, pairs are made
        "violations": verdict.violations,
        "notices": verdict.notices,
        "seconds": round(verdict.seconds, 2),
    }
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")

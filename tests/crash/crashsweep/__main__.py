"""The whole matrix: every point, every pair, every full disk, for all scripts and both kinds of channel.

``make sweep`` runs it. It takes hours, writes each verdict to a file as it comes, and goes on from there when it
is started again. The last line sums up; the exit status is 1 when a promise was broken.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from crashsweep.case import SCRIPTS, Plan, Verdict
from crashsweep.launcher import Launcher
from crashsweep.sweep import FLAVOURS, Sweep, failures, full_disks, pairs, remember, remembered, singles, summary

_BATCH = 64


def main() -> int:
    """Run what is left of the matrix."""
    parser = argparse.ArgumentParser(prog="make sweep SWEEP_ARGS='...'", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/sweep"), help="results and what broken cases left")
    parser.add_argument("--limit", type=int, default=0, help="stop after so many cases")
    parser.add_argument("--script", choices=sorted(SCRIPTS), help="only this script")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    results = args.folder / "results.jsonl"
    known = remembered(results)
    left = args.limit or sys.maxsize
    with Launcher() as launcher:
        sweep = Sweep(args.folder / f"cases-{time.strftime('%Y%m%d-%H%M%S')}", launcher)
        for script in [args.script] if args.script else ["one", "fail", "work"]:
            for flavour in FLAVOURS:
                base = Plan(flavour=flavour, script=script)
                passages = sweep.recording(base)
                left -= play(sweep, singles(base, passages), known, results, left)
                left -= play(sweep, full_disks(base, passages), known, results, left)
                first = [v for v in known.values() if alike(v.plan, base)]
                left -= play(sweep, pairs(first), known, results, left)
    for line in failures(known.values()):
        print(line)
    print(summary(list(known.values())))
    return 1 if any(v.violations for v in known.values()) else 0


def alike(plan: Plan, base: Plan) -> bool:
    """Whether a plan is a single kill of the same script and flavour."""
    return len(plan.crash) == 1 and (plan.script, plan.flavour) == (base.script, base.flavour)


def play(sweep: Sweep, plans: Iterable[Plan], known: dict[str, Verdict], results: Path, left: int) -> int:
    """Play those that are not known yet, in batches; how many that were."""
    missing = islice((plan for plan in plans if str(plan) not in known), max(0, left))
    played = 0
    while batch := list(islice(missing, _BATCH)):
        for verdict in sweep.play(batch):
            remember(results, verdict)
            known[str(verdict.plan)] = verdict
        played += len(batch)
        print(f"{batch[-1]}: {summary(list(known.values()))}", flush=True)
    return played


if __name__ == "__main__":
    sys.exit(main())

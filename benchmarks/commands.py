"""Command line and start-up costs against their limits: CPU seconds of the whole process, median of several runs."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from processes import OPENCLAW, Server, cpu_of, rss_of, run
from turns import config, gateway_load

RUNS = 7


def plugins(folder: Path, count: int = 40) -> str:
    """A folder with `count` more distributions, to be put on PYTHONPATH."""
    for number in range(count):
        info = folder / f"bench_plugin_{number}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: bench-plugin-{number}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[openclaw.tools]\nbench{number} = bench_plugin_{number}.plugin\n")
    return str(folder)


def line(name: str, value: float, limit: float, unit: str) -> None:
    note = "" if value <= limit else "   OVER"
    print(f"{name:44} {value:8.3f} {unit:6} limit {limit:g} ({value / limit:.2f} of it){note}")


def median(command: list[str], env: dict[str, str]) -> tuple[float, float]:
    costs = [run(command, env=env) for _ in range(RUNS)]
    assert all(c.status == 0 for c in costs), command
    return statistics.median(c.cpu for c in costs), statistics.median(c.peak for c in costs)


def peers(env: dict[str, str]) -> None:
    """What the same first command costs with peers that are installed (OPENCLAW_PEERS: their bin folders)."""
    ours = median([str(OPENCLAW), "--help"], env)[0]
    folders = os.environ.get("OPENCLAW_PEERS", "")
    for name in ("llm", "nanobot", "hermes", "qwenpaw", "pyclaw"):
        found = shutil.which(name, path=f"{folders}:{os.environ.get('PATH', '')}")
        if found:
            theirs = median([found, "--help"], {})[0]
            print(f"{'--help, ' + name:44} {theirs:8.3f} CPU s  ours {ours:.3f} ({ours / theirs:.2f} of it)")


def transcript(folder: Path, env: dict[str, str], lines: int) -> None:
    """Grow the session `long` to about `lines` lines."""
    run([str(OPENCLAW), "agent", "--local", "--session-key", "long", "--message", "first"], env=env)
    file = next((folder / "state" / "agents" / "main" / "sessions").glob("*.jsonl"))
    rows = [json.loads(text) for text in file.read_text().splitlines()]
    user, assistant = rows[1], rows[2]
    parent = rows[-1]["id"]
    with file.open("a") as out:
        for number in range((lines - len(rows)) // 2):
            for kind, row in (("u", user), ("a", assistant)):
                ident = f"{kind}{number:015x}"
                out.write(json.dumps({**row, "id": ident, "parentId": parent}) + "\n")
                parent = ident


def main() -> None:
    here = Path(__file__).parent
    with tempfile.TemporaryDirectory() as folder, Server([sys.executable, str(here / "model_server.py")]) as model:
        base = Path(folder)
        env = {
            "OPENCLAW_STATE_DIR": str(base / "state"),
            "OPENCLAW_CONFIG_PATH": str(config(base, int(model.first))),
            "PYTHONPATH": plugins(base / "forty"),
        }
        bare = statistics.median(run([sys.executable, "-c", "pass"]).cpu for _ in range(RUNS))
        print(f"{'yardstick: python -c pass':44} {bare:8.3f} CPU s")
        line("--version", median([str(OPENCLAW), "--version"], env)[0], 0.03, "CPU s")
        line("plugins list, 40 more plugins", median([str(OPENCLAW), "plugins", "list"], env)[0], 0.12, "CPU s")
        peers(env)
        turn = [str(OPENCLAW), "agent", "--local", "--session-key", "short", "--message", "hello", "--json"]
        cpu, peak = median(turn, env)
        line("one local turn", cpu, 0.5, "CPU s")
        line("one local turn, peak", peak, 70, "MiB")
        transcript(base, env, 10_000)
        long_cpu, _ = median([*turn[:4], "long", *turn[5:]], env)
        line("local turn, 10,000 lines against 10", long_cpu / cpu, 1.2, "ratio")
        with Server([str(OPENCLAW), "gateway", "run", "--port", "0", "--json"], env=env) as gateway:
            line("gateway to ready", cpu_of(gateway.pid), 1.0, "CPU s")
            port = json.loads(gateway.first)["port"]
            before = cpu_of(gateway.pid)
            time.sleep(5)  # idle on purpose: this measures what happens when nothing happens
            line("gateway idle", rss_of(gateway.pid), 80, "MiB")
            print(f"{'gateway idle':44} {(cpu_of(gateway.pid) - before) / 5 * 100:8.2f} % of one core")
            asyncio.run(gateway_load(port, 500, 50))
            line("gateway after 500 turns", rss_of(gateway.pid), 110, "MiB")


if __name__ == "__main__":
    main()

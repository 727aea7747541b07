"""Turns without end: does memory grow, does a turn get dearer? Prints a line a minute."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

from processes import OPENCLAW, Server, cpu_of, rss_of
from turns import config, gateway_load

MINUTES = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0


def main() -> None:
    here = Path(__file__).parent
    with tempfile.TemporaryDirectory() as folder, Server([sys.executable, str(here / "model_server.py")]) as model:
        base = Path(folder)
        env = {"OPENCLAW_STATE_DIR": str(base / "state"), "OPENCLAW_CONFIG_PATH": str(config(base, int(model.first)))}
        with Server([str(OPENCLAW), "gateway", "run", "--port", "0", "--json"], env=env) as gateway:
            port = json.loads(gateway.first)["port"]
            end = time.monotonic() + MINUTES * 60
            while time.monotonic() < end:
                minute, turns, before = time.monotonic() + 60, 0, cpu_of(gateway.pid)
                while time.monotonic() < min(minute, end):
                    asyncio.run(gateway_load(port, 250, 50))
                    turns += 250
                cpu = (cpu_of(gateway.pid) - before) / turns * 1000
                print(f"{turns:6} turns  {cpu:6.2f} ms CPU/turn  {rss_of(gateway.pid):6.1f} MiB", flush=True)


if __name__ == "__main__":
    main()

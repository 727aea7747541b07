"""Durable turns through the gateway against the floor: CPU a turn, turns a second, 50 sessions."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
import uuid
from pathlib import Path

from processes import OPENCLAW, Server, cpu_of, rss_of
from websockets.asyncio.client import connect

TURNS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
SESSIONS = 50


def config(folder: Path, port: int) -> Path:
    path = folder / "openclaw.json"
    provider = {
        "baseUrl": f"http://127.0.0.1:{port}/v1",
        "api": "openai-completions",
        "models": [{"id": "free", "contextWindow": 200000}],
    }
    data = {
        "gateway": {"auth": {"token": "bench-token"}},
        "models": {"providers": {"free": provider}},
        "agents": {"defaults": {"model": "free/free", "workspace": str(folder / "ws")}},
    }
    path.write_text(json.dumps(data))
    return path


async def gateway_load(port: int, turns: int, sessions: int) -> float:
    async with connect(f"ws://127.0.0.1:{port}", max_size=None, proxy=None) as socket:
        await socket.recv()
        params = {"minProtocol": 3, "maxProtocol": 4, "auth": {"token": "bench-token"}, "client": {"id": "bench"}}
        await socket.send(json.dumps({"type": "req", "id": "0", "method": "connect", "params": params}))
        await socket.recv()
        left, sent, begun = turns, 0, time.perf_counter()

        async def send(session: int) -> None:
            nonlocal sent
            sent += 1
            key = f"agent:main:bench-{session}"
            params = {"message": f"hello {sent}", "sessionKey": key, "idempotencyKey": str(uuid.uuid4())}
            await socket.send(
                json.dumps({"type": "req", "id": f"{session}:{sent}", "method": "agent", "params": params})
            )

        for session in range(sessions):
            await send(session)
        while left:
            frame = json.loads(await socket.recv())
            if frame["type"] != "res" or frame.get("payload", {}).get("status") in ("accepted", "in_flight"):
                continue
            if not frame["ok"]:
                raise SystemExit(f"a turn failed: {frame['error']}")
            left -= 1
            if sent < turns:
                await send(int(frame["id"].split(":")[0]))
        return time.perf_counter() - begun


async def floor_load(port: int, turns: int, sessions: int) -> float:
    async with connect(f"ws://127.0.0.1:{port}", proxy=None) as socket:
        begun, sent = time.perf_counter(), 0
        for session in range(sessions):
            await socket.send(json.dumps({"id": f"{session}:{sent}", "session": f"s{session}"}))
            sent += 1
        for _ in range(turns):
            frame = json.loads(await socket.recv())
            if sent < turns:
                session = frame["id"].split(":")[0]
                await socket.send(json.dumps({"id": f"{session}:{sent}", "session": f"s{session}"}))
                sent += 1
        return time.perf_counter() - begun


def measure(name: str, server: Server, load: object, port: int, turns: int) -> tuple[float, float]:
    asyncio.run(load(port, 100, SESSIONS))  # warm
    before = cpu_of(server.pid)
    wall = asyncio.run(load(port, turns, SESSIONS))
    cpu = (cpu_of(server.pid) - before) / turns * 1000
    print(f"{name:24} {cpu:7.2f} ms CPU/turn  {turns / wall:7.1f} turns/s  {rss_of(server.pid):6.1f} MiB")
    return cpu, turns / wall


def serial(server: Server, load: object, port: int, name: str, turns: int = 200) -> None:
    before = cpu_of(server.pid)
    wall = asyncio.run(load(port, turns, 1))
    cpu = (cpu_of(server.pid) - before) / turns * 1000
    print(f"{name:24} {cpu:7.2f} ms CPU/turn  {turns / wall:7.1f} turns/s")


def main() -> None:
    here = Path(__file__).parent
    with tempfile.TemporaryDirectory() as folder, Server([sys.executable, str(here / "model_server.py")]) as model:
        port = int(model.first)
        base = Path(folder)
        url = f"http://127.0.0.1:{port}/v1/chat/completions"
        with Server([sys.executable, str(here / "floor.py"), folder, url]) as floor:
            floor_cpu, _ = measure("floor, 50 sessions", floor, floor_load, int(floor.first), TURNS)
            serial(floor, floor_load, int(floor.first), "floor, one session")
        env = {"OPENCLAW_STATE_DIR": str(base / "state"), "OPENCLAW_CONFIG_PATH": str(config(base, port))}
        with Server([str(OPENCLAW), "gateway", "run", "--port", "0", "--json"], env=env) as gateway:
            where = json.loads(gateway.first)["port"]
            cpu, rate = measure("gateway, 50 sessions", gateway, gateway_load, where, TURNS)
            serial(gateway, gateway_load, where, "gateway, one session")
        print(
            f"ratio to the floor: {cpu / floor_cpu:.2f} (limit 2.5); CPU {cpu:.2f} ms (limit 8); {rate:.0f}/s (limit 120)"
        )


if __name__ == "__main__":
    main()

"""The floor of a durable turn: only what cannot be left out.

One streamed httpx request, five journal commits and two transcript flushes on one writer thread with group
commit, one WebSocket frame each way. No sessions, no prompt, no plugins, no checks.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import sqlite3
import sys
import threading

import httpx
import websockets
from websockets.asyncio.server import serve

COMMITS = (
    "INSERT OR REPLACE INTO inbox VALUES (?, ?)",
    "UPDATE inbox SET body = body || ? WHERE id = ?",
    "UPDATE inbox SET body = body || ? WHERE id = ?",
)


class Writer:
    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.jobs: queue.Queue = queue.Queue(10_000)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        db = sqlite3.connect(os.path.join(self.folder, "floor.sqlite"), isolation_level=None)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        db.execute("CREATE TABLE IF NOT EXISTS inbox (id TEXT PRIMARY KEY, body TEXT)")
        files: dict[str, int] = {}
        while True:
            batch = [self.jobs.get()]
            while True:
                try:
                    batch.append(self.jobs.get_nowait())
                except queue.Empty:
                    break
            sql = [job for job in batch if job[0] == "sql"]
            if sql:
                db.execute("BEGIN IMMEDIATE")
                for _, statement, values, _, _ in sql:
                    db.execute(statement, values)
                db.execute("COMMIT")
            for kind, name, line, _, _ in batch:
                if kind == "line":
                    fd = files.get(name)
                    if fd is None:
                        fd = files[name] = os.open(
                            os.path.join(self.folder, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600
                        )
                    os.write(fd, line)
                    os.fdatasync(fd)
            batch[0][3].call_soon_threadsafe(lambda done=[b[4] for b in batch]: [f.set_result(None) for f in done])

    async def do(self, kind: str, first: object, second: object) -> None:
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self.jobs.put((kind, first, second, loop, future))
        await future


async def main(folder: str, model_url: str) -> None:
    writer = Writer(folder)
    client = httpx.AsyncClient(timeout=None, trust_env=False)
    body = json.dumps({"model": "free", "stream": True, "messages": [{"role": "user", "content": "hello " * 400}]})

    async def turn(ident: str, session: str) -> str:
        await writer.do("sql", COMMITS[0], (ident, "x" * 300))
        await writer.do("sql", COMMITS[1], ("y", ident))
        await writer.do("line", session, b"x" * 200 + b"\n")
        text = []
        async with client.stream("POST", model_url, content=body) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: {"):
                    for choice in json.loads(line[6:])["choices"]:
                        text.append(choice["delta"].get("content") or "")
        await writer.do("line", session, b"y" * 400 + b"\n")
        await writer.do("sql", COMMITS[2], ("z" * 300, ident))
        return "".join(text)

    async def client_of(socket: websockets.ServerConnection) -> None:
        running = set()

        async def one(frame: dict) -> None:
            answer = await turn(frame["id"], frame["session"])
            await socket.send(json.dumps({"id": frame["id"], "text": answer}))

        async for message in socket:
            task = asyncio.get_running_loop().create_task(one(json.loads(message)))
            running.add(task)
            task.add_done_callback(running.discard)

    async with serve(client_of, "127.0.0.1", 0) as server:
        print(next(iter(server.sockets)).getsockname()[1], flush=True)
        await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))

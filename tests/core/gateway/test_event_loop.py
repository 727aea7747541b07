"""Nothing blocks the event loop: files, databases, names and processes are the business of threads."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from openclaw_core.testing.harness import GatewayHarness

BLOCKING = ("open", "os.listdir", "os.scandir", "os.rename", "os.remove", "sqlite3.connect", "fcntl.flock")
FORBIDDEN = (*BLOCKING, "socket.getaddrinfo", "subprocess.Popen", "time.sleep", "shutil.copyfile")
ROOT = Path(__file__).resolve().parents[3]
OURS = (f"{ROOT}/openclaw_core/", f"{ROOT}/plugins/")


class Watch:
    """Notes what the watched thread does while it is on; an audit hook cannot be taken off again."""

    def __init__(self) -> None:
        self.thread: int | None = None
        self.seen: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.thread is None or event not in FORBIDDEN or threading.get_ident() != self.thread:
            return
        frame = sys._getframe(1)
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith(OURS):
                self.seen.append(f"{event} {arguments[:1]} from {name}:{frame.f_lineno}")
                return
            if "importlib" in name:
                return  # a module is loaded once
            frame = frame.f_back


WATCH = Watch()


@contextmanager
def watching() -> Iterator[list[str]]:
    """What this thread does inside."""
    WATCH.seen = []
    WATCH.thread = threading.get_ident()
    try:
        yield WATCH.seen
    finally:
        WATCH.thread = None


async def test_turns_leave_the_loop_alone(tmp_path: Path) -> None:
    async with GatewayHarness(tmp_path / "state") as gateway:
        gateway.paths.workspace.mkdir(exist_ok=True)
        (gateway.paths.workspace / "notes.md").write_text("a line\n")
        await gateway.say("read notes.md")  # imports and first connections
        with watching() as seen:
            for number in range(3):
                outcome = await gateway.say("read notes.md", session=f"s{number % 2}")
                assert outcome["status"] == "ok"
            await gateway.engine.audit.flush()
            await gateway.engine.store.sessions.list()
        assert seen == []


async def test_the_watch_sees_what_it_is_for(tmp_path: Path) -> None:
    def block() -> None:
        from openclaw_core.prompt.bootstrap import read_all

        read_all(tmp_path, max_chars=10, total_chars=10)

    block()
    with watching() as seen:
        await asyncio.to_thread(block)
        assert seen == []
        block()
        assert seen

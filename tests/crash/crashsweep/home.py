"""One gateway's state, platform and model: the stage on which a case is played."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crashsweep.chat import ChatServer
from crashsweep.launcher import Launcher, Process
from crashsweep.model import ModelServer
from crashsweep.record import Record

_SOURCES = Path(__file__).parent / "distribution"
_OFF = "irc,files,anthropic,demo,jsonl,bundled"
SENDERS = ("ada", "bob")


def install(folder: Path) -> None:
    """The distribution of the sweep: a stranger on PYTHONPATH."""
    from openclaw_core.testing.plugin_env import PluginEnv

    points = {
        "openclaw.channels": {f"sweep-{d}": f"openclaw_sweep.{d}" for d in ("idempotent", "plain")},
        "openclaw.tools": {"sweep-count": "openclaw_sweep.counting"},
    }
    modules = {f"openclaw_sweep.{p.stem}": p.read_text() for p in sorted(_SOURCES.glob("*.py"))}
    PluginEnv(folder).add("openclaw-sweep", entry_points=points, modules=modules)


@dataclass(slots=True)
class Life:
    """One process of the gateway: where it was to die, and where it did."""

    process: Process
    faults: Path
    crash_at: str

    @property
    def killed(self) -> str:
        """The point at which it died as it was told to, else nothing."""
        last = points(self.passages)[-1:] if self.process.dead else []
        return self.crash_at if last == [self.crash_at] else ""

    @property
    def passages(self) -> list[str]:
        """The names of the passages in order."""
        if not self.faults.exists():
            return []
        return [line.split(" ", 1)[1] for line in self.faults.read_text().splitlines()]


def points(passages: Sequence[str]) -> list[str]:
    """Passages as ``name#k``, the k-th of its name: the same place in a run that takes another order."""
    seen: Counter[str] = Counter()
    out = []
    for name in passages:
        seen[name] += 1
        out.append(f"{name}#{seen[name]}")
    return out


class Home:
    """Lives until `close`. The gateway is started and killed as often as wanted."""

    def __init__(self, folder: Path, launcher: Launcher, distributions: Path, *, flavour: str, wrong: str = "") -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.state = folder / "state"
        self.state.mkdir()
        self.channel = f"sweep-{flavour}"
        self.record = Record(folder / "record.jsonl")
        self.chat = ChatServer(self.record, idempotent=flavour == "idempotent")
        self.model = ModelServer(self.record)
        self.lives: list[Life] = []
        self._launcher = launcher
        self._distributions = distributions
        self._configure(wrong)

    def _configure(self, wrong: str) -> None:
        provider = {
            "baseUrl": self.model.base_url,
            "apiKey": "sk-sweep",
            "api": "openai-completions",
            "models": [{"id": "scripted", "contextWindow": 64000}],
        }
        section: dict[str, Any] = {"port": self.chat.port, "dmPolicy": "allowlist", "allowFrom": list(SENDERS)}
        if wrong:
            section["wrong"] = wrong
        config = {
            "models": {"providers": {"scripted": provider}},
            "agents": {"defaults": {"model": "scripted/scripted"}},
            "session": {"dmScope": "per-channel-peer"},
            "channels": {self.channel: section},
            "plugins": {"entries": {name: {"enabled": True} for name in (self.channel, "sweep-count")}},
        }
        (self.state / "openclaw.json").write_text(json.dumps(config))

    def start(self, *, crash_at: str = "", full_at: str = "", real: bool = False) -> Life:
        """One more life; it dies at passage `crash_at`, the disk is full at passage `full_at`."""
        number = len(self.lives)
        faults = self.folder / f"faults-{number}.log"
        env = {
            "OPENCLAW_STATE_DIR": str(self.state),
            "OPENCLAW_TEST_FAULTS": "1",
            "OPENCLAW_FAULT_LOG": str(faults),
            "OPENCLAW_CRASH_AT": crash_at,
            "OPENCLAW_ENOSPC_AT": full_at,
            "OPENCLAW_DISABLE": _OFF,
            "PYTHONPATH": os.pathsep.join(p for p in (str(self._distributions), os.environ.get("PYTHONPATH")) if p),
        }
        begin = self._launcher.exec if real else self._launcher.fork
        process = begin(env, self.folder / "stderr.log", self.record.wake)
        life = Life(process, faults, crash_at)
        self.lives.append(life)
        return life

    def wait(self, true: Callable[[], bool], *, seconds: float = 40.0) -> bool:
        """Until something holds in the world or the state directory."""
        return self.record.wait(true, seconds=seconds, every=0.03)

    def rows(self, table: str) -> list[dict[str, Any]]:
        """A table of the journal, read beside the running gateway."""
        path = self.state / "state" / "openclaw-py.sqlite"
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(f"SELECT * FROM {table} ORDER BY 1")]

    def count(self, query: str) -> int:
        """A number from the journal; -1 while there is none."""
        path = self.state / "state" / "openclaw-py.sqlite"
        try:
            with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
                return int(connection.execute(query).fetchone()[0])
        except sqlite3.OperationalError:
            return -1

    def settled(self) -> bool:
        """Everything is acknowledged, and the journal has nothing left to do."""
        return self.chat.all_acked() and self.count(_OPEN) == 0

    def effects(self) -> list[dict[str, str]]:
        """What the tool did."""
        path = self.state / "effects.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def transcripts(self) -> Iterator[Path]:
        """The transcript files."""
        yield from sorted((self.state / "agents").glob("*/sessions/*.jsonl"))

    def close(self) -> None:
        for life in self.lives:
            life.process.close()
        self.chat.close()
        self.model.close()
        self.record.close()


_OPEN = """
SELECT (SELECT COUNT(*) FROM inbox WHERE state IN ('new', 'running'))
     + (SELECT COUNT(*) FROM outbox WHERE state IN ('pending', 'sending'))
     + (SELECT COUNT(*) FROM runs WHERE held = 1)
"""

"""Audit events as JSON lines, one file for each day (UTC)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from openclaw_audit_jsonl.config import JsonlConfig
from openclaw_audit_jsonl.dayfile import DayFile, remove_old
from openclaw_core.sdk import AuditEvent, AuditSinkEnv


def _today() -> date:
    return datetime.now(UTC).date()


class JsonlSink:
    """Appends to ``<state>/audit/audit-YYYY-MM-DD.jsonl``; an event goes to the file of the day it happened.

    Disk work is done in a thread, one batch after another. `today` tells the date files are counted from.
    """

    def __init__(self, env: AuditSinkEnv, *, today: Callable[[], date] = _today) -> None:
        config = env.config if isinstance(env.config, JsonlConfig) else JsonlConfig()
        self._directory = Path(env.state_dir) / "audit"
        self._keep_days = config.keep_days
        self._today = today
        self._files: dict[date, DayFile] = {}
        self._cleaned: date | None = None
        self._turn = asyncio.Lock()

    async def write(self, batch: Sequence[AuditEvent]) -> None:
        """See the contract. Raises StoreFull or StoreError; a file then ends as it did before."""
        days: dict[date, list[bytes]] = {}
        for event in batch:
            day = datetime.fromtimestamp(event.occurred_at / 1000, UTC).date()
            line = json.dumps(event.as_dict(), ensure_ascii=True, separators=(",", ":"))
            days.setdefault(day, []).append(line.encode("ascii") + b"\n")
        if days:
            async with self._turn:
                await asyncio.to_thread(self._append, days)

    def _append(self, days: dict[date, list[bytes]]) -> None:
        if self._cleaned != (today := self._today()):
            remove_old(self._directory, keep_days=self._keep_days, today=today)
            self._cleaned = today
        for day, lines in days.items():
            self._file(day).append(b"".join(lines))

    def _file(self, day: date) -> DayFile:
        """The open file of a day; at most two are open, around midnight."""
        if day not in self._files:
            while len(self._files) >= 2:
                oldest = min(self._files)
                self._files[oldest].flush()
                self._files.pop(oldest).close()
            self._files[day] = DayFile(self._directory, day)
        return self._files[day]

    async def flush(self) -> None:
        """See the contract."""
        async with self._turn:
            await asyncio.to_thread(self._flush)

    def _flush(self) -> None:
        for one in self._files.values():
            one.flush()

    async def aclose(self) -> None:
        """Flush and close; may be called twice."""
        async with self._turn:
            await asyncio.to_thread(self._close)

    def _close(self) -> None:
        try:
            self._flush()
        finally:
            while self._files:
                self._files.popitem()[1].close()

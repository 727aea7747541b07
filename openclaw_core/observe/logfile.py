"""The log file: JSON lines, written by a thread of its own so that a slow disk never holds up the event loop."""

from __future__ import annotations

import atexit
import json
import logging
import os
import queue
import threading
from pathlib import Path
from typing import Any

from openclaw_core.observe.logging import redact, run_context

_CAPACITY = 10_000
_PLAIN = (int, float, bool, type(None))


class LogFile(logging.Handler):
    """Appends records to a file. When thousands wait, new ones are dropped and counted; `close` writes the rest.

    The standard library has a queue handler, but importing it costs more than a short command's whole turn.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self.dropped = 0
        self._path = Path(path)
        self._waiting: queue.Queue[logging.LogRecord | None] = queue.Queue(_CAPACITY)
        self._thread = threading.Thread(target=self._run, name="openclaw-log", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a record with the ids of the run it belongs to."""
        record.run_ids = run_context.get()
        try:
            self._waiting.put_nowait(record)
        except queue.Full:
            self.dropped += 1

    def close(self) -> None:
        """Write what waits and end the thread; may be called twice."""
        atexit.unregister(self.close)
        if self._thread.is_alive():
            self._waiting.put(None)
            self._thread.join(5.0)
        super().close()

    def _run(self) -> None:
        try:
            fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError:
            fd = -1  # every record counts as dropped; the console has them still
        while (record := self._waiting.get()) is not None:
            try:
                os.write(fd, self.line(record).encode("utf-8", "backslashreplace"))
            except OSError:
                self.dropped += 1  # a full disk loses log lines, never the thread
        if fd >= 0:
            os.close(fd)

    def line(self, record: logging.LogRecord) -> str:
        """A record as one line of JSON, secrets removed."""
        row: dict[str, Any] = {
            "time": int(record.created * 1000),
            "level": record.levelname.lower(),
            "subsystem": record.name.removeprefix("openclaw."),
            "message": record.getMessage(),
        }
        for name, value in getattr(record, "fields", {}).items():
            row[name] = value if isinstance(value, _PLAIN) else str(value)
        row.update(getattr(record, "run_ids", None) or {})
        if record.exc_info:
            row["exception"] = logging.Formatter().formatException(record.exc_info)
        return redact(json.dumps(row, ensure_ascii=True)) + "\n"

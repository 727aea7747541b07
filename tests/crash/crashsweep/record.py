"""What the world outside the gateway saw: on the disk before it acts on it."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Record:
    """An append-only, flushed list of events; everybody who waits is woken by each."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._events: list[dict[str, Any]] = []
        self._changed = threading.Condition()

    def note(self, kind: str, **fields: Any) -> None:
        """Store one event, then wake."""
        event = {"n": len(self._events), "kind": kind, **fields}
        with self._changed:
            os.write(self._fd, json.dumps(event).encode() + b"\n")
            os.fdatasync(self._fd)
            self._events.append(event)
            self._changed.notify_all()

    def wake(self) -> None:
        """Something outside of the record changed."""
        with self._changed:
            self._changed.notify_all()

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The events of one kind in order."""
        with self._changed:
            return [event for event in self._events if event["kind"] == kind]

    def wait(self, true: Callable[[], bool], *, seconds: float, every: float = 0.5) -> bool:
        """Until `true` holds; asked after each event and at least every so many seconds."""
        deadline = time.monotonic() + seconds
        while not true():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            with self._changed:
                self._changed.wait(min(left, every))
        return True

    def close(self) -> None:
        os.close(self._fd)

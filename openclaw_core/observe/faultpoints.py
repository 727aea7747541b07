"""Fault points: places where a test may kill the process or make a write fail.

Without ``OPENCLAW_TEST_FAULTS`` in the environment at import, `fault_point` does nothing at all. With
it, each passage is counted in this process, and (read at the first passage)

- ``OPENCLAW_FAULT_LOG`` names a file to which ``<n> <name>`` is appended for each passage,
- ``OPENCLAW_CRASH_AT`` is the passage at which the process kills itself with SIGKILL,
- ``OPENCLAW_ENOSPC_AT`` is the passage at which OSError(ENOSPC) is raised.

A passage is a number counted from 1 over all, or ``name#k``: the k-th passage of that name, which stays the same
place when work that goes on side by side takes another order.
"""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable


def _off(_name: str) -> None:
    return None


def _make() -> Callable[[str], None]:
    crash_at: str | None = None
    full_at = log = ""
    passed: Counter[str] = Counter()
    lock = threading.Lock()  # the writer thread passes points too; numbers must be given out once

    def passage(name: str) -> None:
        nonlocal crash_at, full_at, log
        with lock:
            if crash_at is None:  # read late: a test may start processes by forking one that has everything imported
                full_at = os.environ.get("OPENCLAW_ENOSPC_AT", "")
                log = os.environ.get("OPENCLAW_FAULT_LOG", "")
                crash_at = os.environ.get("OPENCLAW_CRASH_AT", "")
            passed[name] += 1
            number = passed.total()
            here = (str(number), f"{name}#{passed[name]}")
            if log:
                _append(log, f"{number} {name}\n")
            if crash_at in here:
                os.kill(os.getpid(), signal.SIGKILL)
        if full_at in here:
            raise OSError(errno.ENOSPC, "no space left on device (fault point)", name)

    return passage


def _append(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


fault_point: Callable[[str], None] = _make() if os.environ.get("OPENCLAW_TEST_FAULTS") else _off
"""Call with a dotted name at every place between two durable writes."""

"""Fault points: places where a test may kill the process or make a write fail.

Without ``OPENCLAW_TEST_FAULTS`` in the environment at import, `fault_point` does nothing at all. With
it, each passage is counted in this process, and

- ``OPENCLAW_FAULT_LOG`` names a file to which ``<n> <name>`` is appended for each passage,
- ``OPENCLAW_CRASH_AT`` is the passage (counted from 1) at which the process kills itself with SIGKILL,
- ``OPENCLAW_ENOSPC_AT`` is the passage at which OSError(ENOSPC) is raised.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable


def _off(_name: str) -> None:
    return None


def _make() -> Callable[[str], None]:
    crash_at = int(os.environ.get("OPENCLAW_CRASH_AT", "0"))
    full_at = int(os.environ.get("OPENCLAW_ENOSPC_AT", "0"))
    log = os.environ.get("OPENCLAW_FAULT_LOG", "")
    passed = 0

    def passage(name: str) -> None:
        nonlocal passed
        passed += 1
        if log:
            fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(fd, f"{passed} {name}\n".encode())
            finally:
                os.close(fd)
        if passed == crash_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if passed == full_at:
            raise OSError(errno.ENOSPC, "no space left on device (fault point)", name)

    return passage


fault_point: Callable[[str], None] = _make() if os.environ.get("OPENCLAW_TEST_FAULTS") else _off
"""Call with a dotted name at every place between two durable writes."""

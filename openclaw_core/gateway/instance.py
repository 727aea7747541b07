"""One gateway per state directory: a lock that the kernel releases when the process dies."""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path
from types import TracebackType

from openclaw_core.errors import GatewayLocked

LOCK_NAME = "gateway.lock"
_TRIES, _PAUSE_S = 10, 0.02


class InstanceLock:
    """Holds the state directory's gateway lock while open. Its content only names the holder."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / LOCK_NAME
        self._fd: int | None = None

    def acquire(self) -> None:
        """Take the lock at once, or raise GatewayLocked naming the holder."""
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _lock(fd)
        except OSError:
            holder = read_holder(fd)
            os.close(fd)
            where = f" (pid {holder['pid']}, {holder.get('url') or 'still starting'})" if "pid" in holder else ""
            raise GatewayLocked(
                f"Another gateway is using {self._path.parent}{where}.", details={"holder": holder}
            ) from None
        self._fd = fd
        self.describe(url="")

    def describe(self, *, url: str) -> None:
        """Write who holds the lock, for people and for the CLI that looks for the gateway."""
        assert self._fd is not None
        data = json.dumps({"pid": os.getpid(), "url": url}).encode()
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, data, 0)

    def release(self) -> None:
        """Give the lock up; may be called twice."""
        if self._fd is not None:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> InstanceLock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _lock(fd: int) -> None:
    """Take the lock; raises OSError when another holds it for longer than `running` does to look at it."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(_PAUSE_S)  # noqa: TID251  # at the very start of a process: nothing else runs yet
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def read_holder(fd: int) -> dict[str, object]:
    """What a lock file says; empty when it says nothing readable."""
    try:
        data = json.loads(os.pread(fd, 4096, 0) or b"{}")
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def running(state_dir: Path) -> dict[str, object] | None:
    """The holder of a held lock, or None when no gateway runs on this state directory."""
    try:
        fd = os.open(state_dir / LOCK_NAME, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return read_holder(fd)
    finally:
        os.close(fd)
    return None

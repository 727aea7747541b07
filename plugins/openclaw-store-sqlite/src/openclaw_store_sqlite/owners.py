"""Which processes are alive: each holds a lock on its own file for as long as it lives."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from openclaw_core.sdk import BootId, StoreError
from openclaw_store_sqlite.places import SAFE, names

_TRIES = 100


class Owners:
    """The living owners of a state directory.

    ``<state>/locks/boot-<id>.lock`` is locked (`flock`) by its process from registration to its end, so the
    kernel tells the truth about it, whatever happened to the process. Process numbers are never looked at.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._fd: int | None = None
        self.me: BootId = BootId("")

    def register(self, boot: BootId) -> None:
        """Become a living owner until `leave` or the end of the process."""
        path = self._path(boot)
        if path is None:
            raise StoreError(f"'{boot[:40]}' is not a boot id.", hint="Use letters, digits, '.', '_' and '-'.")
        for _ in range(_TRIES):
            fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # somebody is just looking whether we live
                os.close(fd)
                continue
            if names(path, fd):
                self._fd, self.me = fd, boot
                return
            os.close(fd)
        raise StoreError(f"The boot id {boot} is taken.", hint="Start the process again.")

    def leave(self) -> None:
        """Give up the ownership."""
        if self._fd is not None:
            path = self._path(self.me)
            if path is not None:
                path.unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = None

    def abandon(self) -> None:
        """Let go as a killed process would: the file stays, its lock is free."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def alive(self, boot: str) -> bool:
        """Whether that owner still lives. An owner that finds another dead removes its file."""
        if boot == self.me and self._fd is not None:
            return True
        path = self._path(boot)
        return path is not None and not self._dead(path, remove=self._fd is not None)

    def dead(self) -> list[Path]:
        """Files of owners that ended without `leave`."""
        return [path for path in self._directory.glob("boot-*.lock") if self._is_other(path) and self._dead(path)]

    def remove(self, files: list[Path]) -> None:
        """Remove files that `dead` returned."""
        for path in files:
            self._dead(path, remove=True)

    def _is_other(self, path: Path) -> bool:
        return self._fd is None or path != self._path(self.me)

    @staticmethod
    def _dead(path: Path, *, remove: bool = False) -> bool:
        try:
            fd = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            return True
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: two that look do not see each other
            if remove and names(path, fd):
                path.unlink(missing_ok=True)
        except BlockingIOError:
            return False
        finally:
            os.close(fd)
        return True

    def _path(self, boot: str) -> Path | None:
        return self._directory / f"boot-{boot}.lock" if SAFE.fullmatch(boot) else None

"""Walking down from a root one component at a time, without ever letting the kernel follow a link.

Used for writing (the real place of the file must be known before anything is created) and for
reading where `openat2` is missing or the real place matters.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Iterable
from types import TracebackType

MAX_DEPTH = 64
"""Deepest directory below a root."""
_MAX_LINKS = 40  # as the Linux kernel

_DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Descent:
    """Open directories from the root (not owned) down to the current one (owned, closed on exit).

    Links are read and their text is walked like a path: a link that stays inside leads on, an absolute
    link or a ``..`` above the root raises OSError(EXDEV). ``..`` goes back to the directory we came from.
    """

    def __init__(self, root_fd: int, *, create: bool = False) -> None:
        self._root_fd = root_fd
        self._create = create
        self._stack: list[tuple[str, int]] = []

    def __enter__(self) -> Descent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._stack:
            self._up()

    @property
    def fd(self) -> int:
        """The current directory."""
        return self._stack[-1][1] if self._stack else self._root_fd

    @property
    def parts(self) -> tuple[str, ...]:
        """Real names from the root to the current directory."""
        return tuple(name for name, _ in self._stack)

    def _up(self) -> None:
        os.close(self._stack.pop()[1])

    def _link(self, name: str) -> str | None:
        """Text of the link `name`, None where it is no link."""
        try:
            return os.readlink(name, dir_fd=self.fd)
        except OSError as error:
            if error.errno == errno.EINVAL:
                return None
            raise

    def _enter(self, name: str) -> str | None:
        """Go into directory `name`; where it is a link, stay and give its text."""
        if len(self._stack) >= MAX_DEPTH:
            raise OSError(errno.ENAMETOOLONG, "too deep", name)
        for _ in range(3):
            try:
                self._stack.append((name, os.open(name, _DIRECTORY, dir_fd=self.fd)))
                return None
            except FileNotFoundError:
                if not self._create:
                    raise
                try:
                    os.mkdir(name, 0o700, dir_fd=self.fd)
                except FileExistsError:
                    continue  # somebody else made it in between
            except OSError as error:
                if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                    raise
                if (text := self._link(name)) is None:
                    raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name) from None
                return text
        raise OSError(errno.EAGAIN, "directory keeps changing", name)

    def locate(self, path: Iterable[str]) -> str | None:
        """Go to the directory that holds the last component and give that component's real name.

        None when the path leads to the current directory itself (``.``, or a trailing ``..``). The
        component need not exist; it was no link when we looked, so open it with O_NOFOLLOW.
        """
        todo = deque(part for part in path if part not in ("", "."))
        links = 0
        while todo:
            name = todo.popleft()
            if name == "..":
                if not self._stack:
                    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), name)
                self._up()
                continue
            if todo:
                text = self._enter(name)
            else:
                try:
                    text = self._link(name)
                except FileNotFoundError:
                    text = None
                if text is None:
                    return name
            if text is not None:
                links += 1
                if links > _MAX_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
                if text.startswith("/"):
                    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), name)
                todo.extendleft(reversed([part for part in text.split("/") if part not in ("", ".")]))
        return None

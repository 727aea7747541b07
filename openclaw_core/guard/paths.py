"""The only way to open files that a message, a model or a plugin names (DESIGN section 5).

Resolution and opening are one step: `openat2` beneath the root, or a walk by descriptors that follows
no link blindly. Nothing is checked by name and opened later. All refusals are ToolRefused, all other
failures ToolError; their text names only the path that was asked for.

Links: a relative link that stays beneath the root works, everything else (absolute links, links that
lead out, magic links of ``/proc``) is refused. Only regular files are opened.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal

from openclaw_core.errors import ToolError, ToolRefused
from openclaw_core.guard.descent import Descent
from openclaw_core.guard.openat2 import available, openat2
from openclaw_core.guard.pathtext import failure, relative_parts, shown
from openclaw_core.guard.protection import check_place, protected_below

Resolver = Literal["auto", "openat2", "walk"]
"""How to resolve: ``auto`` prefers the system call; the others exist for tests."""

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_ROOT = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedFile:
    """An open descriptor of a regular file and what it is. Use it in a ``with`` block, which closes it.

    `path` is the path that was asked for beneath its root, `size` in bytes, `mode` the permission bits,
    `stamp` identifies this state of the file (see `replace_beneath`).
    """

    fd: int
    path: Path
    size: int
    mode: int
    stamp: tuple[int, int, int, int]

    def read(self, limit: int) -> bytes:
        """The first `limit` bytes at most, from the current position; blocks."""
        chunks = []
        while limit > 0 and (chunk := os.read(self.fd, min(limit, 1 << 20))):
            chunks.append(chunk)
            limit -= len(chunk)
        return b"".join(chunks)

    def close(self) -> None:
        """Close the descriptor; call it once."""
        os.close(self.fd)

    def __enter__(self) -> OpenedFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _open_root(root: Path) -> int:
    try:
        return os.open(root, _ROOT)
    except OSError:
        raise ToolError("The workspace directory does not exist or cannot be opened.", code="no_workspace") from None


def open_fd(
    root: Path, path: str, flags: int, *, protected: Sequence[Path] = (), resolver: Resolver = "auto"
) -> tuple[int, tuple[str, ...]]:
    """Open anything beneath `root`, unchecked as to its kind; for this package only.

    Also gives the components below the root: the real ones wherever `protected` matters, else as asked.
    """
    parts = relative_parts(root, path)
    places = protected_below(root, protected)
    root_fd = _open_root(root)
    try:
        if resolver != "walk" and not places and (resolver == "openat2" or available()):
            return openat2(root_fd, "/".join(parts) or ".", flags), parts
        with Descent(root_fd) as descent:
            name = descent.locate(parts)
            real = (*descent.parts, name) if name else descent.parts
            check_place(real, places, path, writing=False)
            return os.open(name or ".", flags | os.O_NOFOLLOW, dir_fd=descent.fd), real
    except OSError as error:
        raise failure(error, path) from None
    finally:
        os.close(root_fd)


def _require_regular(info: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(info.st_mode):
        raise ToolError(f"{shown(path) or '.'} is a directory, not a file.", code="not_a_file")
    if not stat.S_ISREG(info.st_mode):
        raise ToolRefused(f"{shown(path)} was refused: it is not a regular file.", code="path_refused")


def _stamp(info: os.stat_result) -> tuple[int, int, int, int]:
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns


def open_beneath(root: Path, path: str, *, protected: Sequence[Path] = (), resolver: Resolver = "auto") -> OpenedFile:
    """Open a regular file beneath `root` for reading.

    `path` is relative, or absolute and under `root` by its text. `protected` are places that are refused
    although they lie beneath the root. Raises ToolRefused for a way out, FIFOs, devices, sockets and
    hard links to files of another user; ToolError where it is missing, a directory or not readable.
    """
    fd, _ = open_fd(root, path, _READ, protected=protected, resolver=resolver)
    try:
        info = os.fstat(fd)
        _require_regular(info, path)
        if info.st_nlink > 1 and info.st_uid != os.geteuid():
            raise ToolRefused(
                f"{shown(path)} was refused: it is a hard link to a file of another user.", code="path_refused"
            )
        return OpenedFile(
            fd=fd, path=root / path, size=info.st_size, mode=stat.S_IMODE(info.st_mode), stamp=_stamp(info)
        )
    except BaseException:
        os.close(fd)
        raise


def _check_target(parent_fd: int, name: str, path: str, unchanged: tuple[int, ...] | None) -> int | None:
    """Mode of the file that will be replaced, None where there is none; raises where it may not be."""
    try:
        info = os.stat(name, dir_fd=parent_fd, follow_symlinks=False)
    except FileNotFoundError:
        if unchanged is not None:
            raise ToolError(f"{shown(path)} was removed meanwhile.", code="path_changed") from None
        return None
    _require_regular(info, path)
    if info.st_nlink > 1:
        raise ToolRefused(
            f"{shown(path)} was refused: it is a hard link, so another name shares its content.", code="path_refused"
        )
    if unchanged is not None and _stamp(info) != tuple(unchanged):
        raise ToolError(f"{shown(path)} was changed meanwhile; read it again.", code="path_changed")
    return stat.S_IMODE(info.st_mode) & 0o777


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _replace(parent_fd: int, name: str, data: bytes, mode: int) -> None:
    """Temporary file in the same directory, flushed, renamed over `name`, directory flushed."""
    temporary = f".openclaw-{secrets.token_hex(8)}.tmp"
    create = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(temporary, create, 0o600, dir_fd=parent_fd)
    try:
        try:
            _write_all(fd, data)
            os.fchmod(fd, mode)
            os.fsync(fd)
        finally:
            os.close(fd)
        os.rename(temporary, name, src_dir_fd=parent_fd, dst_dir_fd=parent_fd)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=parent_fd)
        raise
    flush = os.open(".", _LIST, dir_fd=parent_fd)
    try:
        os.fsync(flush)
    finally:
        os.close(flush)


def replace_beneath(
    root: Path,
    path: str,
    data: bytes,
    *,
    create_parents: bool = True,
    mode: int | None = None,
    protected: Sequence[Path] = (),
    unchanged: tuple[int, int, int, int] | None = None,
) -> Path:
    """Write a whole file beneath `root`: readers see the old content or the new one, never a part.

    `mode`: permission bits; default those of the file that is replaced, else 0600. New directories get
    0700. `unchanged` is the `OpenedFile.stamp` that the new content was made from: the write is refused
    when the file is another one by now. Gives the real path. Raises ToolRefused as `open_beneath` does, and
    for hard links, for everything of a ``.git`` directory and for `protected` places; ToolError when the
    disk is full or the place cannot be written; the old content is whole then.
    """
    parts = relative_parts(root, path, writing=True)
    places = protected_below(root, protected)
    root_fd = _open_root(root)
    try:
        # A first walk that creates nothing: a refused path leaves no directories behind.
        with Descent(root_fd) as look:
            try:
                name = look.locate(parts)
                real = (*look.parts, name) if name else look.parts
            except FileNotFoundError:
                real = (*look.parts, *parts)
            check_place(real, places, path, writing=True)
        with Descent(root_fd, create=create_parents) as descent:
            name = descent.locate(parts)
            if name is None:
                raise ToolError(f"{shown(path) or '.'} is a directory, not a file.", code="not_a_file")
            real = (*descent.parts, name)
            check_place(real, places, path, writing=True)
            parent = descent.fd
            old = _check_target(parent, name, path, unchanged)
            new_mode = mode if mode is not None else old if old is not None else 0o600
            _replace(parent, name, data, new_mode)
        return root.joinpath(*real)
    except OSError as error:
        raise failure(error, path) from None
    finally:
        os.close(root_fd)

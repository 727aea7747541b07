"""The text of a path before anything is opened: what is refused by its spelling alone."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from openclaw_core.errors import ToolError, ToolRefused
from openclaw_core.guard.descent import MAX_DEPTH

MAX_PATH_BYTES = 4096
"""PATH_MAX of Linux."""


def shown(path: str) -> str:
    """A path as an error may show it: control characters and torn bytes escaped, at most 200 characters."""
    text = path.encode("utf-8", "backslashreplace").decode()
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= 200 else f"{text[:140]}…{text[-59:]}"


def _refuse(sentence: str, hint: str = "") -> ToolRefused:
    return ToolRefused(sentence, hint=hint or "Use a path inside the workspace.", code="path_refused")


def _below(root: Path, path: str) -> str | None:
    """`path` relative to `root` where it lies under it by its text; the root counts in its real spelling too."""
    for base in dict.fromkeys((str(root), os.path.realpath(root))):
        base = base.rstrip("/")
        if path == base:
            return ""
        if path.startswith(base + "/"):
            return path[len(base) + 1 :]
    return None


def relative_parts(root: Path, path: str, *, writing: bool = False) -> tuple[str, ...]:
    """The components of `path` below `root`, ``..`` included, ``.`` and empty ones removed.

    Raises ToolRefused for NUL, text that is no file name, more than 4,096 bytes or 64 components, a
    leading ``~``, an absolute path that is not under `root`, and for spellings of ``..`` that only
    other programs would understand.
    """
    if "\0" in path:
        raise _refuse("A path with a NUL character was refused.")
    try:
        size = len(os.fsencode(path))
    except UnicodeEncodeError:
        raise _refuse("A path that is not valid text was refused.") from None
    if size > MAX_PATH_BYTES:
        raise _refuse(f"A path of {size} bytes was refused; the limit is {MAX_PATH_BYTES}.")
    if path.startswith("~"):
        raise _refuse(
            f"{shown(path)} was refused: ~ is not expanded.",
            "Use a path relative to the workspace; write ./~name for a file whose name begins with ~.",
        )
    if path.startswith("/"):
        inside = _below(root, path)
        if inside is None:
            raise _refuse(f"{shown(path)} lies outside the workspace.")
        path = inside
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if len(parts) > MAX_DEPTH:
        raise _refuse(f"A path of {len(parts)} levels was refused; the limit is {MAX_DEPTH}.")
    for part in parts:
        if part != ".." and ".." in unquote(part).replace("\\", "/").split("/"):
            raise _refuse(f"{shown(path)} was refused: it spells a way out of its directory.")
        if writing and not part.isprintable():
            raise _refuse(f"{shown(path)} was refused: a new name may not hold control characters.")
    return parts


def pick_root(roots: Sequence[Path], path: str) -> Path:
    """The root for a path: relative paths belong to the first one (the workspace), an absolute path to
    the first root it lies under by its text. Raises ToolRefused when it lies under none."""
    if not path.startswith("/"):
        return roots[0]
    for root in roots:
        if "\0" not in path and _below(root, path) is not None:
            return root
    raise _refuse(f"{shown(path)} lies outside the workspace.")


_REASONS: dict[int, tuple[type[ToolError], str, str]] = {
    errno.ENOENT: (ToolError, "file_not_found", "{} does not exist."),
    errno.ENOTDIR: (ToolError, "not_a_directory", "{} does not exist: a part of the path is a file, not a directory."),
    errno.EISDIR: (ToolError, "not_a_file", "{} is a directory, not a file."),
    errno.EXDEV: (
        ToolRefused,
        "path_refused",
        "{} was refused: it leads outside the workspace (absolute links count as such).",
    ),
    errno.ELOOP: (ToolRefused, "path_refused", "{} was refused: its links cannot be followed safely."),
    errno.ENXIO: (ToolRefused, "path_refused", "{} was refused: it is not a regular file."),
    errno.ENODEV: (ToolRefused, "path_refused", "{} was refused: it is not a regular file."),
    errno.ENAMETOOLONG: (ToolRefused, "path_refused", "{} was refused: a name is too long or the path too deep."),
    errno.EACCES: (ToolError, "permission_denied", "{} may not be accessed by this user."),
    errno.EPERM: (ToolError, "permission_denied", "{} may not be accessed by this user."),
    errno.EROFS: (ToolError, "read_only", "{} lies on a read-only file system."),
    errno.ENOSPC: (ToolError, "disk_full", "{} was not written: no space is left on the disk."),
    errno.EDQUOT: (ToolError, "disk_full", "{} was not written: the disk quota is used up."),
    errno.EAGAIN: (ToolError, "path_changed", "{} changed while it was being opened; try again."),
}


def failure(error: OSError, path: str) -> ToolError:
    """The ToolError for a failed system call; it names only the path that was asked for."""
    kind, code, sentence = _REASONS.get(
        error.errno or 0, (ToolError, "io_error", "{} could not be used: " + (error.strerror or "unknown error") + ".")
    )
    return kind(sentence.format(shown(path) or "The workspace"), code=code)

"""The Linux system call `openat2`, which resolves and opens a path in one step beneath a directory."""

from __future__ import annotations

import ctypes
import errno
import os
from functools import cache

# linux/openat2.h; the number is the same on every architecture Python runs on.
_SYS_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_BENEATH = 0x08

_RACE_RETRIES = 16
"""The kernel answers EAGAIN when a directory was renamed during the resolution of a ``..``."""


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def openat2(dir_fd: int, path: str, flags: int) -> int:
    """Open `path` relative to `dir_fd`; resolution never leaves that directory.

    Raises OSError: EXDEV for a way out (``..``, an absolute path or link), ELOOP for a magic link of
    ``/proc``. `path` must not contain NUL, which C would take for its end; ValueError if it does.
    """
    raw = os.fsencode(path)
    if b"\0" in raw:
        raise ValueError("NUL in path")
    how = _OpenHow(flags=flags | os.O_CLOEXEC, mode=0, resolve=_RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)
    for _ in range(_RACE_RETRIES):
        fd: int = _libc().syscall(
            ctypes.c_long(_SYS_OPENAT2),
            ctypes.c_int(dir_fd),
            ctypes.c_char_p(raw),
            ctypes.byref(how),
            ctypes.c_size_t(ctypes.sizeof(how)),
        )
        if fd >= 0:
            return fd
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(code, os.strerror(code), path)


@cache
def available() -> bool:
    """Whether this kernel (and the seccomp filter above us) lets us use the call; asked once."""
    if not hasattr(os, "O_PATH"):
        return False
    root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.close(openat2(root, ".", os.O_PATH | os.O_DIRECTORY))
    except OSError:
        return False
    finally:
        os.close(root)
    return True

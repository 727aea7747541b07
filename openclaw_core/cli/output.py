"""The only place of the product that writes to standard output.

`claimed` takes the real standard output away from everybody else: what plugins, libraries or child
processes print goes to standard error, so a JSON document on standard output is never mixed with
anything, whatever a stranger's code does.

Exit status of every command: 0 done, 1 failed (with ``--json`` the failure is
``{"ok": false, "error": {"code", "message", "hint"}}`` on standard output, else a sentence and a hint on
standard error), 130 interrupted, 141 the reader of the output went away.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import select
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ParamSpec, TypeVar

from openclaw_core.errors import OpenClawError

EXIT_FAILED = 1
EXIT_INTERRUPTED = 130
EXIT_PIPE = 141

P = ParamSpec("P")
R = TypeVar("R")


class OutputError(OpenClawError):
    """Standard output cannot be written to."""

    code = "output"
    default_hint = "Check where the output goes: a closed descriptor or a full disk."


class ReaderGone(Exception):
    """The other end of the pipe was closed. Not a failure of the command."""


class _Output:
    """Where output goes: the claimed descriptor, or `sys.stdout` as it is (tests, embedding)."""

    fd: int | None = None
    claimed: bool = False
    color: bool | None = None
    """True and False are the wish of a flag, None means: decide by the environment and the terminal."""


_OUTPUT = _Output()


@contextlib.contextmanager
def claimed() -> Iterator[None]:
    """Reserve standard output for this module; everybody else's goes to standard error meanwhile."""
    try:
        real: int | None = os.dup(1)
    except OSError:
        real = None  # closed; the first write says so
    _point_at(1, 2)
    python = sys.stdout
    sys.stdout = sys.stderr
    _OUTPUT.fd, _OUTPUT.claimed, _OUTPUT.color = real, True, None
    try:
        yield
    finally:
        _OUTPUT.fd, _OUTPUT.claimed = None, False
        sys.stdout = python
        if real is not None:
            os.dup2(real, 1)
            os.close(real)


def _point_at(target: int, source: int) -> None:
    try:
        os.dup2(source, target)
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, target)
        if nowhere != target:
            os.close(nowhere)


def set_color(wish: bool | None) -> None:
    """What ``--no-color`` says."""
    _OUTPUT.color = wish


def write(text: str) -> None:
    """Write all of `text` to standard output. Raises OutputError, or ReaderGone when nobody reads any more."""
    if not _OUTPUT.claimed:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    # Lone surrogates become \udXXX, which is valid JSON too.
    _write_all(text.encode("utf-8", "backslashreplace"))


def _write_all(data: bytes) -> None:
    fd = _OUTPUT.fd
    if fd is None:
        raise OutputError("The output cannot be written: standard output is closed.")
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            select.select([], [fd], [])
        except BrokenPipeError as error:
            raise ReaderGone from error
        except OSError as error:
            if error.errno == errno.EINTR:
                continue
            raise OutputError(f"The output cannot be written: {error.strerror}.") from error


def is_terminal() -> bool:
    """Whether a person sees standard output directly."""
    if _OUTPUT.claimed:
        return _OUTPUT.fd is not None and os.isatty(_OUTPUT.fd)
    return sys.stdout.isatty()


def wants_color() -> bool:
    """Flag over NO_COLOR over FORCE_COLOR over the terminal."""
    if _OUTPUT.color is not None:
        return _OUTPUT.color
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return is_terminal() and os.environ.get("TERM") != "dumb"


def line(text: str = "") -> None:
    """One line on standard output."""
    write(text + "\n")


def emit_json(value: Any) -> None:
    """One JSON document on standard output, never with colours. Unknown objects are shown as text."""
    write(json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n")


def emit_json_line(value: Any) -> None:
    """One line of a documented stream of JSON lines."""
    write(json.dumps(value, ensure_ascii=False, default=str) + "\n")


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, empty: str = "") -> None:
    """A table for people: plain aligned columns into a pipe, rich on a terminal. `empty` is said instead of
    a table without rows. Control characters of cells are escaped."""
    cells = [["" if cell is None else _one_line(str(cell)) for cell in row] for row in rows]
    if not cells and empty:
        line(empty)
        return
    if not is_terminal() and not wants_color():
        _plain_table(columns, cells)
        return
    import io
    import shutil

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        shown.add_column(column, overflow="fold")
    for row in cells:
        shown.add_row(*(Text(cell) for cell in row))
    console = Console(
        file=io.StringIO(),
        force_terminal=wants_color(),
        no_color=not wants_color(),
        width=shutil.get_terminal_size((120, 24)).columns,
    )
    console.print(shown)
    write(console.file.getvalue())  # type: ignore[attr-defined]  # it is the StringIO from above


def _plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[n]) for row in [columns, *rows]) for n in range(len(columns))]
    text = "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n"
        for row in [columns, *rows]
    )
    write(text)


def fields(pairs: Sequence[tuple[str, object]]) -> None:
    """Names and values below each other."""
    width = max((len(name) for name, _ in pairs), default=0)
    for name, value in pairs:
        line(f"{name.ljust(width)}  {_one_line(str(value))}")


def _one_line(text: str) -> str:
    """Text without control characters. Most has none, and is spared the import."""
    if text.isprintable():
        return text
    from openclaw_core.observe.logging import printable

    return printable(text)


def warn(text: str) -> None:
    """One line on standard error that begins with ``warning:``."""
    note(f"warning: {text}")


def note(text: str) -> None:
    """One line on standard error; lost when that is closed."""
    from openclaw_core.observe.logging import redact

    if sys.stderr is None:
        return
    try:
        sys.stderr.write(redact(text) + "\n")
        sys.stderr.flush()
    except OSError:
        # Nobody can be told; the exit status still says it.
        return


def fail(error: OpenClawError, *, as_json: bool) -> int:
    """Report a failure the one way and return the exit status. Secrets are removed from its texts."""
    from openclaw_core.observe.logging import redact

    if as_json and not isinstance(error, OutputError):
        shown = {key: redact(text) if isinstance(text, str) else text for key, text in error.as_dict().items()}
        try:
            emit_json({"ok": False, "error": shown})
        except ReaderGone:
            return EXIT_PIPE
        except OutputError as worse:
            note(f"error: {worse.message}")
        return EXIT_FAILED
    note(f"error: {error.message}")
    for problem in error.details.get("problems", ())[1:]:
        note(f"       {problem}")
    if error.hint:
        note(error.hint)
    return EXIT_FAILED


def command_errors(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator of a command's function: OpenClawError becomes the failure of this command, exit status 1.

    ``--json`` is recognised by the command's parameter `as_json` (or `json`). `main` does the same for
    commands without this decorator; with it they can be called alone, as tests do.
    """

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except OpenClawError as error:
            wanted = bool(kwargs.get("as_json") or kwargs.get("json"))
            raise SystemExit(fail(error, as_json=wanted)) from error

    return guarded

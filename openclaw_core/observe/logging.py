"""Logging: key and value messages on stderr, a JSON-lines file for the gateway, secrets removed."""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from collections.abc import Iterable, MutableMapping
from contextvars import ContextVar
from typing import Any

run_context: ContextVar[dict[str, str] | None] = ContextVar("openclaw_run_context", default=None)
"""Ids of the run that the current task works on."""

_SECRETS: set[str] = set()
_MIN_SECRET = 8

# behaviour.md 11.7: what is masked even where the value is not known to be a secret.
_PATTERNS = re.compile(
    r"(?i)(bearer\s+)[a-z0-9._~+/=-]{12,}"
    r"|(\b(?:sk|xox[abprs]|ghp|gho|glpat|AIza)[-_A-Za-z0-9]{12,})"
    r"|(://[^/\s:@]+:)[^@\s/]+(@)"
)


def register_secret(value: str) -> None:
    """From now on, `value` is replaced in every log record and error text of this process."""
    if len(value) >= _MIN_SECRET:
        _SECRETS.add(value)


def mask(value: str) -> str:
    """Show enough of a secret to recognise it: first 6 and last 4 of 18 or more characters."""
    return f"{value[:6]}…{value[-4:]}" if len(value) >= 18 else "***"


def redact(text: str) -> str:
    """Remove known secrets and everything that looks like a credential."""
    for secret in _SECRETS:
        if secret in text:
            text = text.replace(secret, mask(secret))

    def _sub(match: re.Match[str]) -> str:
        if match.group(1):
            return f"{match.group(1)}***"
        if match.group(2):
            return mask(match.group(2))
        return f"{match.group(3)}***{match.group(4)}"

    return _PATTERNS.sub(_sub, text)


def printable(text: str) -> str:
    """Escape control characters, so that a name cannot write lines or colours into a log."""
    return "".join(c if c.isprintable() or c == " " else c.encode("unicode_escape").decode() for c in text)


class _Adapter(logging.LoggerAdapter[logging.Logger]):
    """`log.info("message", key=value)` instead of formatted text."""

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        known = {k: kwargs.pop(k) for k in ("exc_info", "stack_info", "stacklevel") if k in kwargs}
        fields = dict(kwargs)
        return msg, {**known, "extra": {"fields": fields}}


def get_logger(name: str) -> _Adapter:
    """A logger whose calls take keyword fields. `name` without the ``openclaw.`` prefix."""
    return _Adapter(logging.getLogger(f"openclaw.{name}"), {})


class _ConsoleFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", {})
        tail = "".join(f" {k}={printable(str(v))}" for k, v in fields.items())
        text = f"{time.strftime('%H:%M:%S', time.localtime(record.created))} {record.levelname.lower():7} "
        text += f"{record.name.removeprefix('openclaw.')}: {printable(record.getMessage())}{tail}"
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        return redact(text)


def configure(
    *, level: str = "", file: str | None = None, file_level: str = "info", handlers: Iterable[logging.Handler] = ()
) -> None:
    """Set up logging of this process once: stderr always, a JSON-lines file where given.

    `level` of stderr defaults to ``OPENCLAW_LOG_LEVEL``, else ``warning``. stdout is never written to.
    Raises ValueError for an unknown level.
    """
    root = logging.getLogger("openclaw")
    console_level = (level or os.environ.get("OPENCLAW_LOG_LEVEL") or "warning").upper()
    levels = [
        logging.getLevelNamesMapping().get(name)
        for name in (console_level, file_level.upper() if file else console_level)
    ]
    if None in levels:
        raise ValueError(f"unknown log level {console_level}")
    root.setLevel(min(number for number in levels if number is not None))
    root.propagate = False
    for old in list(root.handlers):
        root.removeHandler(old)
        old.close()
    console = logging.StreamHandler(sys.stderr)
    console.setFormatter(_ConsoleFormatter())
    console.setLevel(console_level)
    root.addHandler(console)
    if file:
        from openclaw_core.observe.logfile import LogFile

        target = LogFile(file)
        target.setLevel(file_level.upper())
        root.addHandler(target)
    for extra in handlers:
        root.addHandler(extra)

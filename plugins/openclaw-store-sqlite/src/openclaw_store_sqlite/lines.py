"""Transcript lines: one JSON object between two newline bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from openclaw_store_sqlite.encoding import dumps

VERSION = 3
"""Version in the header line (observed.md)."""


class Line(NamedTuple):
    """A stretch of bytes up to a newline: where it begins, its bytes without the newline, what it says.
    `value` is None for bytes that are not a JSON object."""

    offset: int
    raw: bytes
    value: dict[str, Any] | None


def encode(value: Mapping[str, Any]) -> bytes:
    """The line with its newline. ASCII only, so no character of a text can end the line early."""
    return dumps(value).encode("ascii") + b"\n"


def parse(raw: bytes) -> dict[str, Any] | None:
    """The object of a line; None when it is none. Lone surrogates, as bytes or escaped, are let through."""
    try:
        value = json.loads(raw.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def split(chunk: bytes, offset: int) -> Iterator[Line]:
    """The lines of a chunk that begins at `offset` of the file and ends with a newline. Only the newline
    byte ends a line; blank lines are passed over."""
    for raw in chunk.split(b"\n")[:-1]:
        if raw.strip():
            yield Line(offset, raw, parse(raw))
        offset += len(raw) + 1


def is_header(line: Line) -> bool:
    """Whether this is the first line of a transcript, which describes the session."""
    return line.offset == 0 and line.value is not None and line.value.get("type") == "session"

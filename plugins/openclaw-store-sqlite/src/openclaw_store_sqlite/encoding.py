"""Values on their way into the database and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


# ASCII only: keeps U+2028, NUL and lone surrogates of hostile text inside one line, and out of SQLite's UTF-8.
dumps = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), check_circular=False, default=_plain).encode
"""Compact ASCII JSON."""


def pack(value: Mapping[str, Any] | None) -> str | None:
    """JSON of a mapping; None for an empty one, which most are."""
    return dumps(value) if value else None


def pack_optional(value: Mapping[str, Any] | None) -> str | None:
    """JSON of a mapping where an empty one and none at all are two things."""
    return None if value is None else dumps(value)


def unpack(text: str | None) -> dict[str, Any]:
    """What `pack` wrote."""
    if not text:
        return {}
    value: dict[str, Any] = json.loads(text)
    return value


def unpack_optional(text: str | None) -> dict[str, Any] | None:
    """What `pack_optional` wrote."""
    return None if text is None else unpack(text)


def text(value: str) -> str:
    """`value` as SQLite can store it: lone surrogates become question marks."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")

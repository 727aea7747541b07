"""Text to data: JSON where it is JSON, JSON5 where it is not."""

from __future__ import annotations

import json
import re
from typing import Any

from openclaw_core.errors import ConfigFileError


def parse(data: bytes, name: str) -> Any:
    """Read JSON5 (a superset of JSON): comments, trailing commas, single quotes, bare keys, BOM, any line ends.

    Of a key that stands twice the last one wins, as in JavaScript. Plain JSON takes the fast way of the
    standard library. `name` is the file as people know it. Raises ConfigFileError with line and column.
    """
    text = decode(data, name)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _parse_json5(text, name)


def decode(data: bytes, name: str) -> str:
    """The text of a file in UTF-8, with or without BOM. Raises ConfigFileError."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigFileError(
            f"{name} is not UTF-8 text (line {line}).",
            hint="Save it as UTF-8.",
            details={"file": name, "line": line, "column": 1},
        ) from error


def _parse_json5(text: str, name: str) -> Any:
    import pyjson5

    if not text.strip():
        raise ConfigFileError(f"{name} is empty.", hint="Write {} for an empty configuration.", details={"file": name})
    try:
        return pyjson5.decode(text)
    except pyjson5.Json5Exception as error:
        line, column = _position(text, str(error.args[0]), after=isinstance(error, pyjson5.Json5ExtraData))
        what = "ends too early" if isinstance(error, pyjson5.Json5EOF) else "is not valid JSON5"
        raise ConfigFileError(
            f"{name} {what}: see line {line}, column {column}.",
            hint="Check quotes, commas and brackets there; `openclaw config validate` shows it again.",
            details={"file": name, "line": line, "column": column},
        ) from error
    except RecursionError as error:
        raise ConfigFileError(f"{name} is nested too deeply.", hint="Flatten it.", details={"file": name}) from error


def _position(text: str, message: str, *, after: bool) -> tuple[int, int]:
    # The parser counts characters from one and says "near N"; with data after the value, N is the value's end.
    found = re.search(r"near (\d+)", message)
    offset = min(max(int(found.group(1)) - 1, 0), len(text)) if found else len(text)
    if after:
        offset = len(text) - len(text[offset + 1 :].lstrip())
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1

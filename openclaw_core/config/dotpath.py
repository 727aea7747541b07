"""Dotted paths as people type them: ``agents.list[0].model``, ``models.providers["my one"].baseUrl``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from openclaw_core.errors import InvalidRequest

_PART = re.compile(r"""(?:^|\.)(?P<name>[^.\[\]"]+)|\[(?P<index>\d+)\]|\[(?P<quoted>"(?:[^"\\]|\\.)*")\]""")
_FORBIDDEN = frozenset({"__proto__", "constructor", "prototype"})


def parse_path(text: str) -> tuple[str | int, ...]:
    """Split a path. Raises InvalidRequest for anything else."""
    import json

    parts: list[str | int] = []
    position = 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None or (position == 0 and (match["index"] is not None or text[0] == ".")):
            break
        if match["index"] is not None:
            parts.append(int(match["index"]))
        else:
            parts.append(json.loads(match["quoted"]) if match["quoted"] else match["name"])
        position = match.end()
    if not parts or position < len(text) or _FORBIDDEN & set(parts):
        raise InvalidRequest(
            f"{text!r} is not a path of the configuration.", hint="Write it like gateway.port or agents.list[0].model."
        )
    return tuple(parts)


MISSING: Any = object()
"""What `look_up` gives for a path that is not there."""


def look_up(tree: Any, path: tuple[str | int, ...]) -> Any:
    """The value at a path of plain data, or `MISSING`."""
    for part in path:
        if isinstance(tree, Mapping):
            tree = tree.get(str(part), MISSING)
        elif isinstance(tree, list) and isinstance(part, int) and part < len(tree):
            tree = tree[part]
        else:
            return MISSING
        if tree is MISSING:
            return MISSING
    return tree


def replaced(tree: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """A copy of plain data with `value` at `path`; objects on the way are made. `MISSING` removes."""
    if not path:
        return value
    head, rest = path[0], path[1:]
    if isinstance(tree, list) and isinstance(head, int):
        items = list(tree)
        if head >= len(items):
            return [*items, replaced({}, rest, value)]
        if not rest and value is MISSING:
            del items[head]
        else:
            items[head] = replaced(items[head], rest, value)
        return items
    out = dict(tree) if isinstance(tree, Mapping) else {}
    if not rest and value is MISSING:
        out.pop(str(head), None)
    else:
        child = out.get(str(head), [] if rest and isinstance(rest[0], int) else {})
        out[str(head)] = replaced(child, rest, value)
    return out

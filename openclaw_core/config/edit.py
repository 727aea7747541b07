"""One change of a JSON5 text: set or unset a value, leave every other byte as it is."""

from __future__ import annotations

import json
import re
from typing import Any

from openclaw_core.config.document import Document, Entry, NotEditable, Path, Value

_BARE = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def set_value(text: str, path: Path, value: Any) -> str:
    """The text with `value` at `path`; missing objects on the way are made.

    Raises NotEditable when something on the way is not an object or list.
    """
    document = Document(text)
    node, depth = document.root, 0
    while depth < len(path):
        entry = _child(node, path[depth])
        if entry is None:
            break
        node, depth = entry.value, depth + 1
    if depth == len(path):
        outer = document.indent_of(node.start)
        inline = node.kind != "scalar" and "\n" not in text[node.start : node.end] and bool(node.entries)
        shown = _render(document, value, outer, "" if inline else _step(document, node, outer))
        return text[: node.start] + shown + text[node.end :]
    for part in reversed(path[depth + 1 :]):
        value = [value] if isinstance(part, int) else {part: value}
    return _insert(document, node, path[depth], value)


def unset_value(text: str, path: Path) -> str:
    """The text without the member or item at `path`. Comments stay. Raises NotEditable when it is not there."""
    document = Document(text)
    node = document.root
    for part in path[:-1]:
        entry = _child(node, part)
        if entry is None:
            raise NotEditable("There is nothing at this path.")
        node = entry.value
    doomed = _child(node, path[-1])
    if doomed is None:
        raise NotEditable("There is nothing at this path.")
    again = [entry for entry in node.entries if entry is doomed or (doomed.key is not None and entry.key == doomed.key)]
    for entry in reversed(again):
        text = _remove(text, node, entry)
    return text


def _child(node: Value, part: str | int) -> Entry | None:
    if node.kind == "object":
        return node.member(str(part))
    if node.kind == "list" and isinstance(part, int):
        return node.entries[part] if part < len(node.entries) else None
    raise NotEditable(f"What stands before {part!r} in this path holds no members.")


def _insert(document: Document, node: Value, part: str | int, value: Any) -> str:
    text = document.text
    if node.kind == "list" and part != len(node.entries):
        raise NotEditable(f"The list has {len(node.entries)} items; the next one is [{len(node.entries)}].")
    inner = text[node.start : node.end]
    many = "\n" in inner or (node is document.root and not node.entries)
    outer = document.indent_of(node.start)
    step = _step(document, node, outer)
    last = node.entries[-1] if node.entries else None
    shown = _render(document, value, outer + step, step if many else "")
    if node.kind == "object":
        shown = f"{_render_key(document, str(part))}: {shown}"
    trailing = last is not None and last.comma is not None
    lead = document.newline + outer + step if many else (" " if last else "")
    addition = lead + shown + ("," if trailing else "")
    rest = text[node.content :]
    if many and "\n" not in text[node.content : node.end]:
        rest = document.newline + outer + rest.lstrip(" \t")
    head = text[: node.content]
    if last is not None and not trailing:
        # The comma goes right behind the value, before a comment that follows it.
        head = head[: last.value.end] + "," + head[last.value.end :]
    return head + addition + rest


def _step(document: Document, node: Value, outer: str) -> str:
    """The indentation that one level adds, taken from the neighbours."""
    for sample in (node, document.root):
        for entry in sample.entries:
            indent = document.indent_of(entry.start)
            base = outer if sample is node else ""
            if document.text[: entry.start].rstrip(" \t").endswith("\n") and indent.startswith(base) and indent != base:
                return indent[len(base) :]
    return "  "


def _remove(text: str, node: Value, entry: Entry) -> str:
    position = node.entries.index(entry)
    end = entry.value.end
    if entry.comma is not None:
        # What stands between value and comma is white space or a comment, which stays.
        text = text[: entry.comma] + text[entry.comma + 1 :]
    elif position > 0 and (comma := node.entries[position - 1].comma) is not None:
        text = text[:comma] + text[comma + 1 :]
        return _cut(text, entry.start - 1, end - 1)
    return _cut(text, entry.start, end)


def _cut(text: str, start: int, end: int) -> str:
    """Remove a span, and its line when nothing else is left on it."""
    line = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    if stop >= 0 and not text[line:start].strip() and not text[end:stop].strip():
        return text[:line] + text[stop + 1 :]
    while end < len(text) and text[end] in " \t" and text[start - 1 : start] in (" ", "\t", "{", "["):
        end += 1
    return text[:start] + text[end:]


def _render_key(document: Document, key: str) -> str:
    if not document.quoted_keys and document.root.entries and _BARE.fullmatch(key):
        return key
    return json.dumps(key, ensure_ascii=False)


def _render(document: Document, value: Any, indent: str, step: str) -> str:
    """A value as text. `indent` is the one of its line; without a `step` everything stands on one line."""
    if isinstance(value, dict) and value:
        parts = [f"{_render_key(document, k)}: {_render(document, v, indent + step, step)}" for k, v in value.items()]
    elif isinstance(value, list) and value:
        parts = [_render(document, item, indent + step, step) for item in value]
        if not any(isinstance(item, dict | list) for item in value):
            step = ""
    else:
        # json gives Infinity and NaN as JSON5 spells them.
        return json.dumps(value, ensure_ascii=False)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if not step:
        return opening + ", ".join(parts) + closing
    lead = document.newline + indent + step
    return opening + ",".join(lead + part for part in parts) + document.newline + indent + closing

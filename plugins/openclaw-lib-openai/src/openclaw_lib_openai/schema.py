"""Tool schemas in the subset of JSON Schema that a server takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openclaw_lib_openai.quirks import SchemaRule

MAX_DEPTH = 32
"""Nesting at which a schema is cut: only a cycle gets there."""
_REFERENCES = frozenset({"$schema", "$id", "$ref", "$defs", "definitions", "$anchor", "$comment"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose members are names of a person's choice, not keywords."""
_VERBATIM = frozenset({"enum", "const", "default", "examples", "required"})


def adapt_schema(schema: Mapping[str, Any], rule: SchemaRule) -> Mapping[str, Any]:
    """The schema as `rule` wants it; the same object where nothing has to change."""
    if not rule.touches:
        return schema
    out = _Adapter(schema, rule).node(schema, ())
    return out if isinstance(out, dict) else {"type": "object", "properties": {}}


class _Adapter:
    """One walk over one schema."""

    def __init__(self, root: Mapping[str, Any], rule: SchemaRule) -> None:
        self._root = root
        self._rule = rule

    def node(self, value: Any, trail: tuple[str, ...]) -> Any:
        """A schema (or what stands where one is expected); `trail` holds the references on the way here."""
        if isinstance(value, list | tuple):
            return [self.node(v, trail) for v in value]
        if not isinstance(value, Mapping):
            return value
        if len(trail) >= MAX_DEPTH:
            return {}
        reference = value.get("$ref")
        if self._rule.inline and isinstance(reference, str):
            if reference in trail:
                return {"description": "a value like the one that holds it"}
            beside = {k: v for k, v in value.items() if k != "$ref"}
            return self.node({**self._target(reference), **beside}, (*trail, reference))
        out: dict[str, Any] = {}
        for key, inner in value.items():
            if key in self._rule.drop or (self._rule.inline and key in _REFERENCES):
                continue
            if key in _NAMED and isinstance(inner, Mapping):
                out[key] = {name: self.node(v, trail) for name, v in inner.items()}
            elif key in _VERBATIM:
                out[key] = inner
            else:
                out[key] = self.node(inner, trail)
        return _plain(out) if self._rule.plain_types else out

    def _target(self, reference: str) -> Mapping[str, Any]:
        """What a local reference names; a remote or broken one stands for anything."""
        found: Any = self._root
        if not reference.startswith("#"):
            return {}
        for part in reference[1:].split("/"):
            if part:
                key = part.replace("~1", "/").replace("~0", "~")
                found = found.get(key) if isinstance(found, Mapping) else None
        return found if isinstance(found, Mapping) else {}


def _plain(node: dict[str, Any]) -> dict[str, Any]:
    kinds = node.get("type")
    if isinstance(kinds, list):
        named = [k for k in kinds if k != "null"] or kinds
        node["type"] = named[0]
    if "const" in node:
        node["enum"] = [node.pop("const")]
    return node

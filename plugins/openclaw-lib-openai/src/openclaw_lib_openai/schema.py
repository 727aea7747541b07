"""Tool schemas in the subset of JSON Schema that a server takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openclaw_lib_openai.quirks import SchemaRule

MAX_NODES = 4000
"""Size at which a schema is cut: references that fan out grow without bound."""
_CUT: Mapping[str, Any] = {"type": "object", "description": "a value like the one that holds it"}
_REFERENCES = frozenset({"$schema", "$id", "$ref", "$defs", "definitions", "$anchor", "$comment"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose members are names of a person's choice, not keywords."""
_UNIONS = ("anyOf", "oneOf")
_VERBATIM = frozenset({"enum", "const", "default", "examples", "required"})


def adapt_schema(schema: Mapping[str, Any], rule: SchemaRule) -> Mapping[str, Any]:
    """The schema as `rule` wants it; the same object where nothing has to change."""
    if not rule.touches:
        return schema
    out = _Adapter(schema, rule).node(schema, ())
    assert isinstance(out, dict)  # a mapping gives one
    if rule.typed:  # the root is an object and nothing else
        out = {k: v for k, v in out.items() if k not in (*_UNIONS, "allOf")} | {"type": "object"}
    return out


class _Adapter:
    """One walk over one schema."""

    def __init__(self, root: Mapping[str, Any], rule: SchemaRule) -> None:
        self._root = root
        self._rule = rule
        self._nodes = 0

    def node(self, value: Any, trail: tuple[str, ...]) -> Any:
        """A schema (or what stands where one is expected); `trail` holds the references on the way here."""
        if isinstance(value, list | tuple):
            return [self.node(v, trail) for v in value]
        if not isinstance(value, Mapping):
            return value
        self._nodes += 1
        if self._nodes > MAX_NODES:
            return dict(_CUT)
        reference = value.get("$ref")
        if self._rule.inline and isinstance(reference, str):
            if reference in trail:
                return dict(_CUT)
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
        if self._rule.plain_types:
            _plain(out)
        if self._rule.typed:
            _typed(out)
        return out

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


def _plain(node: dict[str, Any]) -> None:
    kinds = node.get("type")
    if isinstance(kinds, list):
        named = [k for k in kinds if k != "null"] or kinds
        node["type"] = named[0] if named else "string"
    if "const" in node:
        node["enum"] = [node.pop("const")]


def _typed(node: dict[str, Any]) -> None:
    for union in _UNIONS:
        branches = node.get(union)
        if isinstance(branches, list):
            kind = node.pop("type", None)
            for branch in branches:
                if kind is not None and isinstance(branch, dict) and branch.get("type") == "string":
                    branch["type"] = kind  # the guess of a branch that named none
            return
    if "type" not in node and "allOf" not in node:
        node["type"] = _guess(node)


_JSON_TYPES = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"))


def _guess(node: Mapping[str, Any]) -> str:
    """The type of a node that names none: from its members, else text."""
    if "type" in node and isinstance(node["type"], str):
        return node["type"]
    if "properties" in node or "additionalProperties" in node:
        return "object"
    if "items" in node:
        return "array"
    values = node.get("enum")
    first = values[0] if isinstance(values, list) and values else ""
    return next((name for kind, name in _JSON_TYPES if isinstance(first, kind)), "string")

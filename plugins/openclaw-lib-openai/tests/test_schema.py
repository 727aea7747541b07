from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_lib_openai.quirks import SchemaRule
from openclaw_lib_openai.schema import MAX_NODES, adapt_schema

INLINE = SchemaRule(inline=True, plain_types=True)
STRICT = SchemaRule(inline=True, plain_types=True, typed=True, drop=frozenset({"pattern"}))

names = st.sampled_from(["a", "b", "type", "$ref", "anyOf"])
schemas = st.recursive(
    st.one_of(
        st.just({}),
        st.just({"type": ["null", "string"]}),
        st.just({"$ref": "#/$defs/A"}),
        st.just({"$ref": "#"}),
        st.just({"$ref": "https://elsewhere.test/x"}),
        st.just({"$ref": "#/nowhere/at~1all"}),
        st.just({"const": 1, "pattern": "x"}),
        st.just(True),
    ),
    lambda inner: st.one_of(
        st.builds(lambda p: {"type": "object", "properties": p}, st.dictionaries(names, inner, max_size=3)),
        st.builds(lambda i: {"type": "array", "items": i}, inner),
        st.builds(lambda i: {"type": "object", "anyOf": i}, st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=8,
)


def test_nothing_to_do_is_the_same_object():
    schema = {"type": "object"}
    assert adapt_schema(schema, SchemaRule()) is schema


@given(schemas, schemas)
def test_any_schema_ends_and_stays_json(root, other):
    schema = {"type": "object", "properties": {"r": root}, "$defs": {"A": other}}
    before = json.dumps(schema)
    for rule in (INLINE, STRICT):
        out = adapt_schema(schema, rule)
        text = json.dumps(out)
        assert out["type"] == "object"
        assert '"$defs"' not in text
        walk(out, rule)
    assert json.dumps(schema) == before, "the tool's own schema was changed"


def walk(node, rule):
    assert isinstance(node, dict | bool)
    if isinstance(node, bool):
        return
    assert not isinstance(node.get("type"), list)
    assert not set(node) & {"$ref", "const", *rule.drop}
    if rule.typed:
        assert ("type" in node) != ("anyOf" in node)
    for inner in node.get("properties", {}).values():
        walk(inner, rule)
    for inner in node.get("anyOf", ()):
        walk(inner, rule)
    if "items" in node:
        walk(node["items"], rule)


def test_a_reference_is_put_in_its_place_and_what_stands_beside_wins():
    schema = {
        "type": "object",
        "properties": {"p": {"$ref": "#/definitions/a~1b", "description": "mine"}},
        "definitions": {"a/b": {"type": "integer", "description": "theirs", "const": 3}},
    }
    assert adapt_schema(schema, INLINE) == {
        "type": "object",
        "properties": {"p": {"type": "integer", "description": "mine", "enum": [3]}},
    }


def test_members_called_like_keywords_stay():
    schema = {"type": "object", "properties": {"pattern": {"type": "string", "pattern": "x"}, "$ref": {"type": "null"}}}
    assert set(adapt_schema(schema, STRICT)["properties"]) == {"pattern", "$ref"}
    assert "pattern" not in adapt_schema(schema, STRICT)["properties"]["pattern"]


def test_references_that_fan_out_are_cut():
    defs = {
        f"d{n}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/d{n + 1}"} for k in "ab"}} for n in range(40)
    }
    out = adapt_schema({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": defs}, INLINE)
    assert json.dumps(out).count("properties") <= MAX_NODES


@pytest.mark.parametrize(
    ("node", "kind"),
    [
        ({}, "string"),
        ({"items": {}}, "array"),
        ({"properties": {}}, "object"),
        ({"enum": [True]}, "boolean"),
        ({"enum": [1]}, "integer"),
        ({"enum": [1.5]}, "number"),
        ({"type": "null"}, "null"),
    ],
)
def test_a_missing_type_is_guessed(node, kind):
    out = adapt_schema({"type": "object", "properties": {"x": node}}, STRICT)
    assert out["properties"]["x"]["type"] == kind

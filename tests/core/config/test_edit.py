"""Changing one value of a JSON5 text: the value changes, everything else stays."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from openclaw_core.config.document import Document, NotEditable
from openclaw_core.config.dotpath import MISSING, look_up, parse_path, replaced
from openclaw_core.config.edit import set_value, unset_value
from openclaw_core.config.syntax import parse
from openclaw_core.errors import InvalidRequest

HAND_MADE = (
    "{\r\n  // note\r\n  /* b */ 'z': {url: \"https://h.example//x/*y*/\", q: 1e3,},\r\n"
    '  token: "${GW_TOK}", // tail\r\n  a: [1, 2,\r\n 3,], m: null, \r\n}\r\n'
)


def data(text: str) -> Any:
    return parse(text.encode("utf-8", "surrogatepass"), "x")


# ---- any document, any change -----------------------------------------------------------------------

keys = st.sampled_from(["a", "b", "key", "z9", "$in", "two words", "ü", "-", "0", 'tok"en', "null"])
scalars = st.none() | st.booleans() | st.integers(-99, 99) | st.text(alphabet="ab \"'\\/*${},:[]\n\u2028é", max_size=6)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=10
)
trees = st.dictionaries(keys, values, max_size=4)


class Writer:
    """Writes plain data as JSON5 the way people do: comments, odd spaces, both quotes, trailing commas."""

    def __init__(self, seed: int, newline: str) -> None:
        self.random = random.Random(seed)
        self.newline = newline
        self.comments: list[str] = []

    def blank(self) -> str:
        kind = self.random.randrange(8)
        name = f"c{len(self.comments)} }} ] , \" '"
        if kind == 0:
            self.comments.append(f"/* {name} */")
            return f" /* {name} */ "
        if kind == 1:
            self.comments.append(f"// {name}")
            return f" // {name}{self.newline}  "
        return ["", " ", self.newline, f"{self.newline}  ", "\t", ""][kind - 2]

    def text(self, value: Any) -> str:
        if isinstance(value, dict):
            items = [f"{self.key(k)}{self.space()}:{self.space()}{self.text(v)}" for k, v in value.items()]
            return self.wrap("{", items, "}")
        if isinstance(value, list):
            return self.wrap("[", [self.text(item) for item in value], "]")
        if isinstance(value, str) and self.random.random() < 0.3:
            inner = json.dumps(value, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("'", "\\'")
            return f"'{inner}'"
        return json.dumps(value, ensure_ascii=self.random.random() < 0.5)

    def wrap(self, opening: str, items: list[str], closing: str) -> str:
        out = opening
        for number, item in enumerate(items):
            last = number == len(items) - 1
            comma = "" if last and self.random.random() < 0.6 else ","
            out += self.blank() + item + self.blank() + comma
        return out + self.blank() + closing

    def key(self, key: str) -> str:
        if re.fullmatch(r"[a-z$][a-z0-9]*", key) and self.random.random() < 0.6:
            return key
        return json.dumps(key)

    def space(self) -> str:
        return self.random.choice(["", " ", "\t"])


def paths_of(tree: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    out = [path] if path else []
    if isinstance(tree, dict):
        for key, item in tree.items():
            out += paths_of(item, (*path, key))
    if isinstance(tree, list):
        for number, item in enumerate(tree):
            out += paths_of(item, (*path, number))
    return out


@settings(max_examples=300)
@given(trees, values, st.integers(0, 10**6), st.sampled_from(["\n", "\r\n"]), st.data())
def test_setting_changes_the_value_and_keeps_every_comment(
    tree: dict[str, Any], value: Any, seed: int, newline: str, draw: st.DataObject
) -> None:
    writer = Writer(seed, newline)
    text = writer.blank() + writer.text(tree) + writer.blank()
    assert data(text) == tree
    containers = [()] + [p for p in paths_of(tree) if isinstance(look_up(tree, p), dict)]
    fresh = [(*p, draw.draw(keys)) for p in containers]
    ends = [(*p, len(look_up(tree, p))) for p in paths_of(tree) if isinstance(look_up(tree, p), list)]
    path = draw.draw(st.sampled_from(paths_of(tree) + fresh + ends))
    if draw.draw(st.booleans()) and look_up(tree, path) is MISSING and isinstance(path[-1], str):
        path = (*path, "deeper", "down")
    changed = set_value(text, path, value)
    assert data(changed) == replaced(tree, path, value)
    inside = Document(text)
    kept = [c for c in writer.comments if not _within(inside, path, text.index(c))]
    assert all(comment in changed for comment in kept)
    if newline == "\r\n" and "\n" in text:
        assert not re.search(r"(?<!\r)\n", changed)


def _within(document: Document, path: tuple[str | int, ...], place: int) -> bool:
    node = document.root
    for part in path:
        items = dict(enumerate(node.entries))
        found = node.member(str(part)) if node.kind == "object" else items.get(int(part))
        if found is None:
            return False
        node = found.value
    return node.start <= place < node.end


@settings(max_examples=300)
@given(trees.filter(bool), st.integers(0, 10**6), st.data())
def test_unsetting_removes_the_value_and_keeps_comments_around_it(
    tree: dict[str, Any], seed: int, draw: st.DataObject
) -> None:
    writer = Writer(seed, "\n")
    text = writer.text(tree)
    path = draw.draw(st.sampled_from(paths_of(tree)))
    changed = unset_value(text, path)
    assert data(changed) == replaced(tree, path, MISSING)
    kept = [c for c in writer.comments if not _within(Document(text), path, text.index(c))]
    assert all(comment in changed for comment in kept)


@given(trees, st.integers(0, 10**6), st.data())
def test_setting_the_value_that_is_there_changes_one_span_only(
    tree: dict[str, Any], seed: int, draw: st.DataObject
) -> None:
    writer = Writer(seed, "\n")
    text = writer.text({**tree, "probe": 1})
    changed = set_value(text, ("probe",), 2)
    assert len(changed) == len(text)
    assert sum(a != b for a, b in zip(text, changed, strict=True)) == 1


# ---- how it looks -----------------------------------------------------------------------------------


def test_a_hand_made_file_keeps_its_face() -> None:
    assert set_value(HAND_MADE, ("z", "q"), 2) == HAND_MADE.replace("1e3", "2")
    assert unset_value(HAND_MADE, ("token",)) == HAND_MADE.replace('  token: "${GW_TOK}", // tail', "  // tail")


@pytest.mark.parametrize(
    ("text", "path", "value", "expected"),
    [
        ("{}", ("n",), 1, '{\n  "n": 1\n}'),
        ('{"a":1}', ("n",), 1, '{"a":1, "n": 1}'),
        ("{a:1 // x\n}", ("n",), 1, "{a:1, // x\n  n: 1\n}"),
        ('{\n    "a": 1\n}\n', ("n",), [1, 2], '{\n    "a": 1,\n    "n": [1, 2]\n}\n'),
        (
            "{\n\ta: {\n\t\tb: 1 // c\n\t}\n}",
            ("a", "x"),
            {"y": 1},
            "{\n\ta: {\n\t\tb: 1, // c\n\t\tx: {\n\t\t\ty: 1\n\t\t}\n\t}\n}",
        ),
        ("{\n  a: 1,\n}", ("b", "c"), True, "{\n  a: 1,\n  b: {\n    c: true\n  },\n}"),
        ("{a: [1]}", ("a", 1), "x", '{a: [1, "x"]}'),
        ("{\n  // only\n}", ("n",), None, '{\n  // only\n  "n": null\n}'),
    ],
)
def test_new_values_look_like_their_neighbours(text: str, path: Any, value: Any, expected: str) -> None:
    assert set_value(text, path, value) == expected


def test_of_two_equal_keys_the_one_in_force_is_changed() -> None:
    assert data(set_value("{a: 1, a: 2}", ("a",), 3)) == {"a": 3}


@pytest.mark.parametrize(("path", "value"), [(("m", "x"), 1), (("a", 7), 1), (("token", "x"), 1), (("a", "x"), 1)])
def test_a_way_through_something_else_is_refused(path: Any, value: Any) -> None:
    with pytest.raises(NotEditable):
        set_value(HAND_MADE, path, value)


def test_what_is_not_there_cannot_be_removed() -> None:
    for path in [("nope",), ("z", "nope"), ("nope", "x")]:
        with pytest.raises(NotEditable):
            unset_value(HAND_MADE, path)


@pytest.mark.parametrize("text", ["{", "{a}", "{a:}", "[1", "{} {}", "", "{a:1 b:2}"])
def test_an_incomplete_text_is_refused(text: str) -> None:
    with pytest.raises(NotEditable):
        Document(text)


# ---- paths ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("gateway.port", ("gateway", "port")),
        ("agents.list[0].model", ("agents", "list", 0, "model")),
        ('models.providers["my one"].baseUrl', ("models", "providers", "my one", "baseUrl")),
        ('a["x\\"].[0]"][2]', ("a", 'x"].[0]', 2)),
    ],
)
def test_paths(text: str, path: Any) -> None:
    assert parse_path(text) == path


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "a[", "a[x]", "[0]", "a]b", "a.__proto__.b"])
def test_bad_paths(text: str) -> None:
    with pytest.raises(InvalidRequest):
        parse_path(text)


@given(st.lists(keys, min_size=1, max_size=4))
@example(["a.b", "c"])
def test_every_path_that_we_print_can_be_read(parts: list[str]) -> None:
    from openclaw_core.config.problems import dotted

    assert parse_path(dotted(parts)) == tuple(parts)

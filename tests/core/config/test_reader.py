"""Reading: syntax, includes, environment references."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_core.config.environment import substitute
from openclaw_core.config.reader import MAX_DEPTH, merge, read_source
from openclaw_core.config.syntax import parse
from openclaw_core.errors import ConfigFileError, ConfigValueError


def read(path: Path, **environ: str) -> dict[str, Any]:
    return read_source(path, environ).data


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "openclaw.json"


def test_json5_with_bom_and_crlf(file: Path) -> None:
    file.write_bytes(
        b"\xef\xbb\xbf{\r\n// note\r\n/* b */ 'z': {url: \"https://h.example//x/*y*/\",},\r\n"
        b'a: [1e3, 0x10, .5,], m: "$${NOT}",\r\n}\r\n'
    )
    assert read(file) == {"z": {"url": "https://h.example//x/*y*/"}, "a": [1000, 16, 0.5], "m": "${NOT}"}


def test_a_missing_file_is_an_empty_configuration(file: Path) -> None:
    source = read_source(file, {})
    assert (source.data, source.exists) == ({}, False)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [('{\n "a": 1\n "b": 2\n}', 3, 2), ("{a:\n\n  b}", 3, 3), ("{}\n\n]", 3, 1)],
)
def test_a_syntax_error_says_where(file: Path, text: str, line: int, column: int) -> None:
    file.write_text(text)
    with pytest.raises(ConfigFileError) as caught:
        read(file)
    assert (caught.value.details["line"], caught.value.details["column"]) == (line, column)
    assert "openclaw.json" in caught.value.message


@pytest.mark.parametrize("text", ["", "  \n", "[]", '"text"', "1", "null", "{", '{"a":', "// only a comment"])
def test_what_is_no_object_is_refused(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigFileError):
        read(file)


def test_text_that_is_not_utf8_is_refused_with_its_line(file: Path) -> None:
    file.write_bytes(b'{"a": 1,\n"b": "\xff"}')
    with pytest.raises(ConfigFileError) as caught:
        read(file)
    assert caught.value.details["line"] == 2


def test_deep_nesting_is_an_error_not_a_crash(file: Path) -> None:
    file.write_text("[" * 200_000)
    with pytest.raises(ConfigFileError):
        read(file)


def test_a_fifo_in_the_place_of_the_file_does_not_hang(file: Path) -> None:
    os.mkfifo(file)
    with pytest.raises(ConfigFileError):
        read(file)


def test_of_a_key_that_stands_twice_the_last_wins() -> None:
    assert parse(b'{"a": 1, "a": 2}', "x") == {"a": 2}
    assert parse(b"{a: 1, a: 2}", "x") == {"a": 2}


@given(st.recursive(st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(), st.lists, max_leaves=5))
def test_plain_json_is_read_as_json(value: Any) -> None:
    assert parse(json.dumps({"k": value}).encode(), "x") == {"k": value}


# ---- environment ------------------------------------------------------------------------------------


def test_references_are_replaced_in_values_only() -> None:
    tree = {"${A}": ["${A}-${B}", {"x": "$A $${A} ${a}"}], "n": 1}
    assert substitute(tree, {"A": "1", "B": "2"}) == {"${A}": ["1-2", {"x": "$A ${A} ${a}"}], "n": 1}


@pytest.mark.parametrize("environ", [{}, {"NOPE": ""}])
def test_a_missing_variable_names_its_place(file: Path, environ: dict[str, str]) -> None:
    file.write_text('{agents: {list: [{id: "a", name: "${NOPE}"}]}}')
    with pytest.raises(ConfigValueError) as caught:
        read(file, **environ)
    assert caught.value.path == "agents.list[0].name"
    assert "NOPE" in caught.value.message


def test_a_value_is_replaced_once_only() -> None:
    assert substitute("${A}", {"A": "${B}", "B": "secret"}) == "${B}"


def test_the_env_section_completes_the_environment(file: Path) -> None:
    file.write_text('{env: {A: "file", vars: {B: "vars"}}, x: "${A} ${B}"}')
    assert read(file, A="process")["x"] == "process vars"
    assert read(file, A="")["x"] == "file vars"


@given(st.text(alphabet="${}ABab_\\ \n", max_size=30))
def test_escaping_every_reference_gives_the_text_itself(text: str) -> None:
    escaped = re.sub(r"\$\{([A-Z_][A-Z0-9_]*)\}", r"$${\1}", text)
    assert substitute(escaped, {}) == text


# ---- includes ---------------------------------------------------------------------------------------


def test_one_file_replaces_its_object(file: Path) -> None:
    file.write_text('{agents: {$include: "./agents.json5"}}')
    (file.parent / "agents.json5").write_text("{defaults: {workspace: 'x'},}")
    assert read(file) == {"agents": {"defaults": {"workspace": "x"}}}


def test_a_list_is_merged_and_siblings_win(file: Path) -> None:
    (file.parent / "a.json").write_text('{"x": {"p": 1, "q": 1}, "l": [1, 2], "k": 1}')
    (file.parent / "b.json").write_text('{"x": {"q": 2}, "l": [3], "k": 2}')
    file.write_text('{s: {$include: ["a.json", "b.json"], k: 3}}')
    assert read(file) == {"s": {"x": {"p": 1, "q": 2}, "l": [3], "k": 3}}


def test_includes_are_relative_to_their_own_file(file: Path) -> None:
    folder = file.parent / "parts"
    folder.mkdir()
    file.write_text('{$include: "parts/a.json"}')
    (folder / "a.json").write_text('{"$include": "b.json", "a": 1}')
    (folder / "b.json").write_text('{"b": "${X}"}')
    source = read_source(file, {"X": "1"})
    assert source.data == {"a": 1, "b": "1"}
    assert [path.name for path in source.files] == ["openclaw.json", "a.json", "b.json"]


@pytest.mark.parametrize("name", ["../out.json", "/etc/passwd", "link.json", "folder/link/x.json", "missing.json", "."])
def test_an_include_stays_inside_the_folder(file: Path, tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "x.json").write_text("{}")
    (file.parent.parent / "out.json").write_text("{}")
    (file.parent / "link.json").symlink_to(outside / "x.json")
    (file.parent / "folder").mkdir()
    (file.parent / "folder" / "link").symlink_to(outside)
    file.write_text(json.dumps({"a": {"$include": name}}))
    with pytest.raises(ConfigFileError) as caught:
        read(file)
    assert caught.value.details["path"] == "a"


@pytest.mark.parametrize("value", [5, [], [1], {"a": "b"}, None])
def test_include_needs_names(file: Path, value: Any) -> None:
    file.write_text(json.dumps({"$include": value}))
    with pytest.raises(ConfigFileError):
        read(file)


def test_a_circle_of_includes_is_named(file: Path) -> None:
    file.write_text('{a: {$include: "b.json"}}')
    (file.parent / "b.json").write_text('{"$include": "c.json"}')
    (file.parent / "c.json").write_text('{"$include": "b.json"}')
    with pytest.raises(ConfigFileError, match="includes itself"):
        read(file)


def _chain(folder: Path, length: int) -> None:
    for number in range(1, length + 1):
        deeper = {"$include": f"{number + 1}.json"} if number < length else {"end": True}
        (folder / f"{number}.json").write_text(json.dumps(deeper))


def test_the_depth_of_includes_is_bounded(file: Path) -> None:
    file.write_text('{$include: "1.json"}')
    _chain(file.parent, MAX_DEPTH)
    assert read(file) == {"end": True}
    _chain(file.parent, MAX_DEPTH + 1)
    with pytest.raises(ConfigFileError, match="nested deeper"):
        read(file)


def test_the_digest_follows_included_files(file: Path) -> None:
    file.write_text('{$include: "a.json"}')
    (file.parent / "a.json").write_text('{"a": 1}')
    before = read_source(file, {}).digest
    (file.parent / "a.json").write_text('{"a": 2}')
    assert read_source(file, {}).digest != before


trees = st.recursive(
    st.integers(), lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3), max_leaves=8
)
objects = st.dictionaries(st.sampled_from("abc"), trees, max_size=3)


@given(objects, objects)
def test_merging_keeps_everything_of_the_later_one(base: dict[str, Any], over: dict[str, Any]) -> None:
    def leaves(tree: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
        if isinstance(tree, dict) and tree:
            return [leaf for key, item in tree.items() for leaf in leaves(item, (*path, key))]
        return [(path, tree)]

    merged = merge(base, over)
    for path, value in leaves(over):
        found: Any = merged
        for part in path:
            found = found[part]
        assert found == value or (value == {} and isinstance(found, dict))
    assert merge(merged, over) == merged

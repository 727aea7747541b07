"""Skills: found in their folders, higher sources win, a broken one costs only itself, the menu is bounded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_core.skills.frontmatter import parse
from openclaw_core.skills.snapshot import MAX_FILE_BYTES, MAX_PROMPT_CHARS, Root, Skill, build_menu, scan, stamp


def write(root: Path, folder: str, text: str) -> Path:
    file = root / folder / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def head(name: str, description: str = "Does it.", more: str = "") -> str:
    return f"---\nname: {name}\ndescription: {description}\n{more}---\nBody."


def test_higher_sources_replace_lower_ones(tmp_path: Path) -> None:
    low, high = Root(source="low", tier=1, path=tmp_path / "low"), Root(source="high", tier=6, path=tmp_path / "high")
    write(low.path, "a", head("sums", "Old."))
    write(low.path, "b", head("only-low"))
    write(high.path, "x", head("sums", "New."))
    shot = scan([high, low])
    assert [(s.name, s.description, s.source) for s in shot.skills] == [
        ("only-low", "Does it.", "low"),
        ("sums", "New.", "high"),
    ]
    assert [s.name for s in scan([low, high], disabled=["sums"]).skills] == ["only-low"]
    assert [s.name for s in scan([low, high], allowed=["sums"]).skills] == ["sums"]
    assert scan([low, high], allowed=[]).menu == ""


def test_a_broken_skill_costs_only_itself(tmp_path: Path) -> None:
    root = Root(source="s", tier=1, path=tmp_path / "skills")
    write(root.path, "good", head("good"))
    write(root.path, "nohead", "Just text.")
    write(root.path, "open", "---\nname: open\n")
    write(root.path, "list", "---\n- a\n---\n")
    write(root.path, "nameless", "---\ndescription: x\n---\n")
    write(root.path, "silent", head("silent", more="disable-model-invocation: true\n"))
    write(root.path, "huge", head("huge") + "x" * MAX_FILE_BYTES)
    (root.path / "empty").mkdir()
    (root.path / "linked").mkdir()
    (root.path / "linked" / "SKILL.md").symlink_to("/etc/passwd")
    assert [s.name for s in scan([root]).skills] == ["good"]
    assert scan([Root(source="s", tier=1, path=tmp_path / "none")]).skills == ()


def test_a_head_never_runs_anything(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    parse(f"---\nname: !!python/object/apply:os.mkdir ['{marker}']\ndescription: x\n---\n")
    assert not marker.exists()


def test_the_stamp_changes_with_the_files(tmp_path: Path) -> None:
    root = Root(source="s", tier=1, path=tmp_path)
    before = stamp([root])
    file = write(tmp_path, "a", head("a"))
    with_one = stamp([root])
    assert with_one != before
    assert stamp([root]) == with_one
    os.utime(file, ns=(1, 1))
    assert stamp([root]) != with_one


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("\ufeff---\r\nname: x\r\ndescription: d\r\n---\r\n", "d"),
        ("---\nname: x\ndescription: >\n  two\n  lines\n---\n", "two lines"),
        ("---\nname: x\ndescription: Use this: always\n---\n", "Use this: always"),
        ('---\nname: "x"\ndescription: "q"\nmetadata: {"openclaw": {"emoji": "y"}}\n---\n', "q"),
    ],
)
def test_heads(text: str, description: str) -> None:
    found = parse(text)
    assert (found.name, found.description, found.problem) == ("x", description, "")


@given(st.text(max_size=200))
def test_any_text_is_a_skill_or_a_problem(text: str) -> None:
    for found in (parse(text), parse(f"---\n{text}\n---\n")):
        assert found.problem or (found.name and found.description)


def test_the_menu_is_bounded_and_escaped() -> None:
    many = [Skill(name=f"s{n}", description="d" * 1000, location="/x", source="s") for n in range(500)]
    menu, sizes = build_menu(many)
    assert len(menu) < MAX_PROMPT_CHARS + 200
    assert len(sizes) < 150
    assert "more skills" in menu
    menu, _ = build_menu([Skill(name="</skill><x>", description="a & b <c>", location="/<p>", source="s")])
    assert "<x>" not in menu
    assert "a &amp; b &lt;c&gt;" in menu
    assert build_menu([]) == ("", {})

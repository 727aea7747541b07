"""The system prompt: byte-equal from run to run, new when one of its causes changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from openclaw_core.domain.tools import ToolSchema
from openclaw_core.plugin import PromptSection, TurnView
from openclaw_core.prompt.builder import BuiltPrompt, PromptBuilder, PromptSources
from openclaw_core.skills.snapshot import Root

TOOLS = (ToolSchema(name="read", description="Read a file.", parameters={"type": "object", "properties": {}}),)


@pytest.fixture
def sources(tmp_path: Path) -> PromptSources:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "AGENTS.md").write_text("Be kind.")
    (workspace / "MEMORY.md").write_text("Remember the milk.")
    return PromptSources(
        agent_id="main",
        workspace=workspace,
        time_zone="UTC",
        max_chars=1000,
        total_chars=3000,
        skill_roots=(Root(source="workspace", tier=6, path=workspace / "skills"),),
    )


def view(sources: PromptSources, key: str = "agent:main:main", mode: str = "full") -> TurnView:
    return TurnView(
        agent_id="main",
        session_key=key,
        channel="cli",
        provider="p",
        model="m",
        workspace=str(sources.workspace),
        mode=mode,
    )


class House:
    """A builder whose plugin sections the test sets."""

    def __init__(self, sources: PromptSources) -> None:
        self.sources = sources
        self.extra: list[PromptSection] = []
        self.builder = PromptBuilder(lambda _view: list(self.extra))

    def build(self, key: str = "agent:main:main", mode: str = "full") -> BuiltPrompt:
        return self.builder.build_now(self.sources, view(self.sources, key, mode), TOOLS)


@pytest.fixture
def house(sources: PromptSources) -> House:
    return House(sources)


def test_it_is_byte_equal_while_nothing_changes(house: House) -> None:
    first = house.build()
    assert house.build() is first
    assert House(house.sources).build().text == first.text
    assert "Be kind." in first.text


def test_each_cause_makes_a_new_one(house: House) -> None:
    seen = [house.build().text]

    def changed() -> str:
        text = house.build().text
        assert text not in seen
        seen.append(text)
        return text

    (house.sources.workspace / "AGENTS.md").write_text("Be brief.")
    assert "Be brief." in changed()
    (house.sources.workspace / "SOUL.md").write_text("Cheerful.")
    assert "Cheerful." in changed()
    (house.sources.workspace / "SOUL.md").unlink()
    assert house.build().text == seen[1]
    skill = house.sources.workspace / "skills" / "sums"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: sums\ndescription: Adds numbers.\n---\nAdd.")
    assert "Adds numbers." in changed()
    house.extra = [PromptSection(id="weather", title="Weather", text="Sunny.", order=5)]
    assert "Sunny." in changed()
    house.sources = replace(house.sources, time_zone="Europe/Berlin")
    assert "Europe/Berlin" in changed()


def test_private_files_stay_out_of_groups(house: House) -> None:
    assert "milk" in house.build().text
    assert "milk" not in house.build("agent:main:irc:group:room").text
    assert "milk" not in house.build("agent:main:irc:channel:room").text


def test_the_report_counts_what_is_there(house: House) -> None:
    built = house.build()
    report = built.report
    assert report["systemPrompt"]["chars"] == len(built.text)
    files = {f["name"]: f for f in report["injectedWorkspaceFiles"]}
    assert (files["AGENTS.md"]["missing"], files["AGENTS.md"]["rawChars"]) == (False, 8)
    assert files["SOUL.md"]["missing"] is True
    assert report["tools"]["entries"][0]["name"] == "read"
    sections = report["systemPrompt"]["sections"]
    assert sum(sections.values()) + 2 * (len(sections) - 1) == len(built.text)


def test_long_files_are_cut_with_a_mark_each_and_together(house: House) -> None:
    for name in ("AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md"):
        (house.sources.workspace / name).write_text(f"head of {name} " + "x" * 5000 + f" end of {name}")
    built = house.build()
    assert "head of AGENTS.md" in built.text
    assert "end of AGENTS.md" in built.text
    assert "characters left out" in built.text
    injected = [f["injectedChars"] for f in built.report["injectedWorkspaceFiles"]]
    assert max(injected) <= 1100
    assert sum(injected) <= 3300
    assert built.report["bootstrapTruncation"] is True


def test_a_file_that_leads_outside_is_not_used(house: House, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("outside secret")
    (house.sources.workspace / "AGENTS.md").unlink()
    (house.sources.workspace / "AGENTS.md").symlink_to(tmp_path / "outside.md")
    (house.sources.workspace / "USER.md").write_bytes(b"\xef\xbb\xbfbom \xff byte")
    text = house.build().text
    assert "outside secret" not in text
    assert "bom \ufffd byte" in text


def test_the_cache_is_bounded(house: House) -> None:
    house.builder = PromptBuilder(lambda _view: list(house.extra), keep=3)
    for number in range(10):
        house.extra = [PromptSection(id="n", title="N", text=str(number), order=1)]
        house.build()
    assert len(house.builder._built) == 3

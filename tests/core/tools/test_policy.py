"""Which tools are left: deny wins, each stage only takes away, and each removal names its rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_core.errors import ConfigValueError
from openclaw_core.tools.policy import PROFILES, Stage, filter_tools

TOOLS = ["read", "write", "edit", "apply_patch", "exec", "web_fetch", "message", "image", "mine_a", "mine_b", "Odd"]
PLUGINS = {"mine": ["mine_a", "mine_b"]}


def left(*stages: Stage) -> list[str]:
    return filter_tools(TOOLS, stages, plugins=PLUGINS)[0]


def test_without_rules_everything_stays() -> None:
    assert left() == TOOLS
    assert left(Stage(name="tools", profile="full")) == TOOLS


@pytest.mark.parametrize(
    ("stage", "kept"),
    [
        (Stage(name="s", allow=["group:fs"]), ["read", "write", "edit", "apply_patch"]),
        (Stage(name="s", allow=["write"]), ["write", "apply_patch"]),
        (Stage(name="s", allow=["mine"]), ["mine_a", "mine_b"]),
        (Stage(name="s", allow=["m*"]), ["message", "mine_a", "mine_b"]),
        (Stage(name="s", allow=["BASH", "odd"]), ["exec", "Odd"]),
        (Stage(name="s", allow=["read", "exec"], deny=["exec"]), ["read"]),
        (Stage(name="s", deny=["*"]), []),
        (Stage(name="s", profile="messaging"), ["message"]),
        (Stage(name="s", profile="messaging", also_allow=["mine"]), ["message", "mine_a", "mine_b"]),
        (Stage(name="s", profile="minimal"), []),
        (Stage(name="s", allow=["nothing-known"]), []),
    ],
)
def test_stages(stage: Stage, kept: list[str]) -> None:
    assert left(stage) == kept


def test_each_removal_names_its_rule() -> None:
    stages = [Stage(name="tools", deny=["exec"]), Stage(name="agents.x.tools", profile="coding", deny=["group:web"])]
    _, removed = filter_tools(TOOLS, stages, plugins=PLUGINS)
    rules = {r.tool: r.rule for r in removed}
    assert rules["exec"] == "tools.deny"
    assert rules["web_fetch"] == "agents.x.tools.deny"
    assert rules["message"] == "agents.x.tools.profile=coding"


NAMES = st.lists(st.sampled_from([*TOOLS, "group:fs", "mine", "*", "m*", "", "nope"]), max_size=4)
STAGES = st.builds(
    lambda profile, allow, also, deny: Stage(name="s", profile=profile, allow=allow, also_allow=also, deny=deny),
    st.sampled_from([None, *PROFILES]),
    NAMES,
    NAMES,
    NAMES,
)


@given(st.lists(STAGES, max_size=4), STAGES)
def test_one_more_stage_never_adds_a_tool(stages: list[Stage], more: Stage) -> None:
    before, after = left(*stages), left(*stages, more)
    assert [t for t in before if t in after] == after
    _, removed = filter_tools(TOOLS, [*stages, more], plugins=PLUGINS)
    assert sorted([*after, *(r.tool for r in removed)]) == sorted(TOOLS)


def test_contradictions_are_refused() -> None:
    with pytest.raises(ConfigValueError, match="profile"):
        Stage.of("agents.x.tools", {"profile": "codng"})
    with pytest.raises(ConfigValueError, match="exclude"):
        Stage.of("agents.x.tools", {"allow": ["read"], "alsoAllow": ["exec"]})

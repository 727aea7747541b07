"""`openclaw plugins`, and the eight packages that go wrong in eight ways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from openclaw_core.testing.plugin_env import PluginEnv

TOOLS = "openclaw.tools"
TOOL = """
    from openclaw_core.plugin import ToolSpec, hookimpl

    @hookimpl
    def openclaw_tools(env):
        yield ToolSpec(name="{name}", description="d", factory="json:loads"{more})
        {after}
"""
EIGHT = {
    "p1": "raise ImportError('P1 cannot be imported')",
    "p2": "import sys; sys.exit(3)",
    "p3": TOOL.format(name="t1", more="", after="raise RuntimeError('P3 failed half way')"),
    "p4": "print('P4 prints')\nimport threading; threading.Event().wait(1)\n",
    "p5": TOOL.format(name="t5", more=", api=99", after=""),
    "p7": TOOL.format(name="t7", more="", after=""),
    "good": TOOL.format(name="good", more="", after=""),
}
CAUSES = {
    "p1": "P1 cannot be imported",
    "p2": "sys.exit(3)",
    "p3": "P3 failed half way",
    "p5": "generation 99",
    "p6": "nope",
}


def with_eight(cli: Any, tmp_path: Path) -> Any:
    """A command line that finds the eight packages."""
    env = PluginEnv(tmp_path / "distributions")
    for name, source in EIGHT.items():
        env.add(
            name,
            entry_points={TOOLS: {name: f"{name}.plugin"}},
            modules={f"{name}.plugin": source},
            version=None if name == "p7" else "1.0",
        )
    env.add("p6", entry_points={TOOLS: {"p6": "p6.plugin:nope"}}, modules={"p6.plugin": ""})
    cli.environ = {**cli.environ, "PYTHONPATH": str(env.folder)}
    cli.env = env
    return cli


@pytest.fixture
def eight(cli: Any, tmp_path: Path) -> Any:
    return with_eight(cli, tmp_path)


def rows(cli: Any) -> dict[str, Any]:
    return {row["id"]: row for row in cli("plugins", "list", "--json").json["plugins"]}


def test_strangers_are_listed_and_not_imported(eight: Any) -> None:
    found = rows(eight)
    for name in (*EIGHT, "p6"):
        row = found[name]
        assert (row["state"], row["origin"], row["enabled"], row["status"]) == (
            "available",
            "installed",
            False,
            "disabled",
        )
        assert f"openclaw plugins enable {name}" in row["reason"]
    assert found["p7"]["version"] == ""
    assert not (eight.state / "plugins").exists()


def test_eight_packages_that_go_wrong(process: Any, tmp_path: Path) -> None:
    eight = with_eight(process, tmp_path)
    result = eight("plugins", "enable", *EIGHT, "p6", "--json")
    assert (result.status, result.json["ok"]) == (0, True)
    report = eight("plugins", "doctor", "--json")
    assert report.status == 0
    assert {row["id"] for row in report.json["errors"]} == set(CAUSES)
    found = rows(eight)
    for name, cause in CAUSES.items():
        assert found[name]["state"] == "error", found[name]
        assert cause in found[name]["reason"]
    for name in ("good", "p4", "p7"):
        assert (found[name]["state"], found[name]["status"]) == ("active", "loaded")
    for arguments in (["--help"], ["--version"], ["plugins", "list"], ["plugins", "disable", "p1"]):
        assert eight(*arguments).status == 0
    assert rows(eight)["p1"]["state"] == "disabled"
    doctor = eight("doctor", "--json")
    texts = json.dumps(doctor.json["findings"])
    assert all(cause in texts for name, cause in CAUSES.items() if name != "p1")
    assert CAUSES["p1"] not in texts


def test_human_reports_name_the_plugin_the_cause_and_what_to_do(eight: Any) -> None:
    eight("plugins", "enable", "p1")
    result = eight("plugins", "doctor")
    assert (result.status, "P1 cannot be imported" in result.out) == (0, True)
    assert "openclaw plugins disable p1" in result.out
    assert "P1 cannot be imported" in eight("plugins", "list").out


def test_fields_of_the_list_are_pinned(cli: Any) -> None:
    result = cli("plugins", "list", "--json").json
    assert set(result) == {"plugins", "diagnostics"}
    for row in result["plugins"]:
        assert set(row) >= {
            "id", "kind", "distribution", "version", "origin", "state", "reason", "enabled", "status",
        }  # fmt: skip
        assert row["kind"] in ["channel", "provider", "tools", "skills", "runtime", "store", "audit_sink", "extension"]
        assert row["state"] in ["active", "available", "disabled", "error"]
        assert row["origin"] == "bundled"


def test_a_duplicate_names_both_and_one_is_always_used(eight: Any) -> None:
    eight.env.add("aaa", entry_points={TOOLS: {"good": "aaa.plugin", "files": "aaa.plugin"}})
    listed = eight("plugins", "list", "--json").json
    found = {row["id"]: row for row in listed["plugins"]}
    assert (found["good"]["distribution"], found["good"]["duplicates"]) == ("aaa", ["good"])
    assert (found["files"]["distribution"], found["files"]["duplicates"]) == ("openclaw-tools-files", ["aaa"])
    assert len([row for row in listed["plugins"] if row["id"] == "good"]) == 1
    assert any("aaa" in d["text"] and "good" in d["text"] for d in listed["diagnostics"])


def test_drift_is_reported_until_confirmed(eight: Any) -> None:
    eight("plugins", "enable", "good")
    assert rows(eight)["good"]["reason"] == ""
    eight.env.write("good.plugin", TOOL.format(name="good2", more="", after=""))
    changed = eight("plugins", "list", "--json").json
    row = next(row for row in changed["plugins"] if row["id"] == "good")
    assert "changed since it was enabled" in row["reason"]
    assert row["state"] == "active"
    assert any("good" in d["text"] for d in changed["diagnostics"])
    eight("plugins", "enable", "good")
    assert rows(eight)["good"]["reason"] == ""


def test_the_configuration_is_corrected_only_where_it_contradicts(eight: Any) -> None:
    text = "{plugins: {entries: {good: {enabled: false /* why */}}}} // mine"
    eight.config.write_text(text)
    eight("plugins", "enable", "good")
    assert eight.config.read_text() == text.replace("false", "true")
    assert rows(eight)["good"]["state"] == "active"
    eight("plugins", "disable", "good")
    assert eight.config.read_text() == text
    eight("plugins", "enable", "p4")
    assert eight.config.read_text() == text


def test_what_still_keeps_a_plugin_off_is_said(eight: Any) -> None:
    eight.config.write_text("{plugins: {deny: ['good']}}")
    result = eight("plugins", "enable", "good", "--json")
    assert "plugins.deny" in result.err
    assert result.json["plugins"][0]["state"] == "disabled"


def test_a_bundled_plugin_can_be_switched_off_and_on(cli: Any) -> None:
    assert "disabled" in cli("plugins", "disable", "files").out
    assert rows(cli)["files"]["state"] == "disabled"
    cli("plugins", "enable", "files")
    assert rows(cli)["files"]["state"] == "active"


def test_inspect(eight: Any) -> None:
    assert eight("plugins", "inspect", "good", "--json").json["module"] == "good.plugin"
    assert eight("plugins", "info", "tools:good").out.splitlines()[0].split() == ["id", "good"]
    unknown = eight("plugins", "inspect", "god", "--json")
    assert (unknown.status, unknown.json["error"]["hint"]) == (1, "Did you mean good?")


def test_references_to_uninstalled_plugins_only_warn(eight: Any) -> None:
    eight.config.write_text(
        "{plugins: {allow: ['px', 'good'], entries: {px: {enabled: true}}, slots: {memory: 'px'}}, channels: {px: {}}}"
    )
    result = eight("plugins", "list", "--json")
    assert {d.get("key") for d in result.json["diagnostics"]} >= {
        "plugins.allow[0]",
        "plugins.entries.px",
        "channels.px",
    }
    assert rows(eight)["good"]["state"] == "active"
    before = eight.config.read_text()
    assert eight("doctor").status == 0
    assert eight("doctor").status == 0
    assert eight.config.read_text() == before


def test_state_that_cannot_be_written_is_a_clear_error(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = cli("plugins", "disable", "files", "--json", OPENCLAW_STATE_DIR=str(tmp_path / "file" / "state"))
    assert (result.status, result.json["error"]["code"]) == (1, "config_unreadable")

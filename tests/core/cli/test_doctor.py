"""`openclaw doctor`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from openclaw_core.cli.doctor import command_owner
from openclaw_core.testing.plugin_env import PluginEnv


def findings(cli: Any, check: str, **environ: str) -> list[dict[str, str]]:
    return [f for f in cli("doctor", "--json", **environ).json["findings"] if f["check"] == check]


def test_a_sound_installation_has_no_errors(cli: Any) -> None:
    result = cli("doctor", "--json")
    assert (result.status, result.json["ok"], result.json["summary"]["error"]) == (0, True, 0)
    assert {"python", "state", "config", "command", "plugins"} <= {f["check"] for f in result.json["findings"]}


def test_nothing_is_changed(cli: Any) -> None:
    cli("doctor")
    assert list(cli.state.iterdir()) == []


def test_open_permissions_are_a_warning_with_the_cure(cli: Any) -> None:
    cli.state.chmod(0o755)
    cli.config.write_text("{}")
    cli.config.chmod(0o644)
    found = findings(cli, "state")
    assert [f["level"] for f in found] == ["warn", "warn"]
    assert found[0]["hint"] == f"chmod 700 {cli.state}"
    assert found[1]["hint"] == f"chmod 600 {cli.config}"


def test_a_broken_configuration_is_an_error_and_the_last_good_one_is_named(cli: Any) -> None:
    cli.config.write_text("{gateway: {prt: 1, bnd: 1}}")
    cli.config.with_name("openclaw.json.last-good").write_text("{}")
    result = cli("doctor", "--json")
    assert result.status == 1
    found = [f for f in result.json["findings"] if f["check"] == "config"]
    assert [f["level"] for f in found] == ["error", "error", "warn"]
    assert "openclaw.json.last-good" in found[2]["text"]


def test_a_broken_section_of_a_plugin_is_named(cli: Any) -> None:
    cli.config.write_text("{channels: {irc: {hots: 1}}}")
    texts = [f["text"] for f in findings(cli, "plugins") if f["level"] == "error"]
    assert any("channels.irc" in text for text in texts)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("#!/usr/bin/env node\nconsole.log(1)\n", "the original for Node"),
        ("#!/usr/bin/python3\nimport other\n", "another Python distribution"),
        ("#!/bin/sh\n", "another program"),
    ],
)
def test_who_owns_the_command(tmp_path: Path, script: str, said: str) -> None:
    program = tmp_path / "openclaw"
    program.write_text(script)
    program.chmod(0o755)
    (found,) = command_owner(os.pathsep.join([str(tmp_path / "nothing"), str(tmp_path)]))
    assert (found.level, said in found.text) == ("warn", True)
    assert "python -m openclaw_core" in found.hint


def test_a_link_to_the_node_original(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    script = tmp_path / "lib" / "openclaw.mjs"
    script.write_text("import 'x'\n")
    script.chmod(0o755)
    (tmp_path / "openclaw").symlink_to(script)
    (found,) = command_owner(str(tmp_path))
    assert "the original for Node" in found.text


def test_our_own_command_is_fine(tmp_path: Path) -> None:
    program = tmp_path / "openclaw"
    program.write_text(f"#!{sys.executable}\nfrom openclaw_core.__main__ import main\n")
    program.chmod(0o755)
    (found,) = command_owner(str(tmp_path))
    assert found.level == "ok"


def test_another_distribution_with_the_same_command(plugin_env: PluginEnv) -> None:
    plugin_env.add("openclaw", entry_points={"console_scripts": {"openclaw": "openclaw.cli:main"}})
    found = [f for f in command_owner("") if f.level == "warn"]
    assert "the distribution openclaw installs a command openclaw too" in found[0].text


CHECKS = """
    import asyncio

    from openclaw_core.plugin import DoctorCheck, DoctorFinding, hookimpl

    async def good(view):
        return [DoctorFinding(level="error", text=f"port {view['gateway']['port']}", hint="do it")]

    async def slow(view):
        await asyncio.Event().wait()

    async def failing(view):
        raise ValueError(view["gateway"]["auth"]["token"])

    async def wrong(view):
        return ["text"]

    @hookimpl
    def openclaw_doctor_checks():
        return [
            DoctorCheck(id="good", summary="s", check=good),
            DoctorCheck(id="slow", summary="s", check=slow, timeout_s=0.2),
            DoctorCheck(id="failing", summary="s", check=failing),
            DoctorCheck(id="wrong", summary="s", check=wrong),
        ]
"""


def test_checks_of_plugins(cli: Any, tmp_path: Path) -> None:
    env = PluginEnv(tmp_path / "distributions")
    env.add("px", entry_points={"openclaw.extensions": {"px": "px.plugin"}}, modules={"px.plugin": CHECKS})
    cli.config.write_text('{plugins: {allow: ["px"]}, gateway: {port: 7, auth: {token: "hunter2hunter2"}}}')
    result = cli("doctor", "--json", PYTHONPATH=str(env.folder))
    assert result.status == 1
    found = {f["check"]: f for f in result.json["findings"]}
    assert (found["px.good"]["level"], found["px.good"]["text"], found["px.good"]["hint"]) == (
        "error",
        "port 7",
        "do it",
    )
    assert "longer than 0.2 s" in found["px.slow"]["text"]
    assert "ValueError" in found["px.failing"]["text"]
    assert "TypeError" in found["px.wrong"]["text"]
    assert "hunter2" not in result.out + result.err

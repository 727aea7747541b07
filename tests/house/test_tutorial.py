"""The plugin of the tutorial is real: discovered, enabled, and its tool runs."""

from __future__ import annotations

import tomllib
from pathlib import Path

from openclaw_core.domain.messages import ToolCallBlock
from openclaw_core.testing import GatewayHarness, PluginEnv
from openclaw_core.tools.invoke import prepare

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "tutorial" / "openclaw-tools-dice"


async def test_the_dice_plugin_works(plugin_env: PluginEnv, tmp_path: Path) -> None:
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]
    modules = {
        f"openclaw_tools_dice.{file.stem}".removesuffix(".__init__"): file.read_text()
        for file in (FOLDER / "src" / "openclaw_tools_dice").glob("*.py")
    }
    plugin_env.add(project["name"], entry_points=project["entry-points"], modules=modules)
    config = {"plugins": {"entries": {"dice": {"enabled": True}}}}
    async with GatewayHarness(tmp_path / "state", config) as gateway:
        box = gateway.engine.agents.get(gateway.engine.agents.default_id).box
        call = prepare(ToolCallBlock(id="c", name="roll", arguments={"count": 3, "sides": 2}), box)
        assert call.call is not None
        tool = box.get("roll")
        assert tool is not None
        result = await tool.tool.execute(call.call, None)  # type: ignore[arg-type]  # the dice need no context
        assert int(result.content[0].text.rpartition(" ")[2]) in range(3, 7)  # type: ignore[union-attr]  # text


async def test_without_enabling_it_is_not_imported(plugin_env: PluginEnv, tmp_path: Path) -> None:
    plugin_env.add(
        "openclaw-tools-dice",
        entry_points={"openclaw.tools": {"dice": "openclaw_tools_dice.plugin"}},
        modules={"openclaw_tools_dice.plugin": "raise SystemExit('imported')"},
    )
    async with GatewayHarness(tmp_path / "state") as gateway:
        row = gateway.engine.plugins.report.rows["tools:dice"]
        assert (row.state, row.origin) == ("available", "installed")
        outcome = await gateway.say("hello")
        assert outcome["status"] == "ok"

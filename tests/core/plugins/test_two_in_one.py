"""One module may offer several channels; one that nobody configured costs the others nothing."""

from __future__ import annotations

import json

import pytest

from openclaw_core.config.loader import load_config
from openclaw_core.config.paths import StatePaths
from openclaw_core.plugins.app import load_plugins
from openclaw_core.testing import PluginEnv

MODULE = """
from openclaw_core.plugin import ChannelSpec, hookimpl

@hookimpl
def openclaw_channels():
    return [ChannelSpec(id=i, summary=i, factory="x:y", config_model="x:z") for i in ("first", "second")]
"""


@pytest.mark.parametrize("configured", [["first"], ["second"], ["first", "second"]])
def test_only_the_configured_ones_are_offered(
    plugin_env: PluginEnv, openclaw_paths: StatePaths, configured: list[str]
) -> None:
    plugin_env.add(
        "openclaw-channel-twins",
        entry_points={"openclaw.channels": {"first": "twins.plugin", "second": "twins.plugin"}},
        modules={"twins.plugin": MODULE},
    )
    config = {
        "channels": {name: {} for name in configured},
        "plugins": {"entries": {name: {"enabled": True} for name in configured}},
    }
    openclaw_paths.config_file.write_text(json.dumps(config))
    app = load_plugins(load_config(openclaw_paths, environ={}), openclaw_paths, kinds=["channel"])
    assert [spec.id for _, spec in app.channels] == configured
    assert {name: app.report.rows[f"channel:{name}"].state for name in configured} == dict.fromkeys(
        configured, "active"
    )

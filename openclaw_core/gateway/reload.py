"""A changed configuration comes into force without a restart; a broken one changes nothing (behaviour.md 10.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openclaw_core.config.loader import LoadedConfig
from openclaw_core.config.watcher import ConfigWatcher
from openclaw_core.gateway.app import GatewayApp
from openclaw_core.observe.logging import get_logger

_log = get_logger("reload")


async def follow_config(app: GatewayApp, overrides: Mapping[str, Any]) -> None:
    """Watch the configuration until cancelled. `overrides` are the flags of the command line.

    Models, agents, tools and plugins follow at the next run; address, authentication and channels need a
    restart, and the log says so.
    """

    async def changed(loaded: LoadedConfig) -> None:
        before = app.engine.loaded.config
        await app.engine.apply(loaded)
        if loaded.config.gateway != before.gateway or loaded.config.channels != before.channels:
            _log.warning("gateway and channel settings changed; they come into force at the next start")
        _log.info("configuration changed; it is in force from the next run on")

    if app.engine.loaded.config.gateway.reload.mode == "off":
        return
    watcher = ConfigWatcher(
        app.engine.paths, app.engine.loaded, clock=app.engine.clock, on_change=changed, overrides=overrides
    )
    app.config_watcher = watcher
    await watcher.run()

"""What all commands share: global options, paths, the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from openclaw_core.cli import output
from openclaw_core.config.paths import StatePaths

if TYPE_CHECKING:
    from openclaw_core.config.loader import LoadedConfig
    from openclaw_core.plugins.app import AppPlugins

DEV_PORT = 19001
"""Gateway port of ``--dev`` (behaviour.md appendix B)."""


@dataclass(slots=True)
class CliState:
    """The global options of one command line; ``ctx.obj`` of every command."""

    state_dir: str | None = None
    profile: str | None = None
    dev: bool = False
    log_level: str = ""
    overrides: dict[str, Any] = field(default_factory=dict)
    _loaded: LoadedConfig | None = None

    @property
    def paths(self) -> StatePaths:
        """Where state and configuration are, by flags and environment."""
        return StatePaths.resolve(state_dir=self.state_dir, profile="dev" if self.dev else self.profile)

    def load(self, overrides: Mapping[str, Any] | None = None) -> LoadedConfig:
        """The configuration, read once; its warnings go to standard error. `overrides` are flags of the
        command: dotted path to value; None values are left out. Raises ConfigError."""
        from openclaw_core.config.loader import load_config

        flags = {**({"gateway.port": DEV_PORT} if self.dev else {}), **self.overrides}
        flags |= {path: value for path, value in (overrides or {}).items() if value is not None}
        if self._loaded is None or overrides:
            self._loaded = load_config(self.paths, overrides=flags)
            for warning in self._loaded.warnings:
                output.warn(warning.text)
        return self._loaded

    def plugins(self, *kinds: str) -> AppPlugins:
        """The plugins of these kinds (all without arguments), loaded; findings go to standard error."""
        from openclaw_core.plugins.app import load_plugins

        app = load_plugins(self.load(), self.paths, kinds=kinds or None)
        for finding in app.report.diagnostics:
            output.warn(finding["text"])
        return app

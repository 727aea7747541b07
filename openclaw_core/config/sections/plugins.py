"""``plugins``: which are on, and their own settings (behaviour.md 12.2)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from openclaw_core.config.secret import Secret
from openclaw_core.config.sections.base import Section, nested_default


class PluginEntry(Section):
    """``plugins.entries.<id>``. `config` is read by the plugin's own model. `required` is ours: while this
    plugin is not loaded, no tool may run (for plugins that guard tools)."""

    enabled: bool | None = None
    required: bool = False
    config: dict[str, Any] = Field(default_factory=dict)
    env: dict[str, Secret] = Field(default_factory=dict)
    api_key: Secret | None = None
    hooks: dict[str, Any] = Field(default_factory=dict)
    subagent: dict[str, Any] = Field(default_factory=dict)


class PluginsLoad(Section):
    """``plugins.load``. Plugins are installed packages here; `paths` is kept and has no effect."""

    paths: list[str] = Field(default_factory=list)


class PluginsSection(Section):
    """``plugins``. `deny` wins over everything; a non-empty `allow` is the whole list of plugins that are
    not part of this project. `slots` names the one plugin of a kind: `store` is ours."""

    enabled: bool = True
    allow: list[str] = Field(default_factory=list)
    deny: list[str] = Field(default_factory=list)
    load: PluginsLoad = nested_default()
    entries: dict[str, PluginEntry] = Field(default_factory=dict)
    slots: dict[str, str | None] = Field(default_factory=dict)
    installs: dict[str, Any] = Field(default_factory=dict)

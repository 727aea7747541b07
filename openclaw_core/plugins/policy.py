"""Which installed plugins are on, and why. Reads the configuration as plain data, so that it also works
while another part of the configuration is broken."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openclaw_core.plugins.catalog import Installed
from openclaw_core.plugins.digest import content_digest
from openclaw_core.plugins.records import PluginRecords

ACTIVE, AVAILABLE, DISABLED, ERROR = "active", "available", "disabled", "error"
DEFAULT_SLOTS = {"store": "sqlite"}
"""Kinds of which one plugin is used, and which one that is without configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """`state` is ``active``, ``available`` or ``disabled``; `reason` is one clause for people."""

    state: str
    reason: str = ""
    drift: bool = False


class PluginPolicy:
    """The rules, in this order: switched off (environment, deny, entry, command) - not in the allow list -
    a stranger without the owner's consent - not needed (a channel without configuration, a store that is
    not chosen) - on."""

    def __init__(
        self, raw: Mapping[str, Any], records: PluginRecords, environ: Mapping[str, str] | None = None
    ) -> None:
        env = os.environ if environ is None else environ
        section = _mapping(raw.get("plugins"))
        self._records = records
        self._strangers = section.get("enabled") is not False
        self._allow = _names(section.get("allow"))
        self._deny = _names(section.get("deny"))
        self._entries = {name: _mapping(entry) for name, entry in _mapping(section.get("entries")).items()}
        self._slots = DEFAULT_SLOTS | {k: v for k, v in _mapping(section.get("slots")).items() if isinstance(v, str)}
        self._channels = {
            name for name, part in _mapping(raw.get("channels")).items() if _mapping(part).get("enabled") is not False
        }
        only = env.get("OPENCLAW_PLUGINS")
        self._only = _split(only) if only is not None else None
        self._off = _split(env.get("OPENCLAW_DISABLE", ""))

    def required(self) -> list[str]:
        """Ids that the owner marked with ``plugins.entries.<id>.required``: without them no tool may run."""
        return sorted(name for name, entry in self._entries.items() if entry.get("required") is True)

    def slot(self, kind: str) -> str:
        """The id of the one plugin of a kind that is used."""
        return self._slots.get(kind, "")

    def configured(self, plugin: Installed) -> bool | None:
        """What ``plugins.entries.<id>.enabled`` says, None when it says nothing."""
        found = self._entries.get(plugin.id, {}).get("enabled")
        return found if isinstance(found, bool) else None

    def blockers(self, plugin: Installed) -> list[str]:
        """Configuration keys that keep a plugin off whatever `openclaw plugins enable` records."""
        out = []
        if _listed(plugin, self._deny):
            out.append("plugins.deny")
        if self.configured(plugin) is False:
            out.append(f"plugins.entries.{plugin.id}.enabled")
        if not plugin.bundled and not self._strangers:
            out.append("plugins.enabled")
        return out

    def decide(self, plugin: Installed) -> Decision:
        """The state of one plugin, without importing it."""
        off = self._switched_off(plugin)
        if off:
            return Decision(state=DISABLED, reason=off)
        drift = ""
        if not plugin.bundled:
            if self._allow and not _listed(plugin, self._allow):
                return Decision(state=DISABLED, reason="not in plugins.allow")
            if not self._wanted(plugin):
                return Decision(state=AVAILABLE, reason=f"run `openclaw plugins enable {plugin.id}` to use it")
            drift = self._drift(plugin)
        unused = self._unused(plugin)
        if unused:
            return Decision(state=AVAILABLE, reason=unused)
        return Decision(state=ACTIVE, reason=drift, drift=bool(drift))

    def _switched_off(self, plugin: Installed) -> str:
        if _listed(plugin, self._off):
            return "switched off by OPENCLAW_DISABLE"
        if _listed(plugin, self._deny):
            return "in plugins.deny"
        configured = self.configured(plugin)
        if configured is False:
            return f"plugins.entries.{plugin.id}.enabled is false"
        if configured is None and self._records.disabled(plugin.key):
            return "switched off by `openclaw plugins disable`"
        if plugin.bundled:
            return ""
        if not self._strangers:
            return "plugins.enabled is false"
        if self._only is not None and not _listed(plugin, self._only):
            return "not in OPENCLAW_PLUGINS"
        return ""

    def _wanted(self, plugin: Installed) -> bool:
        return bool(
            self._records.consent(plugin.key)
            or self.configured(plugin)
            or _listed(plugin, self._allow)
            or self._slots.get(plugin.kind) == plugin.id
        )

    def _unused(self, plugin: Installed) -> str:
        if plugin.kind == "channel" and plugin.id not in self._channels:
            return f"channels.{plugin.id} is not configured"
        slot = self._slots.get(plugin.kind)
        if slot and slot != plugin.id:
            return f"plugins.slots.{plugin.kind} is {slot}"
        return ""

    def _drift(self, plugin: Installed) -> str:
        consent = self._records.consent(plugin.key)
        if consent is None:
            return ""
        again = f"run `openclaw plugins enable {plugin.id}` if that was you"
        if consent.distribution != plugin.distribution:
            return f"now comes from {plugin.distribution}, was enabled from {consent.distribution}; {again}"
        if consent.version != plugin.version:
            return f"changed from version {consent.version} to {plugin.version} since it was enabled; {again}"
        if consent.digest and content_digest(plugin) != consent.digest:
            return f"its files changed since it was enabled; {again}"
        return ""


def _listed(plugin: Installed, names: frozenset[str]) -> bool:
    return plugin.id in names or plugin.key in names


def _names(value: Any) -> frozenset[str]:
    return frozenset(item for item in value if isinstance(item, str)) if isinstance(value, list) else frozenset()


def _split(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(",") if part.strip())


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}

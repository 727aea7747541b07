"""Names of plugins in the configuration that nothing installed answers to: warnings, never a refusal."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from openclaw_core.plugins.catalog import Catalog

FOREIGN_SLOTS = frozenset({"memory", "contextEngine"})
"""Slots of the original that this version has no plugins for; their values are not checked."""


def stale_references(raw: Mapping[str, Any], catalog: Catalog) -> list[tuple[str, str]]:
    """(dotted key, sentence) for each name of a plugin that is not installed."""
    known = catalog.ids()
    channels = {p.id for p in catalog.plugins if p.kind == "channel"}
    plugins = _mapping(raw.get("plugins"))
    found: list[tuple[str, str]] = []
    for name in ("allow", "deny"):
        names = plugins.get(name)
        for position, plugin in enumerate(names if isinstance(names, list) else []):
            if isinstance(plugin, str) and plugin.rpartition(":")[2] not in known:
                found.append((f"plugins.{name}[{position}]", _sentence(f"plugins.{name}", plugin, known)))
    for plugin in _mapping(plugins.get("entries")):
        if plugin not in known:
            key = f"plugins.entries.{plugin}"
            found.append((key, _sentence(key, plugin, known)))
    for slot, plugin in _mapping(plugins.get("slots")).items():
        if isinstance(plugin, str) and plugin not in known | {"none"} and slot not in FOREIGN_SLOTS:
            found.append((f"plugins.slots.{slot}", _sentence(f"plugins.slots.{slot}", plugin, known)))
    for channel in _mapping(raw.get("channels")):
        if channel not in channels | {"defaults", "modelByChannel"}:
            key = f"channels.{channel}"
            found.append((key, _sentence(key, channel, channels)))
    return found


def _sentence(key: str, name: str, known: set[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
    hint = f"; did you mean {close[0]}?" if close else "; it has no effect until that plugin is installed."
    return f"{key} names {name}, which is not installed{hint}"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}

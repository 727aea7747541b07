"""What every plugin distribution must keep, whatever kind it is."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pluggy
import pytest

from openclaw_core.contracts.tool import ToolEnv
from openclaw_core.hooks import specs
from openclaw_core.hooks.markers import PROJECT
from openclaw_core.plugins.app import STRICT_IDS
from openclaw_core.plugins.catalog import Installed, normalize, scan
from openclaw_core.plugins.contract import SPECS, spec_problem
from openclaw_core.plugins.resolve import resolve

ALLOWED = ("openclaw_core.plugin", "openclaw_core.hooks", "openclaw_core.contracts", "openclaw_core.domain")
"""Parts of core that importing a plugin may load; besides ``openclaw_core``, its errors, pluggy and the
standard library."""

HOOKS = {
    "openclaw_channels": "channel",
    "openclaw_providers": "provider",
    "openclaw_tools": "tools",
    "openclaw_skill_sources": "skills",
    "openclaw_runtimes": "runtime",
    "openclaw_stores": "store",
    "openclaw_audit_sinks": "audit_sink",
    "openclaw_http_routes": "http_routes",
    "openclaw_rpc_methods": "rpc_methods",
    "openclaw_commands": "commands",
    "openclaw_chat_commands": "chat_commands",
    "openclaw_doctor_checks": "doctor_checks",
    "openclaw_config_migrations": "config_migrations",
}
"""Hooks that return specs without looking at a run."""

_PROBE = """
import sys, json
import pluggy
import openclaw_core.plugin
before = set(sys.modules)
import importlib
for name in sys.argv[1:]:
    importlib.import_module(name)
print(json.dumps(sorted(set(sys.modules) - before)))
"""


class PluginContract:
    """Subclass it with the name of your distribution::

    class TestPlugin(PluginContract):
        distribution = "openclaw-channel-example"
    """

    distribution: ClassVar[str]

    @pytest.fixture
    def distribution_name(self) -> str:
        """The distribution under test."""
        return self.distribution

    @pytest.fixture
    def installed(self, distribution_name: str) -> list[Installed]:
        """The plugins of the distribution, as discovery sees them."""
        found = [p for p in scan().plugins if normalize(p.distribution) == normalize(distribution_name)]
        assert found, f"{distribution_name} has no entry point in a group openclaw.*; is it installed?"
        return found

    @pytest.fixture
    def modules(self, installed: list[Installed]) -> list[Any]:
        """The plugin modules, imported."""
        import importlib

        return [importlib.import_module(name) for name in dict.fromkeys(p.module for p in installed)]

    @pytest.fixture
    def manager(self, modules: list[Any]) -> pluggy.PluginManager:
        """A plugin manager that has the distribution registered; wrong signatures fail here."""
        manager = pluggy.PluginManager(PROJECT)
        manager.add_hookspecs(specs)
        for module in modules:
            manager.register(module)
        return manager

    def test_entry_points_name_modules(self, installed: list[Installed]) -> None:
        """An entry point's value is the module itself."""
        for plugin in installed:
            assert ":" not in plugin.value, f"{plugin.key}: write {plugin.module}, a module, without an attribute"

    def test_import_is_light(self, installed: list[Installed]) -> None:
        """`plugin.py` may import `openclaw_core.plugin` and the standard library: it is imported to be listed,
        long before anybody uses it."""
        names = list(dict.fromkeys(p.module for p in installed))
        result = subprocess.run(  # noqa: S603  # our own interpreter and probe
            [sys.executable, "-c", _PROBE, *names], capture_output=True, text=True, timeout=60, check=False
        )
        assert result.returncode == 0, result.stderr
        *printed, last = result.stdout.splitlines()
        assert not printed, f"importing the plugin prints: {printed}"
        own = {name.partition(".")[0] for name in names}
        heavy = [name for name in json.loads(last) if not _is_light(name, own)]
        assert not heavy, f"importing the plugin loads {heavy[:10]}; name heavy parts by import string instead"

    def test_hooks_are_known(self, manager: pluggy.PluginManager) -> None:
        """No hook that the host does not have, no misspelled one, no wrapper."""
        manager.check_pending()
        known = {name for name in vars(specs) if name.startswith("openclaw_")}
        for module in manager.get_plugins():
            wrong = [name for name in vars(module) if name.startswith("openclaw_") and name not in known]
            assert not wrong, f"unknown hooks: {wrong}"
            for caller in manager.get_hookcallers(module) or ():
                assert not any(impl.wrapper or impl.hookwrapper for impl in caller.get_hookimpls()), (
                    f"{caller.name} is a wrapper, which the host does not call"
                )

    def test_something_is_offered(self, manager: pluggy.PluginManager) -> None:
        """A module without a single marked hook is a plugin that does nothing; most likely @hookimpl is missing."""
        for module in manager.get_plugins():
            assert manager.get_hookcallers(module), f"{module} implements no hook"

    def test_specs_are_valid(self, manager: pluggy.PluginManager, installed: list[Installed], tmp_path: Path) -> None:
        """Types, API number, ids; ids of channels, runtimes, stores and audit sinks are entry-point names."""
        for kind, spec in _specs(manager, tmp_path):
            assert isinstance(spec, SPECS[kind])
            assert spec_problem(kind, spec) == ""
            if kind in STRICT_IDS:
                assert spec.id in {p.id for p in installed if p.kind == kind}

    def test_hooks_are_pure(self, manager: pluggy.PluginManager, tmp_path: Path) -> None:
        """Asked twice, they answer the same."""
        assert [_key(offer) for offer in _specs(manager, tmp_path)] == [
            _key(offer) for offer in _specs(manager, tmp_path)
        ]

    def test_import_strings_resolve(self, manager: pluggy.PluginManager, tmp_path: Path) -> None:
        """Factories, handlers and models are where the specs say; models are pydantic models."""
        from pydantic import BaseModel

        for _, spec in _specs(manager, tmp_path):
            for name in ("factory", "handler", "command", "app"):
                if text := getattr(spec, name, None):
                    assert callable(resolve(text)), f"{text} cannot be called"
            for name in ("config_model", "args_model"):
                if text := getattr(spec, name, None):
                    model = resolve(text)
                    assert isinstance(model, type)
                    assert issubclass(model, BaseModel)

    def test_readme_is_there(self, installed: list[Installed]) -> None:
        """People read it before they install anything."""
        metadata = installed[0].dist.metadata
        text = metadata.get("Description") or metadata.get_payload() or ""
        assert str(text).strip(), "the distribution has no README (`readme` in pyproject.toml)"

    def test_metadata_is_complete(self, installed: list[Installed]) -> None:
        """Name, version, summary and the supported Python."""
        metadata = installed[0].dist.metadata
        for field in ("Name", "Version", "Summary", "Requires-Python"):
            assert metadata.get(field), f"the metadata lacks {field}"


def _is_light(name: str, own: set[str]) -> bool:
    top = name.partition(".")[0]
    if top in own or top == "pluggy" or top in sys.stdlib_module_names:
        return True
    return name in ("openclaw_core", "openclaw_core.errors") or name.startswith(ALLOWED)


def _specs(manager: pluggy.PluginManager, folder: Path) -> Iterator[tuple[str, Any]]:
    env = ToolEnv(agent_id="main", workspace=folder, state_dir=folder)
    for hook, kind in HOOKS.items():
        for implementation in getattr(manager.hook, hook).get_hookimpls():
            for spec in implementation.function(*([env] if implementation.argnames else [])) or ():
                yield kind, spec


def _key(offer: tuple[str, Any]) -> tuple[str, str]:
    kind, spec = offer
    return kind, str(getattr(spec, "id", None) or getattr(spec, "name", ""))

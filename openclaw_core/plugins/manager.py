"""Registration: one pluggy manager per application, rules of the hooks, plugins that break them are left out."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from typing import Any

import pluggy

from openclaw_core.errors import PluginContractError, PluginError
from openclaw_core.hooks import specs
from openclaw_core.hooks.markers import PROJECT
from openclaw_core.hooks.relay import HookRelay
from openclaw_core.observe.logging import get_logger
from openclaw_core.plugins.catalog import Installed
from openclaw_core.plugins.loader import SlowImport
from openclaw_core.plugins.records import Failure, PluginRecords
from openclaw_core.plugins.report import LoadReport
from openclaw_core.plugins.resolve import describe

_log = get_logger("plugins")


class PluginManager:
    """The loaded plugins and the calls to them.

    A module that several entry points name is registered once; `members` gives its entry points. A plugin
    that breaks a rule is dropped, reported and remembered; the others do not notice.
    """

    def __init__(self, report: LoadReport, records: PluginRecords) -> None:
        self.report = report
        self.records = records
        self.members: dict[str, list[Installed]] = {}
        self.dropped: list[Callable[[str], None]] = []
        """Called with the registered name of each plugin that is dropped."""
        self._pluggy = pluggy.PluginManager(PROJECT)
        self._pluggy.add_hookspecs(specs)
        # OPENCLAW_TRACE_HOOKS=1 shows every hook call with its time.
        trace = _traced if os.environ.get("OPENCLAW_TRACE_HOOKS") == "1" else None
        self.relay = HookRelay(self._pluggy, self._hook_failed, trace)

    def register_all(self, loaded: Iterable[tuple[Installed, Any]]) -> None:
        """Register plugins in the given order and drop those with wrong signatures or unknown hooks."""
        added = [(plugin, module) for plugin, module in loaded if self._register(plugin, module)]
        self._drop_unknown_hooks()
        for plugin, module in added:
            if self._pluggy.is_registered(module):
                self.records.clear_failure(plugin.key)

    def _register(self, plugin: Installed, module: Any) -> bool:
        known = self._pluggy.get_name(module)
        if known is not None:
            self.members[known].append(plugin)
            return True
        try:
            self._pluggy.register(module, name=plugin.key)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  # pluggy reads attributes of foreign objects, which may do anything
            self._pluggy.unregister(module) if self._pluggy.is_registered(module) else None
            self.members[plugin.key] = [plugin]
            self.drop(plugin.key, f"a hook does not match its specification: {describe(error)}")
            return False
        self.members[plugin.key] = [plugin]
        wrappers = [
            caller.name
            for caller in self._pluggy.get_hookcallers(module) or ()
            for implementation in caller.get_hookimpls()
            if implementation.plugin is module and (implementation.wrapper or implementation.hookwrapper)
        ]
        if wrappers:
            self.drop(plugin.key, f"{wrappers[0]} is a hook wrapper, which this host does not call")
        return not wrappers

    def _drop_unknown_hooks(self) -> None:
        while True:
            try:
                self._pluggy.check_pending()
                return
            except pluggy.PluginValidationError as error:
                name = self._pluggy.get_name(error.plugin) or ""
                self.drop(name, "it uses a hook that this version does not have; a newer openclaw-core may")

    def names(self) -> list[str]:
        """Registered names of all plugins that work."""
        return [name for name, _ in self._pluggy.list_name_plugin()]

    def installed(self, name: str, kind: str = "") -> Installed:
        """The entry point behind a registered name, the one of a kind where there are several."""
        members = self.members[name]
        return next((plugin for plugin in members if plugin.kind == kind), members[0])

    def drop(self, name: str, reason: str) -> None:
        """Leave a plugin out from now on, and say so: in the report, in the log and for the next `list`."""
        module = self._pluggy.get_plugin(name)
        if module is not None:
            self._pluggy.unregister(module)
        for plugin in self.members.get(name, []):
            self.fail(plugin, PluginContractError(reason))
        for listener in self.dropped:
            listener(name)

    def fail(self, plugin: Installed, error: PluginError) -> None:
        """Report and remember that a plugin does not work; it need not be registered."""
        reason = str(error.details.get("reason") or error.message)
        self.report.fail(plugin.key, reason)
        self.records.note_failure(
            plugin.key,
            Failure(
                distribution=plugin.distribution,
                version=plugin.version,
                reason=reason,
                at=time.time_ns() // 1_000_000,
                slow=isinstance(error, SlowImport),
            ),
        )
        _log.warning(
            "plugin left out",
            plugin=plugin.key,
            distribution=plugin.distribution,
            reason=reason,
            hint=error.hint or f"Update it, or run `openclaw plugins disable {plugin.id}`.",
        )

    def unregister(self, name: str) -> None:
        """Take a plugin out without calling it broken."""
        module = self._pluggy.get_plugin(name)
        if module is not None:
            self._pluggy.unregister(module)
        for listener in self.dropped:
            listener(name)
        self.members.pop(name, None)

    def _hook_failed(self, name: str, hook: str, error: BaseException) -> None:
        if hook in ("openclaw_tool_policy", "openclaw_prompt_sections", "openclaw_gateway_ready"):
            # Asked again and again: a gate must stay in place to stay shut, a section is only left out.
            _log.warning("hook failed", plugin=name, hook=hook, error=describe(error))
            self.report.note("warn", f"{name}: {hook} failed: {describe(error)}.", plugin=name)
            return
        self.drop(name, f"{hook} failed: {describe(error)}")


def _traced(name: str, hook: str, seconds: float) -> None:
    _log.warning("hook called", plugin=name, hook=hook, ms=round(seconds * 1000, 2))

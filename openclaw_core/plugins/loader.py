"""Import plugins by name. Whatever a plugin's import does costs only that plugin."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from stevedore.named import NamedExtensionManager

from openclaw_core.errors import PluginLoadError
from openclaw_core.plugins.catalog import GROUPS, Installed
from openclaw_core.plugins.resolve import describe

IMPORT_SECONDS = 5.0
"""How long plugins of strangers may take to import, all together."""


class SlowImport(PluginLoadError):
    """The import did not end in time; it goes on in a thread that is not waited for."""


class GuardedEntryPoint:
    """An entry point whose `load` raises nothing but PluginLoadError (and KeyboardInterrupt).

    Stevedore sees the three attributes it needs. Strangers are imported in a thread of their own, which
    `begin` starts, so that they wait beside each other and not one after the other.
    """

    def __init__(self, plugin: Installed) -> None:
        self.plugin = plugin
        self.name = plugin.id
        self.value = plugin.value
        self.group = GROUPS[plugin.kind]
        self._thread: threading.Thread | None = None
        self._deadline = self._seconds = 0.0
        self._result: Any = None
        self._error: BaseException | None = None

    def begin(self, deadline: float, seconds: float) -> None:
        """Start importing in a daemon thread; `load` waits for it until `deadline` (monotonic), which is
        `seconds` away."""
        self._deadline, self._seconds = deadline, seconds
        self._thread = threading.Thread(target=self._import, name=f"import {self.plugin.key}", daemon=True)
        self._thread.start()

    def load(self) -> Any:
        """The plugin object, a module."""
        if self._thread is None:
            self._import()
        else:
            self._thread.join(max(0.0, self._deadline - time.monotonic()))
            if self._thread.is_alive():
                raise self._failed(f"its import took longer than {self._seconds:g} s", slow=True)
        if isinstance(self._error, KeyboardInterrupt) and self._thread is None:
            raise self._error
        if self._error is not None:
            raise self._failed(describe(self._error)) from self._error
        return self._result

    def _import(self) -> None:
        try:
            point = next(
                point
                for point in self.plugin.dist.entry_points
                if (point.group, point.name, point.value) == (self.group, self.name, self.value)
            )
            self._result = point.load()
        except BaseException as error:  # noqa: BLE001  # SystemExit and the rest must not end more than this plugin
            self._error = error

    def _failed(self, why: str, *, slow: bool = False) -> PluginLoadError:
        error = (SlowImport if slow else PluginLoadError)(
            f"{self.plugin.kind} {self.plugin.id} of {self.plugin.distribution} cannot be loaded: {why}.",
            kind=self.plugin.kind,
            plugin_id=self.plugin.id,
            distribution=self.plugin.distribution,
            hint=f"Update it, or run `openclaw plugins disable {self.plugin.id}`.",
        )
        error.details["reason"] = why
        return error


class PluginExtensions(NamedExtensionManager[Any]):
    """Stevedore's loader of named extensions over our catalogue: its own scan, its cache on disk and its
    choice among duplicates are not used."""

    def __init__(self, kind: str, points: Sequence[GuardedEntryPoint], failures: dict[str, PluginLoadError]) -> None:
        self._points = list(points)
        self._failures = failures
        super().__init__(
            GROUPS[kind],
            names=[point.name for point in points],
            on_load_failure_callback=self._note,
            on_missing_entrypoints_callback=None,
        )

    def list_entry_points(self) -> list[Any]:
        """The entry points the catalogue chose."""
        return list(self._points)

    def _note(self, manager: Any, point: Any, error: BaseException) -> None:
        assert isinstance(error, PluginLoadError)
        self._failures[point.plugin.key] = error


def load(
    plugins: Sequence[Installed], *, seconds: float = IMPORT_SECONDS
) -> tuple[dict[str, ModuleType | Any], dict[str, PluginLoadError]]:
    """Import plugins; returns what loaded and what failed, both by ``kind:id``.

    Plugins of this project are imported here and now, strangers in threads, at the same time, with
    `seconds` for all of them together.
    """
    points = [GuardedEntryPoint(plugin) for plugin in plugins]
    deadline = time.monotonic() + seconds
    for point in points:
        if not point.plugin.bundled:
            point.begin(deadline, seconds)
    loaded: dict[str, Any] = {}
    failures: dict[str, PluginLoadError] = {}
    for kind in GROUPS:
        mine = [point for point in points if point.plugin.kind == kind]
        if not mine:
            continue
        for extension in PluginExtensions(kind, mine, failures):
            loaded[f"{kind}:{extension.name}"] = extension.plugin
    return loaded, failures

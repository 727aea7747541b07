"""What turns messages into runs: the same for the gateway and for `agent --local`."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, Literal

from openclaw_core.aio.clock import Clock, SystemClock
from openclaw_core.aio.tasks import TaskOwner
from openclaw_core.audit.writer import AuditWriter
from openclaw_core.config.loader import LoadedConfig
from openclaw_core.config.paths import StatePaths
from openclaw_core.contracts.audit import AuditSink, AuditSinkEnv
from openclaw_core.contracts.runtime import Runtime, RuntimeEnv
from openclaw_core.contracts.store import Store, StoreEnv
from openclaw_core.delivery.reply import ReplyPlanner
from openclaw_core.domain.ids import BootId, new_uuid
from openclaw_core.domain.models import ModelInfo
from openclaw_core.errors import ConfigError, PluginContractError, PluginError, PluginNotFound
from openclaw_core.gateway.listeners import Listeners, ToolGate
from openclaw_core.gateway.public import public_config
from openclaw_core.ingress.door import Door
from openclaw_core.models.http import SharedHttp
from openclaw_core.models.registry import ModelRegistry
from openclaw_core.observe.logging import get_logger
from openclaw_core.plugin import RuntimeSpec
from openclaw_core.plugins.app import AppPlugins, load_plugins
from openclaw_core.prompt.builder import PromptBuilder
from openclaw_core.runs.agents import AgentDirectory
from openclaw_core.runs.conversation import HistoryReader
from openclaw_core.runs.deps import RunDeps
from openclaw_core.runs.dispatcher import Dispatcher
from openclaw_core.runs.hub import RunHub
from openclaw_core.runs.runner import Runner
from openclaw_core.sessions.history import HistoryWindow, MessageCache

_log = get_logger("engine")

Kind = Literal["gateway", "local"]
_LOCAL_KINDS = ("provider", "tools", "skills", "runtime", "store", "audit_sink", "extension")
_LOCK_WAIT_S = 1.0
"""How long a run waits for a session's write lock before it gives its place in the global lane away."""


class Engine:
    """Store, plugins, models, agents, lanes. Open it with `Engine.open`, close it with `aclose`."""

    def __init__(
        self, paths: StatePaths, loaded: LoadedConfig, plugins: AppPlugins, store: Store, clock: Clock
    ) -> None:
        self.paths = paths
        self.loaded = loaded
        self.plugins = plugins
        self.store = store
        self.clock = clock
        self.boot_id = BootId(new_uuid())
        self.hub = RunHub(clock)
        self.http = SharedHttp()
        self.listeners = Listeners(plugins.listeners)
        self._tasks = TaskOwner("engine")
        self._runtimes: dict[str, Runtime] = {}
        self._history = HistoryReader(cache=MessageCache(), window=HistoryWindow())
        self.audit = AuditWriter(store.audit, self._sinks(), clock)
        self.planner = ReplyPlanner({spec.id: spec for _, spec in plugins.channels}, _text_limits(loaded))
        self.runner = Runner(self._deps(), lock_timeout_s=_LOCK_WAIT_S)
        defaults = loaded.config.agents.defaults
        self.dispatcher = Dispatcher(
            self.runner,
            store.journal,
            self.hub,
            clock,
            owner=self.boot_id,
            slots=defaults.max_concurrent,
            busy_timeout_s=loaded.config.session.write_lock.acquire_timeout_ms / 1000,
        )
        self.door = Door(store.journal, clock, owner=self.boot_id, notify=self.dispatcher.notify)

    @classmethod
    async def open(cls, paths: StatePaths, loaded: LoadedConfig, *, kind: Kind, clock: Clock | None = None) -> Engine:
        """Load the plugins, open the store, and be ready to run; nothing runs yet.

        Raises StoreVersionError, PluginNotFound (no store) and what else keeps everything from working.
        """
        paths.ensure()
        plugins = load_plugins(loaded, paths, kinds=None if kind == "gateway" else _LOCAL_KINDS)
        store = open_store(paths, plugins)
        engine = cls(paths, loaded, plugins, store, clock or SystemClock())
        await store.start(engine.boot_id, kind=kind)
        engine._tasks.start(engine.audit.run(), name="audit")
        engine._tasks.start(engine.listeners.run(), name="listeners")
        return engine

    # ---- parts that follow the configuration -----------------------------------------------------

    def _deps(self) -> RunDeps:
        plugins, loaded = self.plugins, self.loaded
        public = public_config(loaded)
        self.models = ModelRegistry(
            loaded.config,
            plugins.providers,
            resolve=self._resolver("provider"),
            http=self.http,
            environ=loaded.environ,
        )
        self.agents = AgentDirectory(
            loaded.config,
            self.paths,
            tools=plugins.tools,
            skill_sources=plugins.skill_sources,
            resolve=self._resolver("tools"),
            public_config=public,
        )
        return RunDeps(
            store=self.store,
            clock=self.clock,
            hub=self.hub,
            audit=self.audit,
            agents=self.agents,
            models=self.models,
            prompts=PromptBuilder(lambda view: [s for _, s in plugins.prompt_sections(view)]),
            history=self._history,
            runtime=self.runtime_for,
            gate=ToolGate(plugins.tool_policy, self.listeners),
            plan_reply=self.planner.plan,
            emit=self.listeners.emit,
            rng=random.random,
        )

    def _resolver(self, kind: str) -> Callable[[str, str], Any]:
        return lambda plugin_id, text: self.plugins.resolve(plugin_id, text, kind=kind)

    async def apply(self, loaded: LoadedConfig) -> None:
        """Put a changed configuration in force for the runs that begin from now on."""
        old = self.models
        self.loaded = loaded
        fresh = load_plugins(loaded, self.paths, kinds=None, catalog=None)
        self.plugins = fresh
        self.listeners = Listeners(fresh.listeners)
        self._tasks.start(self.listeners.run(), name="listeners")
        self.runner.deps = self._deps()
        # requests in flight still use the old provider objects; they are closed with the last of them
        self._tasks.start(self._close_later(old), name="old-providers")

    async def _close_later(self, models: ModelRegistry) -> None:
        await self.clock.sleep(600.0)
        await models.aclose()

    def runtime_for(self, model: ModelInfo) -> tuple[str, Runtime]:
        """The runtime with the highest claim on a model (policy ``auto``)."""
        best: tuple[int, str, RuntimeSpec] | None = None
        for plugin_id, spec in self.plugins.runtimes:
            claim = spec.claims(model.provider, model.id)
            if claim is not None and (best is None or claim > best[0]):
                best = (claim, plugin_id, spec)
        if best is None:
            raise PluginNotFound(
                f"No installed runtime can run {model.ref}.",
                kind="runtime",
                hint="Install one: pip install openclaw-runtime-embedded",
            )
        _, plugin_id, spec = best
        if spec.id not in self._runtimes:
            env = RuntimeEnv(
                state_dir=str(self.paths.state_dir), config=self.plugins.config_for(plugin_id, spec, kind="runtime")
            )
            self._runtimes[spec.id] = self.plugins.resolve(plugin_id, spec.factory, kind="runtime")(env)
        return spec.id, self._runtimes[spec.id]

    def _sinks(self) -> list[tuple[str, AuditSink]]:
        out: list[tuple[str, AuditSink]] = []
        for plugin_id, spec in self.plugins.audit_sinks:
            try:
                config = self.plugins.config_for(plugin_id, spec, kind="audit_sink")
                factory = self.plugins.resolve(plugin_id, spec.factory, kind="audit_sink")
                out.append((spec.id, factory(AuditSinkEnv(state_dir=str(self.paths.state_dir), config=config))))
            except (PluginError, ConfigError) as error:
                _log.error("audit sink left out", sink=spec.id, error=error.message)
                self.plugins.fail(plugin_id, _as_plugin_error(error, plugin_id), kind="audit_sink")
        return out

    async def aclose(self) -> None:
        """Close everything; runs must have ended (`dispatcher.drain`, `dispatcher.aclose`)."""
        await self.dispatcher.aclose()
        await self._tasks.aclose()
        await self.audit.aclose()
        for runtime in self._runtimes.values():
            await runtime.aclose()
        await self.models.aclose()
        await self.http.aclose()
        await self.store.aclose()


def _text_limits(loaded: LoadedConfig) -> dict[str, int]:
    """``channels.<id>.textChunkLimit`` where it is a sensible number."""
    out: dict[str, int] = {}
    for ident, section in loaded.config.channels.configured().items():
        limit = section.get("textChunkLimit") if isinstance(section, Mapping) else None
        if isinstance(limit, int) and not isinstance(limit, bool) and limit >= 16:
            out[ident] = limit
    return out


def open_store(paths: StatePaths, plugins: AppPlugins) -> Store:
    """Make the configured store; it is not started."""
    plugin_id, spec = plugins.store()
    config = plugins.config_for(plugin_id, spec, kind="store")
    factory = plugins.resolve(plugin_id, spec.factory, kind="store")
    store: Store = factory(StoreEnv(state_dir=str(paths.state_dir), config=config))
    return store


def _as_plugin_error(error: PluginError | ConfigError, plugin_id: str) -> PluginError:
    if isinstance(error, PluginError):
        return error
    return PluginContractError(error.message, plugin_id=plugin_id, hint=error.hint)

"""The plugins of one running application: what they offer, and the report about them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from openclaw_core.errors import PluginError, PluginNotFound
from openclaw_core.plugin import ToolPolicyRequest, Verdict
from openclaw_core.plugins.catalog import Catalog, Installed, scan
from openclaw_core.plugins.loader import IMPORT_SECONDS, load
from openclaw_core.plugins.manager import PluginManager
from openclaw_core.plugins.policy import ERROR, PluginPolicy
from openclaw_core.plugins.records import PluginRecords
from openclaw_core.plugins.references import stale_references
from openclaw_core.plugins.report import LoadReport, survey
from openclaw_core.plugins.resolve import resolve

if TYPE_CHECKING:
    from openclaw_core.config.loader import LoadedConfig
    from openclaw_core.config.paths import StatePaths
    from openclaw_core.contracts.listener import Listener
    from openclaw_core.contracts.tool import ToolEnv
    from openclaw_core.hooks.views import GatewayView
    from openclaw_core.plugin import (
        AuditSinkSpec,
        ChannelSpec,
        ChatCommandSpec,
        CommandSpec,
        DoctorCheck,
        Migration,
        PromptSection,
        ProviderSpec,
        RouteSpec,
        RpcMethodSpec,
        RuntimeSpec,
        SkillSource,
        StoreSpec,
        ToolSpec,
        TurnView,
    )

T = TypeVar("T")
Offers = list[tuple[str, T]]
"""(plugin id, spec) in a fixed order: plugins of this project first, then by id."""

STRICT_IDS = frozenset({"channel", "runtime", "store", "audit_sink"})
"""Kinds whose spec ids must be entry-point names: the id a person writes in the configuration."""


def load_plugins(
    loaded: LoadedConfig,
    paths: StatePaths,
    *,
    kinds: Collection[str] | None = None,
    retry: bool = False,
    catalog: Catalog | None = None,
    import_seconds: float = IMPORT_SECONDS,
) -> AppPlugins:
    """Find, decide, import and register. Never raises because of a plugin.

    `kinds` limits what is imported (``channel provider tools skills runtime store audit_sink extension``).
    A plugin whose import hung the last time is not tried again until it changes, unless `retry`.
    """
    found = scan() if catalog is None else catalog
    records = PluginRecords(paths.plugins_dir)
    policy = PluginPolicy(loaded.raw, records, loaded.environ)
    report = survey(found, policy, records)
    for key, text in stale_references(loaded.raw, found):
        report.note("warn", text, key=key)
    secrets = {"environ": loaded.environ, "base": paths.config_file.parent}
    app = AppPlugins(loaded.raw, found, policy, PluginManager(report, records), secrets=secrets)
    app.import_seconds = import_seconds
    app.load([p for p in found.plugins if kinds is None or p.kind in kinds], retry=retry)
    return app


class AppPlugins:
    """What the loaded plugins offer. Lists are asked for once and kept; a plugin that fails later
    disappears from all of them."""

    def __init__(
        self,
        raw: Mapping[str, Any],
        catalog: Catalog,
        policy: PluginPolicy,
        manager: PluginManager,
        *,
        secrets: Mapping[str, Any] | None = None,
    ) -> None:
        self.report: LoadReport = manager.report
        self.catalog = catalog
        self.policy = policy
        self._raw = raw
        self._secrets = secrets or {}
        self._manager = manager
        self.import_seconds = IMPORT_SECONDS
        """How long plugins of strangers may take to import, all together."""
        self._offers: dict[str, list[tuple[str, Any]]] = {}
        self._gateway: GatewayView | None = None
        manager.dropped.append(self._forget)

    # ---- loading -----------------------------------------------------------------------------------

    def load(self, plugins: Iterable[Installed], *, retry: bool = False) -> None:
        """Import and register those that are on and not yet loaded."""
        known = {member.key for name in self._manager.names() for member in self._manager.members[name]}
        wanted = [p for p in plugins if p.key not in known and self._due(p, retry)]
        modules, failures = load(wanted, seconds=self.import_seconds)
        for plugin in wanted:
            if plugin.key in failures:
                self._manager.fail(plugin, failures[plugin.key])
        order = sorted((p for p in wanted if p.key in modules), key=lambda p: (not p.bundled, p.kind, p.id))
        for plugin in order:
            if self.report.rows[plugin.key].state == ERROR:
                self.report.revive(plugin.key, self.policy.decide(plugin).reason)
        self._manager.register_all((p, modules[p.key]) for p in order)
        self._offers.clear()
        if self._gateway is not None:
            for plugin in order:
                self._manager.relay.gateway_ready(self._gateway, only=plugin.key)

    def _due(self, plugin: Installed, retry: bool) -> bool:
        if self.policy.decide(plugin).state != "active":
            return False
        if retry:
            return True
        failure = self._manager.records.failure(plugin.key, distribution=plugin.distribution, version=plugin.version)
        return not (failure and failure.slow)

    def unload(self, name: str) -> None:
        """Take a plugin out of all lists; `name` is ``kind:id``. Objects already built live on with their
        owners, which close them."""
        self._manager.unregister(name)

    # ---- capabilities ------------------------------------------------------------------------------

    @property
    def channels(self) -> Offers[ChannelSpec]:
        """Channels that are configured."""
        return self._kept("channel", self._manager.relay.channels)

    @property
    def providers(self) -> Offers[ProviderSpec]:
        """Providers."""
        return self._kept("provider", self._manager.relay.providers)

    @property
    def skill_sources(self) -> Offers[SkillSource]:
        """Sources of skills."""
        return self._kept("skills", self._manager.relay.skill_sources)

    @property
    def runtimes(self) -> Offers[RuntimeSpec]:
        """Runtimes."""
        return self._kept("runtime", self._manager.relay.runtimes)

    @property
    def stores(self) -> Offers[StoreSpec]:
        """The store that the configuration chooses, in a list of at most one."""
        return self._kept("store", self._manager.relay.stores)

    def store(self) -> tuple[str, StoreSpec]:
        """The chosen store. Raises PluginNotFound when it is not installed or does not work."""
        if self.stores:
            return self.stores[0]
        name = self.policy.slot("store")
        row = self.report.rows.get(f"store:{name}")
        raise PluginNotFound(
            f"The store {name} cannot be used: {row.reason if row else 'it is not installed'}.",
            kind="store",
            plugin_id=name,
            hint="Install it, or choose another one with plugins.slots.store.",
        )

    @property
    def audit_sinks(self) -> Offers[AuditSinkSpec]:
        """Audit sinks that are on: named in ``logging.audit.sinks``, else those on by default."""
        chosen = _get(self._raw, "logging", "audit", "sinks")
        return [
            (plugin_id, spec)
            for plugin_id, spec in self._kept("audit_sink", self._manager.relay.audit_sinks)
            if (plugin_id in chosen if isinstance(chosen, list) else spec.default_on or self._asked_for(plugin_id))
        ]

    def _asked_for(self, plugin_id: str) -> bool:
        return _get(self._raw, "plugins", "entries", plugin_id, "enabled") is True

    # ---- surfaces and each run ---------------------------------------------------------------------

    def tools(self, env: ToolEnv) -> Offers[ToolSpec]:
        """Tools for one agent; call once per agent and configuration."""
        return self._checked("tools", self._manager.relay.tools(env))

    @property
    def http_routes(self) -> Offers[RouteSpec]:
        """HTTP routes."""
        return self._kept("http_routes", self._manager.relay.http_routes)

    @property
    def rpc_methods(self) -> Offers[RpcMethodSpec]:
        """Gateway methods."""
        return self._kept("rpc_methods", self._manager.relay.rpc_methods)

    @property
    def commands(self) -> Offers[CommandSpec]:
        """CLI commands."""
        return self._kept("commands", self._manager.relay.commands)

    @property
    def chat_commands(self) -> Offers[ChatCommandSpec]:
        """Slash commands in chats."""
        return self._kept("chat_commands", self._manager.relay.chat_commands)

    @property
    def doctor_checks(self) -> Offers[DoctorCheck]:
        """Checks of `openclaw doctor`."""
        return self._kept("doctor_checks", self._manager.relay.doctor_checks)

    @property
    def config_migrations(self) -> Offers[Migration]:
        """Migrations of the configuration, in their order."""
        found = self._kept("config_migrations", self._manager.relay.config_migrations)
        return sorted(found, key=lambda offer: offer[1].order)

    @property
    def listeners(self) -> Offers[Listener]:
        """Listeners to events."""
        return self._kept("listeners", self._manager.relay.listeners)

    def prompt_sections(self, turn: TurnView) -> Offers[PromptSection]:
        """Pieces of the prompt for one turn, in their order."""
        found = self._named(self._manager.relay.prompt_sections(turn))
        return sorted(found, key=lambda offer: (offer[1].order, offer[1].id))

    def tool_policy(self, request: ToolPolicyRequest) -> Verdict:
        """Whether plugins allow a tool: any deny wins, a failing policy denies, and so does the absence of a
        plugin that ``plugins.entries.<id>.required`` demands."""
        for plugin_id in self.policy.required():
            if not any(self._loaded(plugin) for plugin in self.catalog.named(plugin_id)):
                return Verdict(allow=False, reason=f"the required plugin {plugin_id} is not loaded")
        reasons = [
            f"{plugin_id}: {verdict.reason or 'denied'}"
            for plugin_id, verdict in self._named(self._manager.relay.tool_policy(request))
            if not verdict.allow
        ]
        return Verdict(allow=not reasons, reason="; ".join(reasons))

    def _loaded(self, plugin: Installed) -> bool:
        return any(plugin in self._manager.members[name] for name in self._manager.names())

    def gateway_ready(self, gateway: GatewayView) -> None:
        """Tell every plugin, and each one that is loaded later."""
        self._gateway = gateway
        self._manager.relay.gateway_ready(gateway)

    # ---- building ----------------------------------------------------------------------------------

    def resolve(self, plugin_id: str, text: str, *, kind: str = "") -> Any:
        """The object behind an import string of a plugin. Raises PluginLoadError."""
        plugin = self._installed(plugin_id, kind)
        return resolve(text, kind=plugin.kind, plugin_id=plugin_id, distribution=plugin.distribution)

    def config_for(self, plugin_id: str, spec: Any, *, kind: str = "") -> Any:
        """The plugin's own section, validated by its model: ``channels.<id>`` for a channel, else
        ``plugins.entries.<id>.config``. None without a model.

        Raises ConfigValueError with the dotted path (the caller leaves only this plugin out), or
        PluginLoadError.
        """
        from openclaw_core.plugins.settings import validate_section

        if not spec.config_model:
            return None
        plugin = self._installed(plugin_id, kind)
        model = self.resolve(plugin_id, spec.config_model, kind=plugin.kind)
        channel = type(spec).__name__ == "ChannelSpec"
        path = f"channels.{spec.id}" if channel else f"plugins.entries.{plugin_id}.config"
        found = _get(self._raw, *path.split("."))
        return validate_section(model, {} if found is None else found, path=path, plugin=plugin, secrets=self._secrets)

    def fail(self, plugin_id: str, error: PluginError, *, kind: str = "") -> None:
        """Report that a plugin could not be built; it is remembered for `plugins list`."""
        self._manager.fail(self._installed(plugin_id, kind), error)

    def _installed(self, plugin_id: str, kind: str) -> Installed:
        for plugin in self.catalog.named(plugin_id):
            if kind in ("", plugin.kind):
                return plugin
        raise PluginNotFound(f"No plugin {plugin_id} is installed.", kind=kind, plugin_id=plugin_id)

    # ---- keeping -----------------------------------------------------------------------------------

    def _kept(self, what: str, ask: Callable[[], list[tuple[str, Any]]]) -> list[tuple[str, Any]]:
        if what not in self._offers:
            self._offers[what] = []
            self._offers[what] = self._checked(what, ask())
        return self._offers[what]

    def _named(self, found: list[tuple[str, Any]], kind: str = "") -> list[tuple[str, Any]]:
        return [(self._manager.installed(name, kind).id, spec) for name, spec in found]

    def _checked(self, what: str, found: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """Drop plugins whose specs break a rule; the first owner of an id keeps it."""
        owners: dict[str, str] = {}
        broken: dict[str, str] = {}
        found = [(name, spec) for name, spec in found if not self._asleep(what, name, spec)]
        for name, spec in found:
            if name in broken:
                continue
            problem = self._problem(what, name, spec)
            ident = getattr(spec, "id", None) or getattr(spec, "name", None)
            if not problem and ident is not None and what != "listeners":
                owner = owners.setdefault(str(ident), name)
                if owner != name:
                    problem = f"it offers {what} {ident}, which {self._manager.installed(owner).id} has already"
            if problem:
                broken[name] = problem
        for name, problem in broken.items():
            self._manager.drop(name, problem)
        return self._named([(name, spec) for name, spec in found if name not in broken], what)

    def _asleep(self, what: str, name: str, spec: Any) -> bool:
        """Whether a spec belongs to another entry point of the same module that is not on, such as a second channel
        that nobody configured."""
        ident = getattr(spec, "id", None)
        if what not in STRICT_IDS or any(p.kind == what and p.id == ident for p in self._manager.members[name]):
            return False
        modules = {p.module for p in self._manager.members[name]}
        return any(p.kind == what and p.id == ident and p.module in modules for p in self.catalog.plugins)

    def _problem(self, what: str, name: str, spec: Any) -> str:
        from openclaw_core.plugins.contract import spec_problem

        if problem := spec_problem(what, spec):
            return problem
        if what in STRICT_IDS:
            mine = [p.id for p in self._manager.members[name] if p.kind == what]
            if spec.id not in mine:
                return f"its {what} id {spec.id} is not the name of an entry point ({', '.join(mine) or 'none'})"
        return ""

    def _forget(self, name: str) -> None:
        members = self._manager.members.get(name, [])
        gone = {plugin.id for plugin in members}
        for what, offers in self._offers.items():
            self._offers[what] = [offer for offer in offers if offer[0] not in gone]


def _get(raw: Any, *path: str) -> Any:
    for part in path:
        if not isinstance(raw, Mapping):
            return None
        raw = raw.get(part)
    return raw

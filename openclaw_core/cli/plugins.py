"""`openclaw plugins`: what is installed, and what of it may run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from openclaw_core.cli import output
from openclaw_core.cli.listing import list_plugins, plugin_report
from openclaw_core.cli.state import CliState
from openclaw_core.errors import ConfigError, PluginConflict, PluginNotFound

if TYPE_CHECKING:
    from openclaw_core.config.loader import LoadedConfig
    from openclaw_core.config.paths import StatePaths
    from openclaw_core.plugins.app import AppPlugins
    from openclaw_core.plugins.catalog import Installed
    from openclaw_core.plugins.policy import PluginPolicy
    from openclaw_core.plugins.report import PluginRow

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(name="plugins")
def command() -> None:
    """List, inspect and enable plugins."""


@command.command(name="list")
@click.option("--enabled", "only_enabled", is_flag=True, help="Only those that are on.")
@as_json_option
@click.pass_obj
@output.command_errors
def list_(state: CliState, only_enabled: bool, as_json: bool) -> None:
    """Show every installed plugin and its state; nothing is imported."""
    list_plugins(state.paths, as_json=as_json, only_enabled=only_enabled)


@command.command()
@click.argument("plugin")
@as_json_option
@click.pass_obj
@output.command_errors
def inspect(state: CliState, plugin: str, as_json: bool) -> None:
    """Show one plugin: PLUGIN is its id, or kind:id."""
    rows = [_details(row) for row in _rows(state, plugin)]
    if as_json:
        output.emit_json(rows[0] if len(rows) == 1 else {"plugins": rows})
        return
    for number, row in enumerate(rows):
        if number:
            output.line()
        output.fields([(name, ", ".join(value) if isinstance(value, list) else value) for name, value in row.items()])


command.add_command(inspect, "info")


@command.command()
@click.argument("plugins", nargs=-1, required=True, metavar="PLUGIN...")
@as_json_option
@click.pass_obj
@output.command_errors
def enable(state: CliState, plugins: tuple[str, ...], as_json: bool) -> None:
    """Let PLUGIN run from the next run on, and remember which version of it you meant.

    A plugin is code that runs with all your rights: enable only what you trust.
    """
    from openclaw_core.plugins.digest import content_digest
    from openclaw_core.plugins.records import Consent, PluginRecords

    found, policy = _find(state, plugins)
    records = PluginRecords(state.paths.plugins_dir)
    for item in found:
        _clear_way(state, item, policy)
        consent = Consent(
            distribution=item.distribution,
            version=item.version,
            digest=content_digest(item),
            at=time.time_ns() // 1_000_000,
        )
        records.enable(item.key, consent)
    _show_state(state, found, "enabled", as_json)


@command.command()
@click.argument("plugins", nargs=-1, required=True, metavar="PLUGIN...")
@as_json_option
@click.pass_obj
@output.command_errors
def disable(state: CliState, plugins: tuple[str, ...], as_json: bool) -> None:
    """Switch PLUGIN off from the next run on; it stays installed."""
    from openclaw_core.config.editor import ConfigEditor
    from openclaw_core.plugins.records import PluginRecords

    found, policy = _find(state, plugins)
    records = PluginRecords(state.paths.plugins_dir)
    for item in found:
        if policy is not None and policy.configured(item):
            # The file says the opposite in so many words; it has the last word, so it is corrected.
            ConfigEditor(state.paths).set(("plugins", "entries", item.id, "enabled"), False)
        records.disable(item.key, at=time.time_ns() // 1_000_000)
    _show_state(state, found, "disabled", as_json)


@command.command()
@as_json_option
@click.pass_obj
@output.command_errors
def doctor(state: CliState, as_json: bool) -> None:
    """Load every enabled plugin and name each one that does not work, with the cause.

    Exit status 0, whatever is found: this is a report. Plugins remembered as hanging are tried again.
    """
    from openclaw_core.config.loader import load_config
    from openclaw_core.plugins.app import load_plugins

    try:
        loaded = load_config(state.paths)
        app = load_plugins(loaded, state.paths, retry=True)
        exercise(app, loaded, state.paths)
        report = app.report
    except ConfigError as error:
        report = plugin_report(state.paths)
        output.warn(f"plugins were not loaded: {error.message}")
    broken = report.errors()
    if as_json:
        output.emit_json(
            {
                "ok": not broken,
                "errors": [_details(row) for row in broken],
                "diagnostics": report.diagnostics,
                "plugins": [row.as_dict() for row in report.ordered()],
            }
        )
        return
    for row in broken:
        output.line(f"{row.id} ({row.kind}, {row.distribution}): {row.reason}")
        output.line(f"  Update it, or run `openclaw plugins disable {row.id}`.")
    for finding in report.diagnostics:
        output.line(f"{finding['level']}: {finding['text']}")
    active = sum(row.state == "active" for row in report.ordered())
    output.line(f"{active} active, {len(broken)} broken.")


def exercise(app: AppPlugins, loaded: LoadedConfig, paths: StatePaths) -> None:
    """Ask every hook that returns specs once, as the gateway would, so that failing ones are found."""
    from openclaw_core.config.schema import plain
    from openclaw_core.contracts.tool import ToolEnv

    agent = loaded.config.agents.default_id()
    data = plain(loaded.config)
    app.tools(ToolEnv(agent_id=agent, workspace=paths.workspace, state_dir=paths.state_dir, config=data))
    for name in (
        "channels",
        "providers",
        "skill_sources",
        "runtimes",
        "stores",
        "audit_sinks",
        "http_routes",
        "rpc_methods",
        "commands",
        "chat_commands",
        "doctor_checks",
        "config_migrations",
        "listeners",
    ):
        getattr(app, name)


def _rows(state: CliState, name: str) -> list[PluginRow]:
    report = plugin_report(state.paths)
    rows = [row for row in report.ordered() if name in (row.id, row.key)]
    if not rows:
        raise _unknown(name, {row.id for row in report.ordered()})
    return rows


def _find(state: CliState, names: tuple[str, ...]) -> tuple[list[Installed], PluginPolicy | None]:
    """The plugins of these ids (an id may be of several kinds, if one distribution owns them all), and the
    policy if the configuration can be read."""
    from openclaw_core.config.reader import read_source
    from openclaw_core.plugins.catalog import scan
    from openclaw_core.plugins.policy import PluginPolicy
    from openclaw_core.plugins.records import PluginRecords

    catalog = scan()
    found: list[Installed] = []
    for name in names:
        mine = catalog.named(name)
        if not mine:
            raise _unknown(name, catalog.ids())
        if len({item.distribution for item in mine}) > 1:
            raise PluginConflict(
                f"{name} is the id of several plugins: {', '.join(item.key for item in mine)}.",
                plugin_id=name,
                hint="Name one of them like that, with its kind.",
            )
        found += [item for item in mine if item not in found]
    try:
        raw = read_source(state.paths.config_file, allow_missing=True).data
    except ConfigError as error:
        output.warn(f"the configuration is not used here: {error.message}")
        return found, None
    return found, PluginPolicy(raw, PluginRecords(state.paths.plugins_dir))


def _clear_way(state: CliState, item: Installed, policy: PluginPolicy | None) -> None:
    """The file may say in so many words that the plugin is off; then it is corrected, or named."""
    from openclaw_core.config.editor import ConfigEditor

    blockers = policy.blockers(item) if policy is not None else []
    entry = f"plugins.entries.{item.id}.enabled"
    if entry in blockers:
        ConfigEditor(state.paths).set(("plugins", "entries", item.id, "enabled"), True)
        blockers.remove(entry)
    for blocker in blockers:
        output.warn(f"{blocker} in the configuration still keeps {item.id} off.")


def _show_state(state: CliState, found: list[Installed], word: str, as_json: bool) -> None:
    keys = {item.key for item in found}
    rows = [row for row in plugin_report(state.paths).ordered() if row.key in keys]
    if as_json:
        output.emit_json({"ok": True, "plugins": [row.as_dict() for row in rows]})
        return
    for row in rows:
        reason = f" ({row.reason})" if row.reason else ""
        output.line(f"{row.kind} {row.id} of {row.distribution} is {word}: {row.state}{reason}.")
    output.line("This applies to the next run.")


def _details(row: PluginRow) -> dict[str, Any]:
    return {**row.as_dict(), "module": row.module, "hint": _hint(row)}


def _hint(row: PluginRow) -> str:
    if row.state == "error":
        return f"Update it, or run `openclaw plugins disable {row.id}`."
    if row.state == "available" and row.origin == "installed":
        return f"Run `openclaw plugins enable {row.id}` to use it."
    return ""


def _unknown(name: str, known: set[str]) -> PluginNotFound:
    import difflib

    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return PluginNotFound(
        f"No plugin {name} is installed.",
        plugin_id=name,
        hint=f"Did you mean {close[0]}?" if close else "See `openclaw plugins list`.",
    )

"""The command tree: each group is imported when it is used, plugins add commands of their own."""

from __future__ import annotations

import difflib
import importlib
from typing import Any

import click

from openclaw_core import __version__
from openclaw_core.cli import output
from openclaw_core.cli.state import CliState
from openclaw_core.errors import InvalidRequest, OpenClawError

COMMANDS: dict[str, tuple[str, str]] = {
    "agent": ("openclaw_core.cli.agent:command", "Run one turn of an agent."),
    "audit": ("openclaw_core.cli.audit:command", "Show the audit ledger."),
    "chat": ("openclaw_core.cli.chat:command", "Talk to an agent in the terminal."),
    "config": ("openclaw_core.cli.config:command", "Read and change the configuration."),
    "doctor": ("openclaw_core.cli.doctor:command", "Check this installation."),
    "gateway": ("openclaw_core.cli.gateway:command", "Run the gateway and talk to it."),
    "models": ("openclaw_core.cli.models:command", "Show models and providers."),
    "plugins": ("openclaw_core.cli.plugins:command", "List, inspect and enable plugins."),
    "sessions": ("openclaw_core.cli.sessions:command", "Show conversations."),
    "status": ("openclaw_core.cli.status:command", "Show how everything is."),
    "tasks": ("openclaw_core.cli.tasks:command", "Show and cancel tasks."),
    "trace": ("openclaw_core.cli.trace:command", "Show what a run did, from all records."),
}
"""Word to the click command behind it, ``module:attribute``, and its line in the help."""


class LazyGroup(click.Group):
    """The root group. It knows its words from `COMMANDS` and asks plugins only when it must."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The words of core."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the module of a word; an unknown word is looked for among the plugins."""
        if name in COMMANDS:
            module, _, attribute = COMMANDS[name][0].partition(":")
            found = getattr(importlib.import_module(module), attribute)
        else:
            found = _plugin_commands(ctx).get(name)
        if found is not None:
            _own_help(found)
        return found if isinstance(found, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in the help, without importing the modules of core."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])
        added = _plugin_commands(ctx)
        if added:
            with formatter.section("Commands of plugins"):
                formatter.write_dl([(name, command.get_short_help_str()) for name, command in sorted(added.items())])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Raise with a suggestion when nobody knows the word."""
        name = args[0]
        found = self.get_command(ctx, name)
        if found is None:
            known = sorted({*COMMANDS, *_plugin_commands(ctx)})
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            raise InvalidRequest(
                f"There is no command {name!r}.",
                hint=f"Did you mean `openclaw {close[0]}`?" if close else "See `openclaw --help`.",
                code="unknown_command",
            )
        return name, found, args[1:]


def _plugin_commands(ctx: click.Context) -> dict[str, click.Command]:
    """Commands of enabled plugins. Whatever goes wrong is said on standard error and costs only that one."""
    root = ctx.find_root()
    cached = root.meta.get("openclaw.plugin_commands")
    if cached is not None:
        return dict(cached)
    commands: dict[str, click.Command] = {}
    root.meta["openclaw.plugin_commands"] = commands
    state = root.find_object(CliState) or CliState()
    try:
        if not _may_add_commands(state):
            return commands
        app = state.plugins()
        for plugin_id, spec in app.commands:
            if spec.name in COMMANDS:
                output.warn(f"plugin {plugin_id} offers the command {spec.name}, which openclaw has itself.")
                continue
            try:
                found = app.resolve(plugin_id, spec.command)
            except OpenClawError as error:
                output.warn(error.message)
                continue
            if isinstance(found, click.Command):
                commands[spec.name] = found
            else:
                output.warn(f"the command {spec.name} of plugin {plugin_id} is not a click command.")
    except OpenClawError as error:
        output.warn(f"commands of plugins are left out: {error.message}")
    return commands


def _may_add_commands(state: CliState) -> bool:
    """Whether any plugin that is on may add commands: an extension, or one that is not of this project.
    Known without importing any, so that the usual ``--help`` stays fast."""
    from openclaw_core.cli.listing import plugin_report

    report = plugin_report(state.paths)
    if any(finding.get("key", "").startswith("config_") for finding in report.diagnostics):
        return True  # loading says what is wrong with the configuration
    return any(row.enabled and (row.kind == "extension" or row.origin != "bundled") for row in report.ordered())


def _own_help(command: click.Command) -> None:
    """Let ``--help`` of a command and of all below it go through `output`, like everything else."""
    if command.add_help_option:
        command.add_help_option = False
        command.params.append(_help_option())
    for child in command.commands.values() if isinstance(command, click.Group) else ():
        _own_help(child)


def _help_option() -> click.Option:
    return click.Option(
        ["--help", "-h"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        help="Show this message and exit.",
        callback=_show_help,
    )


def _show_help(ctx: click.Context, option: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        output.line(ctx.get_help())
        ctx.exit()


def _show_version(ctx: click.Context, option: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        output.line(f"openclaw {__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, add_help_option=False, no_args_is_help=False, invoke_without_command=True)
@click.option("--state-dir", metavar="DIR", help="Use this state directory (OPENCLAW_STATE_DIR).")
@click.option("--profile", metavar="NAME", help="Use the state directory ~/.openclaw-NAME.")
@click.option("--dev", is_flag=True, help="Use the profile dev and gateway port 19001.")
@click.option("--log-level", metavar="LEVEL", default="", help="error, warning, info or debug; on standard error.")
@click.option("--no-color", is_flag=True, help="Never colour the output.")
@click.option(
    "--version", "-V", is_flag=True, expose_value=False, is_eager=True, callback=_show_version, help="Show the version."
)
@click.pass_context
def cli(
    ctx: click.Context, state_dir: str | None, profile: str | None, dev: bool, log_level: str, no_color: bool
) -> None:
    """OpenClaw: an AI agent of your own, on your own machine."""
    ctx.obj = CliState(state_dir=state_dir, profile=profile, dev=dev, log_level=log_level)
    if no_color:
        output.set_color(False)
    if log_level:
        _start_logging(log_level)
    if ctx.invoked_subcommand is None:
        output.line(ctx.get_help())


cli.params.append(_help_option())


def _start_logging(level: str) -> None:
    from openclaw_core.observe.logging import configure

    try:
        configure(level=level)
    except ValueError as error:
        if not level:
            configure(level="warning")
            output.warn("OPENCLAW_LOG_LEVEL is not a log level; warning is used.")
            return
        raise InvalidRequest(f"{level} is not a log level.", hint="Use error, warning, info or debug.") from error


def invoke(arguments: list[str]) -> int:
    """Run the command tree; returns the exit status. Raises OpenClawError for what a command raised, also
    for a wrong use of its options."""
    _start_logging("")
    try:
        result: Any = cli.main(args=arguments, prog_name="openclaw", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return int(stop.exit_code)
    except click.exceptions.Abort as error:
        raise KeyboardInterrupt from error
    except click.UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError" and error.ctx is not None:
            # A group without a word: its help, as click 8.2 and later tell it from other mistakes.
            output.note(error.ctx.get_help())
            return output.EXIT_FAILED
        command = error.ctx.command_path if error.ctx else "openclaw"
        raise InvalidRequest(error.format_message(), hint=f"See `{command} --help`.", code="usage") from error
    except click.ClickException as error:
        raise InvalidRequest(error.format_message()) from error
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        raise OpenClawError(str(stop.code)) from stop
    return result if isinstance(result, int) and not isinstance(result, bool) else 0

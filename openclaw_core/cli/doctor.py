"""`openclaw doctor`: what is wrong with this installation, and what to do about it."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from openclaw_core.cli import output
from openclaw_core.cli.state import CliState
from openclaw_core.errors import ConfigError
from openclaw_core.plugin import DoctorFinding

if TYPE_CHECKING:
    from openclaw_core.config.loader import LoadedConfig
    from openclaw_core.config.paths import StatePaths
    from openclaw_core.plugins.app import AppPlugins

Level = Literal["ok", "warn", "error"]
COMMAND = "openclaw"
HEAD_BYTES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the report: which check, how bad, what, and what to do."""

    check: str
    level: Level
    text: str
    hint: str = ""

    def as_dict(self) -> dict[str, str]:
        """The JSON form."""
        return {"check": self.check, "level": self.level, "text": self.text, "hint": self.hint}


@click.command(name="doctor")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--non-interactive", is_flag=True, help="Accepted for scripts; nothing is ever asked.")
@click.pass_context
@output.command_errors
def command(ctx: click.Context, as_json: bool, non_interactive: bool) -> None:
    """Check this installation; nothing is changed.

    Exit status 0 when there are no errors (warnings may be), 1 when there are.
    """
    findings = list(examine(ctx.obj))
    errors = sum(finding.level == "error" for finding in findings)
    if as_json:
        counts = {level: sum(f.level == level for f in findings) for level in ("ok", "warn", "error")}
        output.emit_json({"ok": not errors, "summary": counts, "findings": [f.as_dict() for f in findings]})
    else:
        for finding in findings:
            output.line(f"{finding.level:5}  {finding.check}: {finding.text}")
            if finding.hint:
                output.line(f"       {finding.hint}")
    ctx.exit(1 if errors else 0)


def examine(state: CliState) -> Iterator[Finding]:
    """All checks, core's first."""
    paths = state.paths
    yield from python_version()
    yield from user()
    yield from state_directory(paths)
    loaded: LoadedConfig | None = None
    try:
        loaded = state.load()
        where = str(paths.config_file) if loaded.exists else "defaults, there is no file"
        yield Finding(check="config", level="ok", text=f"valid ({where})")
        for warning in loaded.warnings:
            yield Finding(check="config", level="warn", text=warning.text)
    except ConfigError as error:
        for problem in error.details.get("problems") or [error.message]:
            yield Finding(check="config", level="error", text=str(problem), hint=error.hint)
        if paths.last_good.exists():
            yield Finding(check="config", level="warn", text=f"{paths.last_good} is the last version that was valid")
    yield from command_owner(os.environ.get("PATH", ""))
    yield from plugins(state, loaded)


def python_version() -> Iterator[Finding]:
    """Python 3.11 or later."""
    shown = ".".join(str(part) for part in sys.version_info[:3])
    fits = sys.version_info >= (3, 11)
    yield Finding(
        check="python",
        level="ok" if fits else "error",
        text=f"Python {shown}",
        hint="" if fits else "Install Python 3.11 or later.",
    )


def user() -> Iterator[Finding]:
    """An agent that acts for you should not act as root."""
    if os.geteuid() == 0:
        yield Finding(
            check="user",
            level="warn",
            text="openclaw runs as root, so everything the agent does is done as root",
            hint="Run it as a user of its own.",
        )


def state_directory(paths: StatePaths) -> Iterator[Finding]:
    """The state directory holds secrets: for its owner only, and writable."""
    folder = paths.state_dir
    try:
        status = folder.stat()
    except FileNotFoundError:
        yield Finding(check="state", level="ok", text=f"{folder} does not exist yet; it is made when needed")
        return
    except OSError as error:
        yield Finding(check="state", level="error", text=f"{folder} cannot be read: {error.strerror}")
        return
    if not stat.S_ISDIR(status.st_mode):
        yield Finding(check="state", level="error", text=f"{folder} is not a directory")
        return
    if not os.access(folder, os.W_OK | os.X_OK):
        yield Finding(check="state", level="error", text=f"{folder} is not writable", hint="chown it to yourself.")
    open_to_others = [p for p in (folder, paths.config_file) if p.exists() and p.stat().st_mode & 0o077]
    for path in open_to_others:
        mode = "700" if path.is_dir() else "600"
        yield Finding(
            check="state",
            level="warn",
            text=f"others may read {path} (mode {stat.S_IMODE(path.stat().st_mode):o})",
            hint=f"chmod {mode} {path}",
        )
    if not open_to_others:
        yield Finding(check="state", level="ok", text=str(folder))


def command_owner(search_path: str) -> Iterator[Finding]:
    """Whether the word `openclaw` in a shell means this program: another distribution, or the original on
    Node, may own it."""
    import importlib_metadata

    from openclaw_core.plugins.catalog import normalize

    rivals = {
        str(point.dist.name)
        for point in importlib_metadata.entry_points(group="console_scripts", name=COMMAND)
        if point.dist is not None and normalize(point.dist.name) != "openclaw-core"
    }
    for rival in sorted(rivals):
        yield Finding(
            check="command",
            level="warn",
            text=f"the distribution {rival} installs a command {COMMAND} too",
            hint=f"Uninstall it, or start this program with `{Path(sys.executable).name} -m openclaw_core`.",
        )
    first = next(_on_path(search_path), None)
    if first is None:
        yield Finding(
            check="command",
            level="ok",
            text=f"no command {COMMAND} on PATH; `python -m openclaw_core` works",
        )
        return
    owner = _owner(first)
    if owner == "ours":
        yield Finding(check="command", level="ok", text=str(first))
    else:
        yield Finding(
            check="command",
            level="warn",
            text=f"{first} is {owner}, so `{COMMAND}` in a shell does not start this program",
            hint=f"Put {Path(sys.executable).parent} first on PATH, or use `python -m openclaw_core`.",
        )


def _on_path(search_path: str) -> Iterator[Path]:
    for folder in search_path.split(os.pathsep):
        candidate = Path(folder or ".") / COMMAND
        if candidate.is_file() and os.access(candidate, os.X_OK):
            yield candidate


def _owner(program: Path) -> str:
    try:
        with program.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return "a program that cannot be read"
    if b"openclaw_core" in head:
        return "ours"
    first_line = head.split(b"\n", 1)[0]
    if b"node" in first_line or program.resolve().suffix in (".js", ".mjs", ".cjs"):
        return "the original for Node"
    return "another program" if b"python" not in first_line else "from another Python distribution"


def plugins(state: CliState, loaded: LoadedConfig | None) -> Iterator[Finding]:
    """Plugins that do not work, and the checks that plugins bring along."""
    from openclaw_core.cli.listing import plugin_report

    if loaded is None:
        report = plugin_report(state.paths)
        for row in report.errors():
            yield _broken(row.id, row.kind, row.distribution, row.reason)
        return
    from openclaw_core.cli.plugins import exercise
    from openclaw_core.plugins.app import load_plugins

    app = load_plugins(loaded, state.paths, retry=True)
    exercise(app, loaded, state.paths)
    yield from _sections(app)
    for row in app.report.errors():
        yield _broken(row.id, row.kind, row.distribution, row.reason)
    for finding in app.report.diagnostics:
        yield Finding(check="plugins", level="error" if finding["level"] == "error" else "warn", text=finding["text"])
    active = [row for row in app.report.ordered() if row.state == "active"]
    yield Finding(check="plugins", level="ok", text=f"{len(active)} active")
    yield from _checks_of_plugins(app, loaded)


def _broken(name: str, kind: str, distribution: str, reason: str) -> Finding:
    return Finding(
        check="plugins",
        level="error",
        text=f"{kind} {name} ({distribution}) does not work: {reason}",
        hint=f"Update it, or run `openclaw plugins disable {name}`.",
    )


def _sections(app: AppPlugins) -> Iterator[Finding]:
    """Each plugin's own section of the configuration, by its own model."""
    from openclaw_core.errors import ConfigValueError, PluginError

    offers: list[tuple[str, str, Any]] = [
        *(("channel", name, spec) for name, spec in app.channels),
        *(("provider", name, spec) for name, spec in app.providers),
        *(("runtime", name, spec) for name, spec in app.runtimes),
        *(("store", name, spec) for name, spec in app.stores),
        *(("audit_sink", name, spec) for name, spec in app.audit_sinks),
    ]
    for kind, name, spec in offers:
        try:
            app.config_for(name, spec, kind=kind)
        except ConfigValueError as error:
            yield Finding(check="plugins", level="error", text=error.message, hint=error.hint)
        except PluginError as error:
            app.fail(name, error, kind=kind)


def _checks_of_plugins(app: AppPlugins, loaded: LoadedConfig) -> Iterable[Finding]:
    """Run the checks beside each other, each within its own time."""
    import asyncio

    from openclaw_core.aio.tasks import TaskOwner
    from openclaw_core.config.schema import plain

    offers = app.doctor_checks
    if not offers:
        return []
    view = plain(loaded.config)

    async def one(plugin_id: str, check: Any, out: list[Finding]) -> None:
        name = f"{plugin_id}.{check.id}"
        try:
            async with asyncio.timeout(check.timeout_s):
                found = list(await check.check(view))
            for item in found:
                if not isinstance(item, DoctorFinding):
                    raise TypeError(f"it returned {type(item).__name__}")
                out.append(Finding(check=name, level=item.level, text=item.text, hint=item.hint))
        except TimeoutError:
            out.append(Finding(check=name, level="warn", text=f"the check took longer than {check.timeout_s:g} s"))
        except Exception as error:  # noqa: BLE001  # a stranger's check costs only itself
            out.append(Finding(check=name, level="warn", text=f"the check failed: {type(error).__name__}: {error}"))

    async def everything() -> list[Finding]:
        owner = TaskOwner("doctor")
        found: list[list[Finding]] = [[] for _ in offers]
        for (plugin_id, check), out in zip(offers, found, strict=True):
            owner.start(one(plugin_id, check, out), name=check.id)
        await owner.drain(max(check.timeout_s for _, check in offers) + 1)
        await owner.aclose()
        return [finding for findings in found for finding in findings]

    return asyncio.run(everything())

"""Write the reference pages that follow from the code: hooks, commands, methods and scopes.

`python tools/generate_docs.py` writes them, `--check` fails when one is out of date.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
NOTE = "Written by `tools/generate_docs.py` from the code.\n"


def hooks_page() -> str:
    """docs/reference/hooks.md."""
    from openclaw_core.hooks import specs

    out = ["# Hooks", "", NOTE]
    out.append(
        "A plugin module defines functions with these names, marks them with `openclaw_core.plugin.hookimpl`, and returns\n"
        "specs. Hooks are synchronous, pure and do no I/O; None is read as empty. One that raises costs only its plugin.\n"
    )
    for name, hook in vars(specs).items():
        if not name.startswith("openclaw_"):
            continue
        signature = str(inspect.signature(hook)).replace("'", "")
        out += [f"## `{name}`", "", f"`{name}{signature}`", "", inspect.getdoc(hook) or "", ""]
    out += ["## Events for listeners", "", ", ".join(f"`{e}`" for e in specs.EVENTS), ""]
    return "\n".join(out)


def _command(path: str, command: click.Command) -> list[str]:
    out: list[str] = []
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            out += _command(f"{path} {name}", command.commands[name])
        return out
    arguments = [p.make_metavar(click.Context(command)) for p in command.params if isinstance(p, click.Argument)]
    out += [f"## `{' '.join([path, *arguments])}`", "", inspect.cleandoc(command.help or ""), ""]
    rows = [
        f"| `{', '.join(p.opts)}` | {p.help or ''} |"
        for p in command.params
        if isinstance(p, click.Option) and not p.hidden and "--help" not in p.opts
    ]
    if rows:
        out += ["| option | |", "|---|---|", *rows, ""]
    return out


def cli_page() -> str:
    """docs/reference/cli.md."""
    from openclaw_core.cli.main import COMMANDS, cli

    out = ["# The command line", "", NOTE, (ROOT / "tools" / "cli_preface.md").read_text(encoding="utf-8")]
    context = click.Context(cli)
    for name in sorted(COMMANDS):
        command = cli.get_command(context, name)
        assert command is not None
        out += _command(f"openclaw {name}", command)
    return "\n".join(out)


def methods_page() -> str:
    """docs/reference/methods.md."""
    from openclaw_core.gateway import methods
    from openclaw_core.gateway.rpc import HANDLERS
    from openclaw_core.guard.authorize import METHODS

    assert methods.__all__
    rows = [
        f"| `{n}` | `{METHODS[n]}` | {(inspect.getdoc(h) or '').splitlines()[0]} |" for n, h in sorted(HANDLERS.items())
    ]
    return "\n".join(["# Gateway methods", "", NOTE, "| method | scope | |", "|---|---|---|", *rows, ""])


def main() -> int:
    """Write or check."""
    wanted = {
        REFERENCE / "hooks.md": hooks_page(),
        REFERENCE / "cli.md": cli_page(),
        REFERENCE / "methods.md": methods_page(),
    }
    stale = [p for p, text in wanted.items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"out of date: {path.relative_to(ROOT)} (run: python tools/generate_docs.py)", file=sys.stderr)
        return min(len(stale), 1)
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

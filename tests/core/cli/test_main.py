"""The tree of commands, and what holds for all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from openclaw_core import __version__
from openclaw_core.cli.main import COMMANDS
from openclaw_core.testing.plugin_env import PluginEnv


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version(process: Any, flag: str) -> None:
    result = process(flag)
    assert (result.status, result.out, result.err) == (0, f"openclaw {__version__}\n", "")


def test_version_imports_next_to_nothing() -> None:
    code = (
        "import sys; before = set(sys.modules); sys.argv = ['openclaw', '--version']\n"
        "from openclaw_core.__main__ import main\n"
        "try: main()\nexcept SystemExit: print(sorted(set(sys.modules) - before))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[1] == "['__future__', 'openclaw_core', 'openclaw_core.__main__']"


def test_listing_plugins_needs_no_heavy_library(process: Any) -> None:
    code = (
        "import sys; sys.argv = ['openclaw', 'plugins', 'list']\n"
        "from openclaw_core.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: print(sorted({'click', 'pydantic', 'rich', 'stevedore', 'pluggy', 'asyncio'} & set(sys.modules)))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=process.environ
    ).stdout
    assert out.splitlines()[-1] == "[]"


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], []])
def test_help_lists_every_command(cli: Any, arguments: list[str]) -> None:
    result = cli(*arguments)
    assert (result.status, result.err) == (0, "")
    assert all(f"  {name} " in result.out for name in COMMANDS)


@pytest.mark.parametrize("group", ["config", "plugins", "doctor"])
def test_help_of_a_group_goes_to_standard_output(cli: Any, group: str) -> None:
    result = cli(group, "--help")
    assert result.status == 0
    assert result.out.startswith(f"Usage: openclaw {group}")


def test_help_works_with_a_broken_configuration(cli: Any) -> None:
    cli.config.write_text("{ broken")
    result = cli("--help")
    assert result.status == 0
    assert "commands of plugins are left out" in result.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["plugnis"], "unknown_command", "openclaw plugins"),
        (["nonsense-word"], "unknown_command", "openclaw --help"),
        (["plugins", "lst"], "usage", "openclaw plugins --help"),
        (["plugins", "list", "--bogus"], "usage", "openclaw plugins list --help"),
        (["--bogus"], "usage", "openclaw --help"),
        (["config", "get"], "usage", "openclaw config get --help"),
        (["--log-level", "loud", "doctor"], "invalid_request", "debug"),
        (["--profile", "../x", "doctor"], "invalid_request", "letters"),
    ],
)
def test_mistakes_have_one_shape(cli: Any, arguments: list[str], code: str, said: str) -> None:
    plain = cli(*arguments)
    assert (plain.status, plain.out) == (1, "")
    assert plain.err.startswith("error: ")
    assert said in plain.err
    as_json = cli(*arguments, "--json")
    assert as_json.status == 1
    assert as_json.json["ok"] is False
    assert {"code", "message", "hint"} <= set(as_json.json["error"])
    if code != "usage":
        assert as_json.json["error"]["code"] == code


def test_flags_choose_the_state_directory(cli: Any, tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert cli("--state-dir", str(other), "config", "file").out.strip() == str(other / "openclaw.json")
    assert cli("--profile", "work", "config", "file").out.strip().endswith("/.openclaw-work/openclaw.json")
    assert cli("--dev", "config", "file").out.strip().endswith("/.openclaw-dev/openclaw.json")


def test_a_bad_log_level_in_the_environment_is_only_said(cli: Any) -> None:
    result = cli("config", "file", OPENCLAW_LOG_LEVEL="loud")
    assert (result.status, "OPENCLAW_LOG_LEVEL" in result.err) == (0, True)


# ---- commands of plugins ----------------------------------------------------------------------------

HELLO = """
    from openclaw_core.plugin import CommandSpec, hookimpl

    print("printed at import")

    @hookimpl
    def openclaw_commands():
        print("printed by the hook")
        return [
            CommandSpec(name="hello", summary="Greet.", command="hello.work:hello"),
            CommandSpec(name="plugins", summary="Steal.", command="hello.work:hello"),
            CommandSpec(name="broken", summary="Broken.", command="hello.work:nope"),
            CommandSpec(name="failing", summary="Fails.", command="hello.work:failing"),
        ]
"""
WORK = """
    import click

    @click.command()
    @click.option("--json", "as_json", is_flag=True)
    def hello(as_json):
        print("hello from a plugin")

    @click.command()
    @click.option("--json", "as_json", is_flag=True)
    def failing(as_json):
        raise ZeroDivisionError("in the plugin")
"""


@pytest.fixture
def with_hello(cli: Any, tmp_path: Path) -> Any:
    env = PluginEnv(tmp_path / "distributions")
    env.add(
        "hello",
        entry_points={"openclaw.extensions": {"hello": "hello.plugin"}},
        modules={"hello.plugin": HELLO, "hello.work": WORK},
    )
    cli.environ = {**cli.environ, "PYTHONPATH": str(env.folder)}
    cli.config.write_text("{plugins: {entries: {hello: {enabled: true}}}}")
    return cli


def test_a_command_of_a_plugin(with_hello: Any) -> None:
    assert "hello" in with_hello("--help").out
    result = with_hello("hello")
    # What a plugin prints by itself is not the output of a command of ours.
    assert (result.status, result.out) == (0, "")
    assert "hello from a plugin" in result.err
    assert with_hello("hello", "--help").out.startswith("Usage: openclaw hello")


def test_a_command_of_a_plugin_that_fails(with_hello: Any) -> None:
    result = with_hello("failing", "--json")
    assert (result.status, result.json["error"]["code"]) == (1, "internal")
    assert "ZeroDivisionError" in result.json["error"]["message"]
    assert with_hello("broken").status == 1
    assert with_hello("plugins", "list", "--json").json["plugins"]


# ---- standard output --------------------------------------------------------------------------------


def big_listing(process: Any, tmp_path: Path) -> Any:
    """A state of things in which `plugins list` prints more than a pipe holds."""
    env = PluginEnv(tmp_path / "distributions")
    points = {f"plugin{n:05}": f"big{n:05}.plugin" for n in range(6000)}
    env.add("big", entry_points={"openclaw.tools": points})
    process.environ = {**process.environ, "PYTHONPATH": str(env.folder)}
    return process


@pytest.mark.parametrize(
    "arguments", [["plugins", "list"], ["plugins", "list", "--json"], ["plugins", "list", "--enabled"]]
)
def test_a_reader_that_goes_away(process: Any, tmp_path: Path, arguments: list[str]) -> None:
    big = big_listing(process, tmp_path)
    with subprocess.Popen(
        big.command(*arguments), env=big.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline()
        child.stdout.close()
        err = child.stderr.read().decode()
        assert child.wait(60) in (0, 141)
    assert "Traceback" not in err
    assert "Exception ignored" not in err


def test_a_slow_reader_gets_everything(process: Any, tmp_path: Path) -> None:
    big = big_listing(process, tmp_path)
    with subprocess.Popen(
        big.command("plugins", "list", "--json"), env=big.environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        assert child.stdout is not None
        parts = []
        while part := os.read(child.stdout.fileno(), 512):
            parts.append(part)
        data = b"".join(parts)
        assert child.wait(60) == 0
    assert len(data) > 1_000_000
    assert len(json.loads(data)["plugins"]) >= 6000


def test_a_pipe_that_does_not_block_gets_everything(process: Any, tmp_path: Path) -> None:
    big = big_listing(process, tmp_path)
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    child = subprocess.Popen(
        big.command("plugins", "list", "--json"), env=big.environ, stdout=writer, stderr=subprocess.DEVNULL
    )
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    assert child.wait(60) == 0
    assert json.loads(data)["plugins"]


@pytest.mark.parametrize("arguments", [["--version"], ["plugins", "list"], ["config", "schema"], ["--help"]])
@pytest.mark.parametrize("where", ["closed", "full"])
def test_an_output_that_cannot_be_written(process: Any, arguments: list[str], where: str) -> None:
    redirect = ">&-" if where == "closed" else ">/dev/full"
    done = subprocess.run(
        ["sh", "-c", f'"$@" {redirect}', "sh", *process.command(*arguments)],
        env=process.environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode not in (0, 141)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert "cannot be written" in done.stderr
    assert done.stdout == ""


def test_closed_standard_error_does_not_matter(process: Any) -> None:
    process.config.write_text("{cron: {}}")
    done = subprocess.run(
        ["sh", "-c", '"$@" 2>&-', "sh", *process.command("config", "get", "gateway.port", "--json")],
        env=process.environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "18789\n")


COMMANDS_WITH_JSON = [
    ["plugins", "list"],
    ["plugins", "inspect", "files"],
    ["plugins", "inspect", "nobody"],
    ["plugins", "enable", "noisy"],
    ["plugins", "disable", "noisy"],
    ["plugins", "doctor"],
    ["config", "get", "gateway"],
    ["config", "get", "no.such.path"],
    ["config", "set", "logging.level", "debug"],
    ["config", "set", "logging.levle", "debug"],
    ["config", "unset", "gateway.port"],
    ["config", "file"],
    ["config", "schema"],
    ["config", "validate"],
    ["doctor"],
]


@pytest.fixture
def noisy(tmp_path: Path) -> str:
    env = PluginEnv(tmp_path / "distributions")
    noise = "import os, sys\nprint('noise')\nos.write(1, b'more noise')\nos.system('echo child')\n"
    env.add("noisy", entry_points={"openclaw.tools": {"noisy": "noisy.plugin"}}, modules={"noisy.plugin": noise})
    return str(env.folder)


def check_document(result: Any) -> None:
    value = json.loads(result.out)
    assert "\x1b" not in result.out
    if result.status:
        assert (result.status, value["ok"]) == (1, False)


@pytest.mark.parametrize(
    "config", ["{cron: {}, gateway: {port: 5}}", '{logging: {file: "${NOPE_X}"}, cron: {}}', "{ broken"]
)
def test_json_output_is_one_document_and_nothing_else(cli: Any, noisy: str, config: str) -> None:
    for arguments in COMMANDS_WITH_JSON:
        cli.config.write_text(config)
        check_document(cli(*arguments, "--json", PYTHONPATH=noisy, FORCE_COLOR="1"))


@pytest.mark.parametrize("arguments", [["plugins", "doctor"], ["doctor"]])
def test_noise_of_a_plugin_never_reaches_standard_output(process: Any, noisy: str, arguments: list[str]) -> None:
    process.config.write_text("{cron: {}, plugins: {allow: ['noisy']}}")
    result = process(*arguments, "--json", PYTHONPATH=noisy, FORCE_COLOR="1")
    check_document(result)
    assert all(noise in result.err for noise in ("noise", "more noise", "child"))


@pytest.mark.parametrize(
    ("environ", "coloured"), [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)]
)
def test_colours_are_a_wish(cli: Any, environ: dict[str, str], coloured: bool) -> None:
    assert ("\x1b[" in cli("plugins", "list", **environ).out) is coloured
    assert "\x1b[" not in cli("--no-color", "plugins", "list", **environ).out

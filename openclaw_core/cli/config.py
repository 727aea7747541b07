"""`openclaw config`: read, change and check the configuration."""

from __future__ import annotations

from typing import Any

import click

from openclaw_core.cli import output
from openclaw_core.cli.state import CliState
from openclaw_core.errors import InvalidRequest, NotFound

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(name="config")
def command() -> None:
    """Read and change the configuration."""


@command.command()
@click.argument("path")
@as_json_option
@click.pass_obj
@output.command_errors
def get(state: CliState, path: str, as_json: bool) -> None:
    """Print the value at PATH, as the file sets it or by default. Secrets are hidden."""
    value = effective_value(state, path)
    if as_json or isinstance(value, dict | list):
        output.emit_json(value)
    else:
        output.line("null" if value is None else _word(value))


def effective_value(state: CliState, path: str) -> Any:
    """What is in force at a path: the file's value, else the default; secrets hidden. References to
    environment variables that are not set here stay as written.

    Raises ConfigError for an invalid file and NotFound for a path that nothing knows.
    """
    from openclaw_core.config.dotpath import MISSING, look_up, parse_path
    from openclaw_core.config.editor import validate
    from openclaw_core.config.loader import build_config
    from openclaw_core.config.reader import read_source
    from openclaw_core.config.schema import plain, redacted

    place = parse_path(path)
    source = read_source(state.paths.config_file, allow_missing=True)
    base = state.paths.config_file.parent
    validate(source, base)
    value = look_up(redacted(source.data), place)
    if value is MISSING:
        defaults = plain(build_config(source, base=base).config) if not source.missing else plain_defaults()
        value = look_up(defaults, place)
    if value is MISSING:
        raise NotFound(f"{path} is not set.", hint="See `openclaw config schema` for all settings.")
    return value


def plain_defaults() -> dict[str, Any]:
    """All defaults as plain data."""
    from openclaw_core.config.model import parse_config
    from openclaw_core.config.schema import plain

    return plain(parse_config({}))


@command.command(name="set")
@click.argument("path")
@click.argument("value")
@click.option("--strict-json", is_flag=True, help="VALUE must be JSON5; otherwise anything else is taken as text.")
@as_json_option
@click.pass_obj
@output.command_errors
def set_(state: CliState, path: str, value: str, strict_json: bool, as_json: bool) -> None:
    """Set PATH to VALUE in the person's file, which keeps its comments and its order.

    VALUE is read as JSON5 where it is JSON5, else as text. The result is checked before it is written.
    """
    from openclaw_core.config.dotpath import parse_path
    from openclaw_core.config.editor import ConfigEditor

    result = ConfigEditor(state.paths).set(parse_path(path), parse_value(value, strict=strict_json))
    for warning in result.warnings:
        output.warn(warning)
    _done(path, result.changed, as_json, "set" if result.changed else "already set")


def parse_value(text: str, *, strict: bool) -> Any:
    """A value from the command line. Raises InvalidRequest when it must be JSON5 and is not."""
    from openclaw_core.config.syntax import parse
    from openclaw_core.errors import ConfigFileError

    try:
        return parse(text.encode(), "VALUE")
    except (ConfigFileError, UnicodeEncodeError) as error:
        if strict:
            raise InvalidRequest(
                "VALUE is not JSON5.", hint="""Quote text twice: '"text"', or leave --strict-json out."""
            ) from error
        return text


@command.command()
@click.argument("path")
@as_json_option
@click.pass_obj
@output.command_errors
def unset(state: CliState, path: str, as_json: bool) -> None:
    """Remove PATH from the file; its default is in force then."""
    from openclaw_core.config.dotpath import parse_path
    from openclaw_core.config.editor import ConfigEditor

    result = ConfigEditor(state.paths).unset(parse_path(path))
    for warning in result.warnings:
        output.warn(warning)
    _done(path, result.changed, as_json, "removed")


@command.command()
@as_json_option
@click.pass_obj
@output.command_errors
def file(state: CliState, as_json: bool) -> None:
    """Print where the configuration file is."""
    path = state.paths.config_file
    if as_json:
        output.emit_json({"path": str(path), "exists": path.exists()})
    else:
        output.line(str(path))


@command.command()
@as_json_option
@click.pass_obj
@output.command_errors
def validate(state: CliState, as_json: bool) -> None:
    """Check the configuration without starting anything."""
    from openclaw_core.plugins.catalog import scan
    from openclaw_core.plugins.references import stale_references

    loaded = state.load()
    warnings = [warning.as_dict() for warning in loaded.warnings]
    for key, text in stale_references(loaded.raw, scan()):
        warnings.append({"path": key, "text": text})
        output.warn(text)
    if as_json:
        output.emit_json(
            {
                "ok": True,
                "valid": True,
                "path": str(state.paths.config_file),
                "exists": loaded.exists,
                "warnings": warnings,
            }
        )
    elif loaded.exists:
        output.line(f"{state.paths.config_file} is valid.")
    else:
        output.line(f"There is no {state.paths.config_file}; all defaults are in force.")


@command.command()
@as_json_option
@output.command_errors
def schema(as_json: bool) -> None:
    """Print the JSON schema of the configuration."""
    from openclaw_core.config.schema import json_schema

    output.emit_json(json_schema())


def _done(path: str, changed: bool, as_json: bool, what: str) -> None:
    if as_json:
        output.emit_json({"ok": True, "path": path, "changed": changed})
    else:
        output.line(f"{path} is {what}.")


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)

"""Layers: flags over environment over file over defaults."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openclaw_core.config.model import Config, parse_config
from openclaw_core.config.paths import StatePaths
from openclaw_core.config.reader import ConfigSource, merge, read_source
from openclaw_core.config.unsupported import drop_unsupported

ENVIRONMENT: dict[str, tuple[str, ...]] = {
    "OPENCLAW_GATEWAY_PORT": ("gateway", "port"),
    "OPENCLAW_GATEWAY_TOKEN": ("gateway", "auth", "token"),
    "OPENCLAW_GATEWAY_PASSWORD": ("gateway", "auth", "password"),
}
"""Environment variables that stand for a key of the configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigWarning:
    """Something about one key that does not stop anything."""

    path: str
    text: str

    def as_dict(self) -> dict[str, str]:
        """The JSON form."""
        return {"path": self.path, "text": self.text}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedConfig:
    """A valid configuration.

    `raw` is the plain data it was read from, with includes, environment and flags in it: it holds secrets
    in the clear and is never shown. `written` is the file's own data with ``${NAME}`` as written.
    `environ` is the process environment completed by the file's `env` section. `source_digest` is empty
    without a file.
    """

    config: Config
    raw: Mapping[str, Any] = field(repr=False)
    written: Mapping[str, Any] = field(repr=False)
    environ: Mapping[str, str] = field(repr=False)
    warnings: tuple[ConfigWarning, ...] = ()
    source_digest: str = ""
    files: tuple[Path, ...] = ()
    exists: bool = False
    content: bytes = field(default=b"", repr=False)
    from_last_good: bool = False


def load_config(
    paths: StatePaths,
    *,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> LoadedConfig:
    """Read and validate the configuration; a missing file stands for all defaults.

    `overrides` are flags: dotted path to value. Raises ConfigFileError or ConfigValueError.
    """
    env = os.environ if environ is None else environ
    return build_config(read_source(paths.config_file, env), base=paths.config_file.parent, overrides=overrides)


def build_config(
    source: ConfigSource, *, base: Path, overrides: Mapping[str, Any] | None = None, from_last_good: bool = False
) -> LoadedConfig:
    """Validate what was read, see `load_config`. `base` is where relative secret files start from."""
    data, skipped = drop_unsupported(source.data)
    for name, path in ENVIRONMENT.items():
        if value := source.environ.get(name):
            data = merge(data, nested(path, value))
    for dotted_path, value in (overrides or {}).items():
        data = merge(data, nested(tuple(dotted_path.split(".")), value))
    config = parse_config(data, environ=source.environ, base=base)
    warnings = [ConfigWarning(path=path, text=f"{path} is ignored: {reason}.") for path, reason in skipped]
    return LoadedConfig(
        config=config,
        raw=data,
        written=source.written,
        environ=source.environ,
        warnings=tuple(warnings),
        source_digest=source.digest,
        files=source.files,
        exists=source.exists,
        content=source.content,
        from_last_good=from_last_good,
    )


def nested(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """``{"a": {"b": value}}`` for ("a", "b")."""
    out: Any = value
    for part in reversed(path):
        out = {part: out}
    return dict(out)

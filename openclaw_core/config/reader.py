"""The configuration file and what it includes, as one tree of plain data."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openclaw_core.config.environment import config_environ, join_path, substitute
from openclaw_core.config.syntax import parse
from openclaw_core.errors import ConfigFileError, ToolError

INCLUDE = "$include"
MAX_DEPTH = 10
"""Files in a chain of includes (behaviour.md 0.2)."""
MAX_BYTES = 8 * 1024 * 1024
"""Size of one configuration file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigSource:
    """What stands in the files.

    `written` has includes resolved and ``${NAME}`` as written; `data` has them replaced.
    `environ` is the process environment completed by the `env` section. `digest` changes when any of
    `files` does. `exists` is False for a missing file, which stands for an empty configuration.
    """

    written: dict[str, Any]
    data: dict[str, Any]
    environ: dict[str, str]
    files: tuple[Path, ...]
    digest: str
    exists: bool
    content: bytes = field(default=b"", repr=False)
    missing: tuple[tuple[str, str], ...] = ()
    """(dotted path, name) of environment variables that are not set, where that was allowed."""


def read_source(
    path: Path,
    environ: Mapping[str, str] | None = None,
    *,
    content: bytes | None = None,
    allow_missing: bool = False,
) -> ConfigSource:
    """Read the configuration file with its includes and environment references.

    `content` stands for the file's bytes when they are not on disk yet. With `allow_missing`, references
    to variables that are not set stay as they are and are listed in `missing`.

    Raises ConfigFileError (unreadable, not JSON5, not an object, bad include) or ConfigValueError
    (a missing environment variable).
    """
    env = os.environ if environ is None else environ
    data = read_bytes(path) if content is None else content
    if data is None:
        return ConfigSource(written={}, data={}, environ=dict(env), files=(path,), digest="", exists=False)
    tree = parse(data, path.name)
    if not isinstance(tree, dict):
        raise ConfigFileError(
            f"{path.name} holds {_kind(tree)} where an object is needed.",
            hint="Put the settings between { and }.",
            details={"file": path.name, "line": 1, "column": 1},
        )
    includes = _Includes(path.parent)
    written = includes.resolve(tree, path.parent, (path,))
    if not isinstance(written, dict):
        raise ConfigFileError(f"{path.name} includes {_kind(written)} as the whole configuration.")
    import hashlib

    digest = hashlib.sha256(data)
    for included, content in sorted(includes.seen.items()):
        digest.update(str(included).encode() + b"\0" + content)
    environment = config_environ(written, env)
    missing: list[tuple[str, str]] = []
    return ConfigSource(
        written=written,
        data=substitute(written, environment, missing=missing if allow_missing else None),
        environ=environment,
        files=(path, *includes.seen),
        digest=digest.hexdigest(),
        exists=True,
        content=data,
        missing=tuple(missing),
    )


def read_bytes(path: Path) -> bytes | None:
    """The content of a regular file of at most `MAX_BYTES`; None when there is none. Raises ConfigFileError."""
    try:
        # O_NONBLOCK: a FIFO in the place of the file must not hang the command.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigFileError(
            f"{path} cannot be read: {error.strerror}.", hint="Check its owner and permissions."
        ) from error
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ConfigFileError(f"{path} is not a regular file.", hint="Put the configuration in a plain file.")
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ConfigFileError(f"{path} is larger than {MAX_BYTES} bytes.", hint="Split it with $include.")
    return data


class _Includes:
    """Resolves `$include` in one configuration; remembers each file read."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.seen: dict[Path, bytes] = {}

    def resolve(self, value: Any, folder: Path, chain: tuple[Path, ...], at: str = "") -> Any:
        if isinstance(value, list):
            return [self.resolve(item, folder, chain, f"{at}[{n}]") for n, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        siblings = {
            key: self.resolve(item, folder, chain, join_path(at, str(key)))
            for key, item in value.items()
            if key != INCLUDE
        }
        if INCLUDE not in value:
            return siblings
        names = value[INCLUDE]
        if isinstance(names, str):
            included = self._load(names, folder, chain, at)
            if not siblings:
                return included
            parts = [included]
        elif isinstance(names, list) and names and all(isinstance(name, str) for name in names):
            parts = [self._load(name, folder, chain, at) for name in names]
        else:
            raise self._bad(at, "$include needs a file name or a list of file names")
        merged: Any = {}
        for part in [*parts, siblings]:
            if not isinstance(part, dict):
                raise self._bad(at, f"an included file holds {_kind(part)} where an object is needed")
            merged = merge(merged, part)
        return merged

    def _load(self, name: str, folder: Path, chain: tuple[Path, ...], at: str) -> Any:
        path = Path(os.path.abspath(folder / name))  # noqa: PTH100  # lexical: links are refused on opening
        if not path.is_relative_to(self.root):
            raise self._bad(at, f"the included file {name} is outside the folder of the configuration")
        if path in chain:
            raise self._bad(at, f"the included file {name} includes itself")
        if len(chain) > MAX_DEPTH:
            raise self._bad(at, f"includes are nested deeper than {MAX_DEPTH} files")
        data = self._read(path, name, at)
        self.seen[path] = data
        return self.resolve(parse(data, name), path.parent, (*chain, path), at)

    def _read(self, path: Path, name: str, at: str) -> bytes:
        from openclaw_core.guard.paths import open_beneath

        try:
            with open_beneath(self.root, str(path.relative_to(self.root))) as opened:
                data = opened.read(MAX_BYTES + 1)
        except ToolError as error:
            raise self._bad(at, f"the included file {name} cannot be opened: {error.message.rstrip('.')}") from error
        if len(data) > MAX_BYTES:
            raise self._bad(at, f"the included file {name} is larger than {MAX_BYTES} bytes")
        return data

    def _bad(self, at: str, what: str) -> ConfigFileError:
        return ConfigFileError(
            f"{at or 'The configuration'}: {what}.",
            hint="See $include in the configuration reference.",
            details={"path": at},
        )


def merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Deep merge: objects are merged key by key, anything else is replaced by the later one."""
    out = dict(base)
    for key, value in over.items():
        old = out.get(key)
        out[key] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return out


def _kind(value: Any) -> str:
    if isinstance(value, list):
        return "a list"
    return "nothing" if value is None else f"a {type(value).__name__.replace('str', 'text').replace('float', 'number')}"

"""`config set` and `config unset`: careful changes of the person's own file."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openclaw_core.config.document import NotEditable
from openclaw_core.config.dotpath import MISSING, look_up, replaced
from openclaw_core.config.edit import set_value, unset_value
from openclaw_core.config.loader import build_config
from openclaw_core.config.paths import FILE_MODE, StatePaths, private_dir, write_private
from openclaw_core.config.reader import ConfigSource, read_bytes, read_source
from openclaw_core.config.syntax import decode, parse
from openclaw_core.errors import ConfigFileError, ConfigValueError, NotFound

Place = tuple[str | int, ...]
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditResult:
    """`changed` is False when the file already said so and was not touched. `warnings` are for the person."""

    changed: bool
    warnings: tuple[str, ...] = ()


class ConfigEditor:
    """Changes one configuration file.

    The result is validated before it replaces the file (temporary file, fsync, rename; mode and links are
    kept). Comments, ``${NAME}`` references, line ends, the BOM and the order of keys stay, because only the
    text of the one value is replaced. Where that is impossible the file is backed up beside itself as
    ``.bak`` and written anew, with a warning.

    Every method raises ConfigFileError or ConfigValueError and then has changed nothing; a file that is
    invalid already is refused.
    """

    def __init__(self, paths: StatePaths, environ: Mapping[str, str] | None = None) -> None:
        self.path = paths.config_file
        self._environ = os.environ if environ is None else environ

    def set(self, place: Place, value: Any) -> EditResult:
        """Set a value of plain data. Setting what is there already changes nothing."""
        current = self._current()
        if _same(look_up(current.written, place), value):
            return EditResult(changed=False)
        return self._apply(
            current, lambda text: set_value(text, place, value), lambda tree: replaced(tree, place, value), place, value
        )

    def unset(self, place: Place) -> EditResult:
        """Remove a value. Raises NotFound when the file has none at this place."""
        current = self._current()
        own = self._own_tree(current)
        if look_up(own, place) is MISSING:
            raise NotFound(
                f"{_dotted(place)} is not set in {self.path.name}.",
                hint="It may stand in an included file; `openclaw config get` shows what is in force.",
            )
        return self._apply(
            current, lambda text: unset_value(text, place), lambda tree: replaced(tree, place, MISSING), place, MISSING
        )

    def _current(self) -> ConfigSource:
        source = read_source(self.path, self._environ, allow_missing=True)
        validate(source, self.path.parent)
        return source

    def _own_tree(self, source: ConfigSource) -> Any:
        return parse(source.content, self.path.name) if source.exists else {}

    def _apply(
        self,
        current: ConfigSource,
        edit: Callable[[str], str],
        rebuild: Callable[[Any], Any],
        place: Place,
        value: Any,
    ) -> EditResult:
        own = self._own_tree(current)
        wanted = rebuild(own)
        text = decode(current.content, self.path.name) if current.exists else "{}\n"
        bom = _BOM if current.content.startswith(_BOM) else b""
        warnings: tuple[str, ...] = ()
        try:
            data = bom + edit(text).encode()
            if not _same(parse(data, self.path.name), wanted):
                raise NotEditable("The change would touch more than it should.")
        except (NotEditable, ConfigFileError):
            _check_way(own, place)
            data = (json.dumps(wanted, indent=2, ensure_ascii=False) + "\n").encode()
            if current.exists:
                warnings = (
                    f"{self.path.name} could not be changed in place; it was written anew without its comments, "
                    f"the old file is {self.path.name}.bak.",
                )
        after = read_source(self.path, self._environ, content=data, allow_missing=True)
        validate(after, self.path.parent)
        if value is not MISSING and not _same(look_up(after.written, place), value):
            raise ConfigFileError(
                f"{_dotted(place)} would not take effect: an included file decides it.",
                hint="Change the included file.",
            )
        self._write(current, data, backup=bool(warnings))
        return EditResult(changed=True, warnings=warnings)

    def _write(self, current: ConfigSource, data: bytes, *, backup: bool) -> None:
        target = Path(os.path.realpath(self.path))
        if (read_bytes(self.path) or b"") != current.content:
            raise ConfigFileError(
                f"{self.path.name} was changed by somebody else meanwhile.", hint="Run the command again."
            )
        private_dir(target.parent)
        try:
            mode = stat.S_IMODE(target.stat().st_mode) if current.exists else FILE_MODE
            if backup:
                write_private(target.with_name(target.name + ".bak"), current.content, mode=mode)
            write_private(target, data, mode=mode)
        except OSError as error:
            raise ConfigFileError(
                f"{self.path} cannot be written: {error.strerror or error}; it is unchanged.",
                hint="Make the folder of the file writable, or change the file with an editor.",
            ) from error


def validate(source: ConfigSource, base: Path) -> None:
    """Check a configuration whose environment may be incomplete: a value that is still a reference to a
    missing variable is not judged. Raises ConfigValueError for the rest."""
    try:
        build_config(source, base=base)
    except ConfigValueError as error:
        open_paths = {path for path, _ in source.missing}
        if error.path not in open_paths or len(error.problems) > len(open_paths):
            raise


def _check_way(tree: Any, place: Place) -> None:
    """Refuse a path that leads through something that is neither object nor list."""
    for depth, part in enumerate(place):
        if tree is MISSING:
            return
        wrong = not isinstance(tree, dict) and not (isinstance(tree, list) and isinstance(part, int))
        if wrong or (isinstance(tree, list) and isinstance(part, int) and part > len(tree)):
            raise ConfigValueError(
                f"{_dotted(place[:depth])} has no {part!r}: it is not an object or a list of that length.",
                path=_dotted(place),
                hint="Look at it with `openclaw config get`.",
            )
        tree = look_up(tree, (part,))


def _same(left: Any, right: Any) -> bool:
    """Equal as JSON: 1 and 1.0 are one number, true and 1 are not the same."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, float) and isinstance(right, float) and left != left:
        return right != right
    return bool(left == right) and type(left) in (type(right), int, float)


def _dotted(place: Place) -> str:
    from openclaw_core.config.problems import dotted

    return dotted(place)

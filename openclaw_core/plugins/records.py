"""What is remembered about plugins in the state directory: the owner's consent, and failures."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from openclaw_core.config.paths import private_dir, write_private
from openclaw_core.errors import ConfigFileError

MAX_REASON = 500
_T = TypeVar("_T", "Consent", "Failure")


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """The owner enabled this plugin: which distribution, version and content that was."""

    distribution: str
    version: str
    digest: str
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a plugin could not be loaded the last time. `slow`: its import did not end in time."""

    distribution: str
    version: str
    reason: str
    at: int = 0
    slow: bool = False


class PluginRecords:
    """``<state>/plugins/enabled.json`` and ``errors.json``. A damaged file counts as empty."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._enabled = _read(folder / "enabled.json")
        self._errors = _read(folder / "errors.json")

    def consent(self, key: str) -> Consent | None:
        """The owner's consent to ``kind:id``."""
        return _row(Consent, _table(self._enabled, "enabled").get(key))

    def disabled(self, key: str) -> bool:
        """Whether the owner switched ``kind:id`` off."""
        return key in _table(self._enabled, "disabled")

    def enable(self, key: str, consent: Consent) -> None:
        """Remember consent and forget the failure. Raises ConfigFileError when it cannot be stored."""
        enabled, disabled = _table(self._enabled, "enabled"), _table(self._enabled, "disabled")
        disabled.pop(key, None)
        enabled[key] = {
            "distribution": consent.distribution,
            "version": consent.version,
            "digest": consent.digest,
            "at": consent.at,
        }
        self._store("enabled.json", {"version": 1, "enabled": enabled, "disabled": disabled})
        self.clear_failure(key)

    def disable(self, key: str, *, at: int) -> None:
        """Withdraw consent. Raises ConfigFileError when it cannot be stored."""
        enabled, disabled = _table(self._enabled, "enabled"), _table(self._enabled, "disabled")
        enabled.pop(key, None)
        disabled[key] = {"at": at}
        self._store("enabled.json", {"version": 1, "enabled": enabled, "disabled": disabled})

    def failure(self, key: str, *, distribution: str, version: str) -> Failure | None:
        """The remembered failure of this version of a plugin."""
        found = _row(Failure, _table(self._errors, "errors").get(key))
        return found if found and (found.distribution, found.version) == (distribution, version) else None

    def note_failure(self, key: str, failure: Failure) -> None:
        """Remember a failure, so that listing need not import. Writing is best effort and logged."""
        errors = _table(self._errors, "errors")
        errors[key] = {
            "distribution": failure.distribution,
            "version": failure.version,
            "reason": failure.reason[:MAX_REASON],
            "at": failure.at,
            "slow": failure.slow,
        }
        self._store_errors(errors)

    def clear_failure(self, key: str) -> None:
        """The plugin works (or is judged anew)."""
        errors = _table(self._errors, "errors")
        if errors.pop(key, None) is not None:
            self._store_errors(errors)

    def _store_errors(self, errors: dict[str, Any]) -> None:
        try:
            self._store("errors.json", {"version": 1, "errors": errors})
        except ConfigFileError as error:
            _log().info("plugin failures are not remembered", error=error.message)

    def _store(self, name: str, data: dict[str, Any]) -> None:
        private_dir(self.folder)
        text = json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        try:
            write_private(self.folder / name, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise ConfigFileError(
                f"{self.folder / name} cannot be written: {error.strerror or error}.",
                hint="Make the state directory writable.",
            ) from error
        if name == "enabled.json":
            self._enabled = data
        else:
            self._errors = data


def _log() -> Any:
    # `plugins list` reads records and has nothing to log: it is spared the import.
    from openclaw_core.observe.logging import get_logger

    return get_logger("plugins")


def _read(path: Path) -> dict[str, Any]:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            data = json.loads(file.read(4_000_000))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        _log().warning("damaged record is read as empty", file=path.name, error=str(error))
        return {}
    return data if isinstance(data, dict) else {}


def _table(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = data.get(name)
    return dict(found) if isinstance(found, dict) else {}


def _row(kind: type[_T], data: Any) -> _T | None:
    if not isinstance(data, dict):
        return None
    try:
        return kind(**{name: data[name] for name in kind.__slots__ if name in data})
    except TypeError:
        return None

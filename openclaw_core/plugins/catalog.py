"""What is installed: one pass over the metadata of installed distributions, no plugin is imported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import importlib_metadata

GROUPS: dict[str, str] = {
    "channel": "openclaw.channels",
    "provider": "openclaw.providers",
    "tools": "openclaw.tools",
    "skills": "openclaw.skills",
    "runtime": "openclaw.runtimes",
    "store": "openclaw.stores",
    "audit_sink": "openclaw.audit_sinks",
    "extension": "openclaw.extensions",
}
"""Kind to entry-point group."""
KINDS = {group: kind for kind, group in GROUPS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """One plugin as its distribution announces it. `others` are distributions that claim the same id and
    are not used."""

    kind: str
    id: str
    value: str
    distribution: str
    version: str
    bundled: bool
    others: tuple[str, ...] = ()
    dist: Any = field(default=None, repr=False, compare=False)

    @property
    def key(self) -> str:
        """``kind:id``, unique in a catalogue."""
        return f"{self.kind}:{self.id}"

    @property
    def module(self) -> str:
        """The module that holds the hooks."""
        return self.value.partition(":")[0].strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """All installed plugins, sorted by kind and id, and what was wrong with their metadata."""

    plugins: tuple[Installed, ...]
    problems: tuple[str, ...] = ()

    def get(self, kind: str, plugin_id: str) -> Installed | None:
        """The plugin of a kind with an id."""
        return next((p for p in self.plugins if p.kind == kind and p.id == plugin_id), None)

    def named(self, name: str) -> list[Installed]:
        """All plugins with an id; ``kind:id`` names one."""
        return [p for p in self.plugins if name in (p.id, p.key)]

    def ids(self) -> set[str]:
        """All ids."""
        return {p.id for p in self.plugins}


def scan(*, path: list[str] | None = None, bundled: frozenset[str] | None = None) -> Catalog:
    """Read the entry points of every distribution on `path` (default: ``sys.path``, PYTHONPATH included).

    A bundled distribution owns an id against any stranger; among equals the first name in the alphabet
    does, so it is always the same one. Broken metadata costs only its distribution.
    """
    ours = bundled_distributions() if bundled is None else bundled
    claims: dict[tuple[str, str], list[Installed]] = {}
    problems: list[str] = []
    for dist in _distributions(path):
        try:
            points = _entry_points(dist)
            if points:
                for plugin in _plugins_of(dist, points, ours, problems):
                    claims.setdefault((plugin.kind, plugin.id), []).append(plugin)
        except Exception as error:  # noqa: BLE001  # any stranger's metadata may be broken in any way
            problems.append(f"The metadata of {_folder_name(dist)} cannot be read: {error or type(error).__name__}.")
    chosen = [_choose(found) for found in claims.values()]
    order = list(GROUPS)
    chosen.sort(key=lambda p: (order.index(p.kind), p.id))
    return Catalog(plugins=tuple(chosen), problems=tuple(problems))


@cache
def bundled_distributions() -> frozenset[str]:
    """Normalised names of the distributions that this project publishes."""
    text = Path(__file__).with_name("bundled.txt").read_text(encoding="utf-8")
    return frozenset(normalize(line) for line in text.splitlines() if line.strip() and not line.startswith("#"))


def normalize(name: str) -> str:
    """A distribution's name in the one spelling in which names are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _distributions(path: list[str] | None) -> Iterator[Any]:
    """Each distribution once: the first on the path hides later ones of its name, as for imports."""
    seen: set[str] = set()
    found: Iterable[Any] = (
        importlib_metadata.distributions() if path is None else importlib_metadata.distributions(path=path)
    )
    for dist in found:
        name = _folder_name(dist)
        if name not in seen:
            seen.add(name)
            yield dist


def _folder_name(dist: Any) -> str:
    # The folder's name costs no reading; the name in METADATA would cost parsing every file.
    folder = getattr(getattr(dist, "_path", None), "name", "")
    stem = folder.removesuffix(".dist-info").removesuffix(".egg-info")
    return normalize(stem.partition("-")[0]) or repr(dist)


def _entry_points(dist: Any) -> list[Any]:
    text = dist.read_text("entry_points.txt")
    if not text or "openclaw." not in text:
        return []
    return [point for point in dist.entry_points if point.group in KINDS]


def _plugins_of(dist: Any, points: list[Any], ours: frozenset[str], problems: list[str]) -> Iterator[Installed]:
    name, version = _identity(dist)
    if not version:
        problems.append(f"The metadata of {name} names no version.")
    for point in points:
        yield Installed(
            kind=KINDS[point.group],
            id=point.name,
            value=point.value,
            distribution=name,
            version=version,
            bundled=normalize(name) in ours,
            dist=dist,
        )


def _identity(dist: Any) -> tuple[str, str]:
    """Name and version; broken metadata gives the folder's name and no version.

    Read from the header lines themselves: parsing them as a message would cost more than all the rest of
    the scan, the import of the email package included.
    """
    found = {"Name": "", "Version": ""}
    for line in (dist.read_text("METADATA") or dist.read_text("PKG-INFO") or "").splitlines():
        header, _, value = line.partition(":")
        if header in found and not found[header]:
            found[header] = value.strip()
        elif not line.strip():
            break
    return found["Name"] or _folder_name(dist), found["Version"]


def _choose(claims: list[Installed]) -> Installed:
    claims.sort(key=lambda p: (not p.bundled, normalize(p.distribution), p.value))
    first, *rest = claims
    others = tuple(dict.fromkeys(p.distribution for p in rest))
    if not others:
        return first
    return Installed(
        kind=first.kind,
        id=first.id,
        value=first.value,
        distribution=first.distribution,
        version=first.version,
        bundled=first.bundled,
        others=others,
        dist=first.dist,
    )

"""The provider plugins of this repository, as they are installed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from openclaw_core.config.model import Config
from openclaw_core.models.registry import ModelRegistry
from openclaw_core.plugin import ProviderSpec
from openclaw_core.plugins.resolve import resolve
from openclaw_core.testing.fakes.http import TestHttp

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, kw_only=True)
class Shipped:
    """A provider plugin of this repository."""

    id: str
    module: str
    distribution: str
    spec: ProviderSpec

    @property
    def folder(self) -> Path:
        return ROOT / "plugins" / self.distribution

    @property
    def shared_wire(self) -> bool:
        """It speaks Chat Completions and nothing else."""
        return self.spec.factory.startswith("openclaw_lib_openai.")


def shipped() -> list[Shipped]:
    out = []
    for point in entry_points(group="openclaw.providers"):
        name = point.dist.name if point.dist else ""
        for spec in import_module(point.value).openclaw_providers():
            out.append(Shipped(id=spec.id, module=point.value, distribution=name, spec=spec))
    return sorted(out, key=lambda s: s.id)


ALL = shipped()
WIRE = [s for s in ALL if s.shared_wire]


def models_of(wire: Shipped) -> Iterator[Any]:
    """The catalogue as the registry describes it, with the quirks merged."""
    config = Config.model_validate({"models": {"providers": {wire.id: {"baseUrl": "http://127.0.0.1:1/v1"}}}})
    found = ModelRegistry(config, [(wire.id, wire.spec)], resolve=resolve, http=TestHttp.__new__(TestHttp), environ={})
    return (row.model for row in found.rows())

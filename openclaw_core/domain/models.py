"""Models as the configuration and the catalogue describe them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from openclaw_core.domain.messages import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCost:
    """US dollars per million tokens."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0

    def of(self, usage: Usage) -> float:
        """What this usage costs, in US dollars."""
        return (
            usage.input * self.input
            + usage.output * self.output
            + usage.cache_read * self.cache_read
            + usage.cache_write * self.cache_write
        ) / 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """One model. Windows and limits in tokens; `api` is a wire format of behaviour.md 7.1;
    `compat` holds the quirks of a vendor as data."""

    provider: str
    id: str
    name: str = ""
    api: str = ""
    context_window: int = 200_000
    max_tokens: int = 8192
    reasoning: bool = False
    input: tuple[str, ...] = ("text",)
    cost: ModelCost = field(default_factory=ModelCost)
    compat: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ref(self) -> str:
        """``provider/model``."""
        return f"{self.provider}/{self.id}"

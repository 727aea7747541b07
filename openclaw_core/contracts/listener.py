"""Listeners to events of the whole process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

EventHandler = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any] | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """`event` is one of the names in `openclaw_core.hooks.specs.EVENTS`. `observe` listeners run beside
    the work and never hold it up; `intercept` listeners are awaited up to `timeout_s` and may return
    replacement fields; one that fails or is late counts as a refusal where the event is a gate."""

    event: str
    handler: EventHandler
    mode: Literal["observe", "intercept"] = "observe"
    timeout_s: float = 15.0

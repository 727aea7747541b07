"""The method registry: name -> handler. Scopes are in `guard.authorize`, nowhere else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from openclaw_core.errors import InvalidRequest

if TYPE_CHECKING:
    from openclaw_core.gateway.app import GatewayApp

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Call:
    """One call of a method. `watch` makes the caller hear the events of a session key."""

    app: GatewayApp
    params: Mapping[str, Any]
    scopes: frozenset[str]
    watch: Callable[[str], None] = field(default=lambda _key: None)

    def text(self, name: str, default: str | None = None, *, limit: int = 4096) -> str:
        """A text parameter; raises InvalidRequest when it is missing (without default), not text, or too long."""
        value = self.params.get(name, default)
        if value is None or not isinstance(value, str):
            raise InvalidRequest(f"The parameter '{name}' must be text.", hint=f"Give '{name}'.")
        if len(value) > limit:
            raise InvalidRequest(f"The parameter '{name}' is longer than {limit} characters.")
        return value

    def number(self, name: str, default: int, *, least: int, most: int) -> int:
        """A whole number within bounds; raises InvalidRequest."""
        value = self.params.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise InvalidRequest(f"The parameter '{name}' must be a number from {least} to {most}.")
        return int(value)

    def optional_number(self, name: str) -> int | None:
        """A number that may be absent; raises InvalidRequest for anything else."""
        value = self.params.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 2**53:
            raise InvalidRequest(f"The parameter '{name}' must be a number.")
        return int(value)

    def flag(self, name: str, default: bool = False) -> bool:
        """A yes or no; raises InvalidRequest for anything else."""
        value = self.params.get(name, default)
        if not isinstance(value, bool):
            raise InvalidRequest(f"The parameter '{name}' must be true or false.")
        return value


@dataclass(slots=True, kw_only=True)
class Later:
    """An answer now, and a second one under the same id when `final` is done."""

    first: Any
    final: Awaitable[Any]


Handler = Callable[[Call], Awaitable[Any]]
HANDLERS: dict[str, Handler] = {}


def method(name: str) -> Callable[[Handler], Handler]:
    """Register a core method. The name must stand in the table of scopes; a test holds both together."""

    def register(handler: Handler) -> Handler:
        if name in HANDLERS:
            raise ValueError(f"method {name} is registered twice")
        HANDLERS[name] = handler
        return handler

    return register

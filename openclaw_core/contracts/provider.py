"""The provider: authenticates and transports one model request."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from openclaw_core.domain.events import ModelEvent
from openclaw_core.domain.messages import Message
from openclaw_core.domain.models import ModelInfo
from openclaw_core.domain.tools import ToolSchema
from openclaw_core.errors import ErrorKind

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request. `system` is the cacheable prefix, `system_dynamic` the part below the cache
    boundary. `messages` satisfy no vendor's rules yet: the provider puts roles, pairs and ids into its
    dialect. `idle_s`: seconds without a byte before ErrorKind.TIMEOUT."""

    model: ModelInfo
    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolSchema] = ()
    system_dynamic: str = ""
    max_tokens: int | None = None
    thinking: str = "off"
    session_id: str = ""
    run_id: str = ""
    idle_s: float = 120.0
    params: Mapping[str, Any] = field(default_factory=dict)


class Provider(Protocol):
    """One configured provider."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Send the request; yield deltas and, last, one ModelAnswer.

        Raises ProviderError (or any exception that `classify` understands). A stream that ends without
        the vendor's finish marker raises; it never yields an answer. Closing the iterator closes the
        connection."""
        ...

    async def models(self) -> Sequence[ModelInfo]:
        """The models this provider offers without asking the network, if it knows any."""
        ...

    def classify(self, error: BaseException) -> ErrorKind:
        """The kind of a failure that is not a ProviderError."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEnv:
    """What a provider factory gets. `api_key` is the secret's text or empty; `http` makes or returns
    the process-wide httpx client (one TLS context, built once)."""

    provider_id: str
    base_url: str
    api: str
    api_key: str
    http: HttpClients
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 120.0
    config: Any = None


class HttpClients(Protocol):
    """The shared HTTP clients."""

    def client(self) -> httpx.AsyncClient:
        """The process-wide client; never close it."""
        ...

"""``gateway``: the server (behaviour.md 10)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from openclaw_core.config.secret import Secret
from openclaw_core.config.sections.base import DurationMs, Section, nested_default

Port = Annotated[int, Field(ge=0, le=65535)]


class RateLimit(Section):
    """Bounds for wrong credentials (behaviour.md 10.3)."""

    max_attempts: int = Field(default=10, ge=1)
    window_ms: DurationMs = Field(default=60_000, ge=1)
    lockout_ms: DurationMs = Field(default=300_000, ge=0)
    exempt_loopback: bool = False
    """A local client without an `Origin` header is never locked out. Off unlike in the original: every program
    and page on this machine could guess."""


class TrustedProxy(Section):
    """Who a reverse proxy says the person is."""

    user_header: str
    required_headers: list[str] = Field(default_factory=list)
    allow_users: list[str] = Field(default_factory=list)


class GatewayAuth(Section):
    """How clients prove themselves. Without a token one is generated and stored."""

    mode: Literal["token", "password", "trusted-proxy", "none"] | None = None
    token: Secret | None = None
    password: Secret | None = None
    trusted_proxy: TrustedProxy | None = None
    rate_limit: RateLimit = nested_default()


class Endpoint(Section):
    """An HTTP endpoint that is off unless enabled; more keys belong to the endpoint."""

    model_config = Section.model_config | {"extra": "allow"}

    enabled: bool = False


class Endpoints(Section):
    """``gateway.http.endpoints``."""

    chat_completions: Endpoint = nested_default()
    responses: Endpoint = nested_default()


class GatewayHttp(Section):
    """``gateway.http``."""

    endpoints: Endpoints = nested_default()
    security_headers: dict[str, Any] = Field(default_factory=dict)


class Reload(Section):
    """What happens when the file changes while the gateway runs."""

    mode: Literal["hybrid", "hot", "restart", "off"] = "hybrid"
    debounce_ms: DurationMs = Field(default=300, ge=0)
    deferral_timeout_ms: DurationMs = Field(default=300_000, ge=0)


class ControlUi(Section):
    """The web page of the gateway."""

    enabled: bool = True
    base_path: str = ""
    allowed_origins: list[str] = Field(default_factory=list)


class GatewayTools(Section):
    """More or fewer tools for callers over HTTP."""

    allow: list[str] = Field(default_factory=list)
    deny: list[str] = Field(default_factory=list)


class GatewaySection(Section):
    """``gateway``."""

    mode: Literal["local", "remote"] = "local"
    port: Port = 18789
    bind: Literal["loopback", "auto", "lan", "tailnet", "custom"] = "loopback"
    custom_bind_host: str = ""
    auth: GatewayAuth = nested_default()
    http: GatewayHttp = nested_default()
    reload: Reload = nested_default()
    control_ui: ControlUi = nested_default()
    trusted_proxies: list[str] = Field(default_factory=list)
    tools: GatewayTools = nested_default()
    handshake_timeout_ms: DurationMs = Field(default=10_000, ge=100)
    drain_timeout_ms: DurationMs = Field(default=4_000, ge=0)
    """Ours: how long runs may finish after SIGTERM."""

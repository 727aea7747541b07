"""HTTP and WebSocket on one port (behaviour.md 10.1, 10.4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from openclaw_core import __version__
from openclaw_core.errors import PluginError
from openclaw_core.gateway import methods
from openclaw_core.gateway.auth import same
from openclaw_core.gateway.connection import Connection
from openclaw_core.observe.logging import get_logger

if TYPE_CHECKING:
    from openclaw_core.gateway.app import GatewayApp

_log = get_logger("server")

_LOOPBACK = ("localhost", "127.0.0.1", "::1", "[::1]")
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}

assert methods.__all__  # importing the package registers the methods


def build_server(app: GatewayApp) -> ASGIApp:
    """The ASGI application of a gateway."""
    routes: list[BaseRoute] = [
        Route("/", _about(app)),
        *(Route(path, _live(app)) for path in ("/healthz", "/health")),
        *(Route(path, _ready(app)) for path in ("/readyz", "/ready")),
        WebSocketRoute("/", _socket(app)),
        WebSocketRoute("/ws", _socket(app)),
        *_plugin_routes(app),
    ]
    return _Fence(Starlette(routes=routes), app)


class _Fence:
    """Refuses requests of other sites before anything else sees them: Host and Origin (reliability.md A6, A7)."""

    def __init__(self, inner: ASGIApp, app: GatewayApp) -> None:
        self._inner = inner
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI entry."""
        if scope["type"] in ("http", "websocket"):
            problem = self._problem(Headers(scope=scope))
            if problem:
                await self._refuse(scope, receive, send, problem)
                return
        await self._inner(scope, receive, send)

    def _problem(self, headers: Headers) -> str:
        name = _host_name(headers.get("host", ""))
        if name not in self._names():
            return "unknown host"
        origin = headers.get("origin")
        if origin is None:
            return ""
        allowed = self._app.engine.loaded.config.gateway.control_ui.allowed_origins
        if origin in allowed:
            return ""
        try:
            parts = urlsplit(origin)
            port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:
            return "origin not allowed"
        own = parts.scheme in ("http", "https") and parts.hostname in self._names() and port == self._app.port
        return "" if own else "origin not allowed"

    def _names(self) -> set[str | None]:
        return (
            {*_LOOPBACK, self._app.host} if self._app.host in _LOOPBACK else {*_LOOPBACK, self._app.host, *_own_names()}
        )

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, problem: str) -> None:
        _log.warning("request refused", reason=problem)
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": problem})
            return
        body = {"error": {"message": problem, "type": "forbidden"}}
        await JSONResponse(body, status_code=403)(scope, receive, send)


def _host_name(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0].lower().rstrip(".")


def _own_names() -> list[str]:
    import socket

    return [socket.gethostname().lower()]


Endpoint = Callable[[Request], Awaitable[Response]]


def _about(app: GatewayApp) -> Endpoint:
    async def about(_: Request) -> Response:
        text = (
            f"OpenClaw {__version__} gateway\n\n"
            "This is a WebSocket server; it has no page of its own.\n"
            "Talk to it from a terminal:  openclaw chat\n"
            f"Health: http://{app.host}:{app.port}/healthz\n"
        )
        return PlainTextResponse(text, headers=_HEADERS)

    return about


def _live(app: GatewayApp) -> Endpoint:
    async def live(_: Request) -> Response:
        return JSONResponse({"ok": True, "status": "stopping" if app.stopping else "live"}, headers=_HEADERS)

    return live


def _ready(app: GatewayApp) -> Endpoint:
    async def ready(request: Request) -> Response:
        failing = app.failing()
        body: dict[str, object] = {"ready": app.ready, "uptimeMs": app.uptime_ms()}
        if authorized(app, request):
            body["degraded"] = failing
        return JSONResponse(body, status_code=200 if app.ready else 503, headers=_HEADERS)

    return ready


def authorized(app: GatewayApp, request: Request) -> bool:
    """Whether a request carries the gateway's token as a bearer header."""
    if not app.token:
        return True
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and same(given.strip(), app.token)


def _socket(app: GatewayApp) -> Callable[[WebSocket], Awaitable[None]]:
    async def socket(websocket: WebSocket) -> None:
        if app.stopping or not app.ready:
            await websocket.close(1013, "not ready")
            return
        await Connection(app, websocket).serve()

    return socket


def _plugin_routes(app: GatewayApp) -> list[BaseRoute]:
    out: list[BaseRoute] = []
    for plugin_id, spec in app.engine.plugins.http_routes:
        try:
            inner: ASGIApp = app.engine.plugins.resolve(plugin_id, spec.app)
        except PluginError as error:
            _log.error("routes of a plugin left out", plugin=plugin_id, error=error.message)
            continue
        out.append(Mount(f"/plugins/{spec.id}", app=inner if spec.public else _Bearer(inner, app)))
    return out


class _Bearer:
    """Authentication in front of a plugin's routes."""

    def __init__(self, inner: ASGIApp, app: GatewayApp) -> None:
        self._inner = inner
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI entry."""
        if scope["type"] == "http" and not authorized(self._app, Request(scope)):
            body = {"error": {"message": "Unauthorized", "type": "unauthorized"}}
            await JSONResponse(body, status_code=401)(scope, receive, send)
            return
        await self._inner(scope, receive, send)

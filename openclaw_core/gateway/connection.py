"""One WebSocket client: handshake, requests, events (behaviour.md 10.2)."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from openclaw_core import __version__
from openclaw_core.aio.tasks import TaskOwner
from openclaw_core.errors import InvalidRequest, OpenClawError, Unauthorized
from openclaw_core.gateway import frames
from openclaw_core.gateway.auth import canonical, same
from openclaw_core.gateway.events import EVENTS
from openclaw_core.gateway.rpc import HANDLERS, Call, Later
from openclaw_core.guard.authorize import READ, SCOPES, authorize, granted, scope_of
from openclaw_core.observe.logging import get_logger
from openclaw_core.runs.hub import StreamEvent

if TYPE_CHECKING:
    from openclaw_core.gateway.app import GatewayApp

_log = get_logger("ws")

_MAX_IN_FLIGHT = 64
"""Requests of one client that are being worked on; more are refused."""


class Connection:
    """Serves one client until it leaves."""

    def __init__(self, app: GatewayApp, socket: WebSocket) -> None:
        self._app = app
        self._socket = socket
        self.id = secrets.token_hex(8)
        self.scopes: frozenset[str] = frozenset()
        self.client: Mapping[str, Any] = {}
        self._out: deque[str] = deque()
        self._out_bytes = 0
        self._wake = asyncio.Event()
        self._seq = 0
        self._watched: set[str] = set()
        self._watch_all = False
        self._tasks = TaskOwner("ws")
        self._overflow = False
        self._abort = socket.scope.get("openclaw.abort")

    # ---- life --------------------------------------------------------------------------------------

    async def serve(self) -> None:
        """Handshake, then requests until the end."""
        await self._socket.accept()
        writer = self._tasks.start(self._write(), name="writer")
        stop = None
        try:
            if not await self._handshake():
                return
            stop = self._app.engine.hub.subscribe(self._hear)
            self._app.connections.add(self)
            while True:
                await self._receive()
        except (WebSocketDisconnect, RuntimeError):
            return
        finally:
            if stop is not None:
                stop()
            self._app.connections.discard(self)
            if writer.done() is False:
                await self._flush()
            await self._tasks.aclose()

    async def _handshake(self) -> bool:
        clock = self._app.engine.clock
        nonce = secrets.token_urlsafe(18)
        self._push(frames.event("connect.challenge", json.dumps({"nonce": nonce, "ts": clock.now_ms()})))
        try:
            async with asyncio.timeout(self._app.handshake_s):
                text = await self._socket.receive_text()
        except TimeoutError:
            await self._close(1008, "handshake timeout")
            return False
        except KeyError:
            await self._close(1008, "text frames only")
            return False
        if len(text) > frames.MAX_PRE_CONNECT:
            await self._close(1008, "frame too large before connect")
            return False
        try:
            request = frames.parse(text)
        except InvalidRequest as error:
            await self._close(1008, error.message[:100])
            return False
        if request.method != "connect":
            self._push(frames.failure(request.id, Unauthorized("Connect first.", code="unauthorized")))
            await self._close(1008, "connect first")
            return False
        try:
            hello = self._connect(request.params)
        except OpenClawError as error:
            self._push(frames.failure(request.id, error))
            await self._close(1008, error.message[:100])
            return False
        self._push(frames.response(request.id, hello))
        return True

    def _connect(self, params: Mapping[str, Any]) -> dict[str, Any]:
        low, high = params.get("minProtocol", 3), params.get("maxProtocol", 4)
        usable = [p for p in frames.PROTOCOLS if isinstance(low, int) and isinstance(high, int) and low <= p <= high]
        if not usable:
            raise InvalidRequest(
                f"protocol mismatch: this gateway speaks {frames.PROTOCOLS[0]} to {frames.PROTOCOLS[-1]}",
                details={"supported": list(frames.PROTOCOLS)},
            )
        self._authenticate(params.get("auth"))
        if params.get("role", "operator") != "operator":
            raise Unauthorized("This gateway takes clients of role operator only.", code="unauthorized")
        asked = params.get("scopes")
        if asked is not None and not (isinstance(asked, list) and all(isinstance(s, str) for s in asked)):
            raise InvalidRequest("The parameter 'scopes' must be a list of names.")
        self.scopes = granted(asked, SCOPES)
        client = params.get("client")
        self.client = client if isinstance(client, Mapping) else {}
        caps = params.get("caps")
        self._watch_all = isinstance(caps, list) and "events:all" in caps and READ in self.scopes
        return self._hello(usable[-1])

    def _authenticate(self, auth: Any) -> None:
        token = self._app.token
        if not token:
            return
        peer = canonical(self._socket.client.host if self._socket.client else "")
        # a page in the owner's browser reaches loopback too, and its requests carry an origin
        exempt = self._app.exempt_loopback and peer == "loopback" and "origin" not in self._socket.headers
        wait = 0.0 if exempt else self._app.limiter.locked(peer)
        if wait > 0:
            raise Unauthorized(
                f"Too many wrong tokens; try again in {wait:.0f} seconds.",
                code="unauthorized",
                details={"retryAfterMs": int(wait * 1000)},
            )
        given = auth.get("token") if isinstance(auth, Mapping) else None
        if not isinstance(given, str) or not same(given, token):
            if isinstance(given, str) and not exempt:
                self._app.limiter.failed(peer)
            raise Unauthorized(
                "unauthorized: gateway token missing or wrong",
                code="unauthorized",
                hint="Use the token of the configuration (gateway.auth.token) or of <state>/gateway.token.",
            )

    def _hello(self, protocol: int) -> dict[str, Any]:
        app = self._app
        return {
            "type": "hello-ok",
            "protocol": protocol,
            "server": {"version": __version__, "connId": self.id},
            "features": {"methods": sorted([*HANDLERS, *app.plugin_methods]), "events": list(EVENTS)},
            "snapshot": {
                "presence": [],
                "health": app.health(),
                "stateVersion": {"presence": 0, "health": 0},
                "uptimeMs": app.uptime_ms(),
                "configPath": str(app.engine.paths.config_file),
                "stateDir": str(app.engine.paths.state_dir),
                "sessionDefaults": {
                    "defaultAgentId": app.engine.agents.default_id,
                    "mainKey": app.engine.loaded.config.session.main_key,
                    "mainSessionKey": app.main_key(),
                },
            },
            "auth": {"role": "operator", "scopes": sorted(self.scopes)},
            "policy": {
                "maxPayload": frames.MAX_PAYLOAD,
                "maxBufferedBytes": frames.MAX_BUFFERED,
                "tickIntervalMs": frames.TICK_MS,
            },
        }

    # ---- requests ----------------------------------------------------------------------------------

    async def _receive(self) -> None:
        try:
            text = await self._socket.receive_text()
        except KeyError:
            self._push(frames.failure("", InvalidRequest("Text frames only.")))
            return
        try:
            request = frames.parse(text)
        except InvalidRequest as error:
            self._push(frames.failure("", error))
            return
        if len(self._tasks) > _MAX_IN_FLIGHT + 1:
            busy = OpenClawError(
                "Too many requests at once.", code="gateway_unavailable", hint="Wait for answers first."
            )
            self._push(frames.failure(request.id, busy))
            return
        self._tasks.start(self._answer(request), name=request.method[:40])

    async def _answer(self, request: frames.Request) -> None:
        try:
            self._push(frames.response(request.id, await self._call(request)))
        except OpenClawError as error:
            self._push(frames.failure(request.id, error))
        except Exception as error:  # noqa: BLE001  # one failing method must not end the connection
            _log.error("method failed", method=request.method, error=repr(error), exc_info=error)
            internal = OpenClawError(
                f"The method failed by an internal error ({type(error).__name__}).", hint="See the gateway log."
            )
            self._push(frames.failure(request.id, internal))

    async def _call(self, request: frames.Request) -> Any:
        handler = HANDLERS.get(request.method) or self._app.plugin_methods.get(request.method)
        extra = self._app.plugin_scopes
        if handler is None or scope_of(request.method, extra) is None:
            raise InvalidRequest(f"unknown method: {request.method}", code="unknown_method")
        authorize(request.method, self.scopes, extra=extra)
        call = Call(app=self._app, params=request.params, scopes=self.scopes, watch=self._watched.add)
        answer = await handler(call)
        if isinstance(answer, Later):
            self._push(frames.response(request.id, answer.first))
            return await answer.final
        return answer

    # ---- output ------------------------------------------------------------------------------------

    def _hear(self, event: StreamEvent) -> None:
        """A run event: only for clients that deal with its session."""
        if self._watch_all or event.session_key in self._watched:
            for name, payload in self._app.events.encoded(event):
                self.send_event(name, payload)

    def send_event(self, name: str, payload_json: str) -> None:
        """Queue an event; dropped when the client does not read."""
        if self._out_bytes > frames.MAX_BUFFERED // 2 and name in ("tick", "agent"):
            return
        self._seq += 1
        self._push(frames.event(name, payload_json, self._seq))

    def _push(self, text: str) -> None:
        if self._overflow:
            return
        self._out.append(text)
        self._out_bytes += len(text)
        if self._out_bytes > frames.MAX_BUFFERED and len(self._out) > 1:
            self._cut()
        self._wake.set()

    def _cut(self) -> None:
        """End a client that does not read. Its writer waits for it, so a close frame would never leave."""
        _log.warning("client cut: it does not read", connection=self.id, bytes=self._out_bytes)
        self._overflow = True
        self._out.clear()
        self._out_bytes = 0
        if self._abort is not None:
            self._abort()

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self._flush()

    async def _flush(self) -> None:
        while self._out and not self._overflow:
            text = self._out.popleft()
            self._out_bytes -= len(text)
            if self._socket.application_state is not WebSocketState.CONNECTED:
                return
            try:
                await self._socket.send_text(text)
            except (WebSocketDisconnect, RuntimeError, OSError):
                return
        if self._overflow:
            await self._close(1013, "slow consumer")

    async def close(self, code: int, reason: str) -> None:
        """Close from the gateway's side."""
        await self._flush()
        await self._close(code, reason)

    async def _close(self, code: int, reason: str) -> None:
        if not self._overflow:
            await self._flush()
        if self._socket.application_state is WebSocketState.CONNECTED:
            try:
                await self._socket.close(code, reason)
            except (RuntimeError, WebSocketDisconnect) as error:
                _log.debug("client was gone already", error=repr(error))

"""Running a gateway: lock, listen, serve, reload, drain, stop."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import uvicorn

from openclaw_core.aio.tasks import TaskOwner
from openclaw_core.config.loader import LoadedConfig
from openclaw_core.config.paths import StatePaths
from openclaw_core.errors import ConfigValueError, GatewayUnavailable
from openclaw_core.gateway import frames
from openclaw_core.gateway.app import GatewayApp
from openclaw_core.gateway.auth import load_token
from openclaw_core.gateway.engine import Engine
from openclaw_core.gateway.instance import InstanceLock
from openclaw_core.gateway.server import build_server
from openclaw_core.gateway.socket_protocol import SocketProtocol
from openclaw_core.observe.logging import get_logger

_log = get_logger("gateway")

_STOP_BUDGET_S = 4.5
"""SIGTERM to exit stays under five seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a gateway listens."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """The WebSocket address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"ws://{host}:{self.port}"


def bind_host(loaded: LoadedConfig) -> str:
    """The host to listen on; a host beyond loopback needs auth. Raises ConfigValueError."""
    gateway = loaded.config.gateway
    hosts = {"loopback": "127.0.0.1", "auto": "127.0.0.1", "lan": "0.0.0.0", "custom": gateway.custom_bind_host}  # noqa: S104  # only when the owner asks for the network, and then only with auth
    host = hosts.get(gateway.bind, "")
    if not host:
        raise ConfigValueError(
            f"gateway.bind = '{gateway.bind}' gives no address.",
            path="gateway.bind",
            hint="Use loopback, lan or custom.",
        )
    if host not in ("127.0.0.1", "::1", "localhost") and gateway.auth.mode == "none":
        raise ConfigValueError(
            "The gateway would be open to the network without authentication.",
            path="gateway.auth.mode",
            hint="Use token authentication, or bind to loopback.",
        )
    return host


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; raises GatewayUnavailable when the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(128)
    except OSError as error:
        sock.close()
        raise GatewayUnavailable(
            f"Cannot listen on {host}:{port}: {error.strerror}.",
            code="port_taken",
            hint="Another program uses the port; choose one with --port.",
        ) from error
    sock.setblocking(False)
    return sock


class _Server(uvicorn.Server):
    """uvicorn without its own signal handling: ours drains first."""

    def capture_signals(self) -> Any:
        """Leave signals to the lifecycle."""
        from contextlib import nullcontext

        return nullcontext()


async def run_gateway(
    paths: StatePaths,
    loaded: LoadedConfig,
    *,
    announce: Callable[[Address, GatewayApp], None],
    reloads: Callable[[GatewayApp], Any] | None = None,
) -> None:
    """Run a gateway until SIGTERM or SIGINT. A second signal ends it at once.

    Raises GatewayLocked, GatewayUnavailable (port), and what `Engine.open` raises.
    """
    paths.ensure()
    with InstanceLock(paths.state_dir) as lock:
        host = bind_host(loaded)
        sock = listen(host, loaded.config.gateway.port)
        address = Address(host=host, port=sock.getsockname()[1])
        try:
            token = load_token(loaded.config, paths.state_dir, create=True)
            engine = await Engine.open(paths, loaded, kind="gateway")
            app = GatewayApp(engine, token=token, host=host, port=address.port)
            lock.describe(url=address.url)
            await _serve(app, sock, address, announce, reloads)
        finally:
            sock.close()


async def _serve(
    app: GatewayApp,
    sock: socket.socket,
    address: Address,
    announce: Callable[[Address, GatewayApp], None],
    reloads: Callable[[GatewayApp], Any] | None,
) -> None:
    config = uvicorn.Config(
        build_server(app),
        log_config=None,
        access_log=False,
        lifespan="off",
        ws=SocketProtocol,
        ws_max_size=frames.MAX_PAYLOAD,
        ws_ping_interval=None,
        ws_per_message_deflate=False,  # loopback: compressing costs more than it saves
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=1,
    )
    server = _Server(config)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    signals = 0

    def on_signal() -> None:
        nonlocal signals
        signals += 1
        stop.set()
        if signals > 1:
            server.force_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
    tasks = TaskOwner("server")
    serving = tasks.start(server.serve(sockets=[sock]), name="http")
    try:
        await app.start()
        if reloads is not None:
            tasks.start(reloads(app), name="config")
        announce(address, app)
        waiting = tasks.start(stop.wait(), name="stop")
        await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        _log.info("stopping")
        drain = min(app.engine.loaded.config.gateway.drain_timeout_ms / 1000, _STOP_BUDGET_S - 1.0)
        await app.stop(drain_s=0.0 if signals > 1 else drain)
        server.should_exit = True
        with suppress(TimeoutError):
            async with asyncio.timeout(1.5):
                await asyncio.wait({serving})
        await tasks.aclose()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)

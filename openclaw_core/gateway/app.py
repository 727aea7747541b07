"""The gateway: engine, channels, outbox, clients, and what they share."""

from __future__ import annotations

from typing import Any

from openclaw_core import __version__
from openclaw_core.aio.supervise import ServiceState
from openclaw_core.aio.tasks import TaskOwner
from openclaw_core.config.watcher import ConfigWatcher
from openclaw_core.delivery.outbox import OutboxSender
from openclaw_core.domain.ids import SessionKey
from openclaw_core.errors import PluginError, StoreError
from openclaw_core.gateway import frames
from openclaw_core.gateway.auth import AuthLimiter
from openclaw_core.gateway.channels import ChannelHost
from openclaw_core.gateway.connection import Connection
from openclaw_core.gateway.engine import Engine
from openclaw_core.gateway.events import EventEncoder
from openclaw_core.gateway.rpc import HANDLERS, Handler
from openclaw_core.guard.authorize import SCOPES
from openclaw_core.hooks.views import GatewayView
from openclaw_core.observe.logging import get_logger
from openclaw_core.sessions.keys import main_key

_log = get_logger("gateway")

_SWEEP_S = 60.0
_LAST_SENDS_S = 0.5
"""How long parts that are being sent may take when the gateway stops."""
_KEEP_MS = 30 * 86_400_000
"""Settled messages are known for 30 days: longer than any platform delivers again."""


class GatewayApp:
    """Everything of one running gateway behind its server."""

    def __init__(self, engine: Engine, *, token: str, host: str, port: int) -> None:
        gateway = engine.loaded.config.gateway
        self.engine = engine
        self.token = token
        self.host = host
        self.port = port
        self.handshake_s = gateway.handshake_timeout_ms / 1000
        limit = gateway.auth.rate_limit
        self.limiter = AuthLimiter(
            engine.clock,
            attempts=limit.max_attempts,
            window_s=limit.window_ms / 1000,
            lockout_s=limit.lockout_ms / 1000,
        )
        self.exempt_loopback = limit.exempt_loopback
        self.connections: set[Connection] = set()
        self.events = EventEncoder()
        self.channels = ChannelHost(engine)
        self.outbox = OutboxSender(engine.store.journal, engine.clock, self.channels.build())
        self.plugin_methods: dict[str, Handler] = {}
        self.plugin_scopes: dict[str, str] = {}
        self.ready = False
        self.stopping = False
        self.config_watcher: ConfigWatcher | None = None
        self._tasks = TaskOwner("gateway")
        self._started = engine.clock.monotonic()
        self._register_methods()

    def _register_methods(self) -> None:
        for plugin_id, spec in self.engine.plugins.rpc_methods:
            if spec.name in HANDLERS or spec.scope not in SCOPES:
                _log.error("method of a plugin left out", plugin=plugin_id, method=spec.name, scope=spec.scope)
                continue
            try:
                self.plugin_methods[spec.name] = self.engine.plugins.resolve(plugin_id, spec.handler)
            except PluginError as error:
                _log.error("method of a plugin left out", plugin=plugin_id, method=spec.name, error=error.message)
                continue
            self.plugin_scopes[spec.name] = spec.scope

    # ---- life --------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to work: recovery, lanes, outbox, channels, upkeep."""
        self._tasks.start(self.engine.dispatcher.run(), name="lanes")
        self._tasks.start(self.outbox.run(), name="outbox")
        self._tasks.start(self._tick(), name="tick")
        self._tasks.start(self._upkeep(), name="upkeep")
        self.channels.start(self.outbox.wake)
        self.engine.hub.on_ended.append(self.outbox.wake)
        self.ready = True
        view = GatewayView(
            version=__version__, host=self.host, port=self.port, state_dir=str(self.engine.paths.state_dir)
        )
        self.engine.plugins.gateway_ready(view)
        await self.engine.listeners.emit("gateway_started", {"port": self.port})

    async def _tick(self) -> None:
        while True:
            await self.engine.clock.sleep(frames.TICK_MS / 1000)
            payload = f'{{"ts":{self.engine.clock.now_ms()}}}'
            for connection in list(self.connections):
                connection.send_event("tick", payload)

    async def _upkeep(self) -> None:
        while True:
            now = self.engine.clock.now_ms()
            try:
                await self.engine.store.tasks.sweep(now=now)
                await self.engine.store.journal.prune(before=now - _KEEP_MS)
            except StoreError as error:
                _log.warning("upkeep has to wait", error=error.message)
            await self.engine.clock.sleep(_SWEEP_S)

    async def stop(self, *, drain_s: float) -> None:
        """Stop intake, let runs finish for `drain_s` seconds, then give them back and close everything."""
        self.stopping = True
        self.ready = False
        await self.engine.listeners.emit("gateway_stopping", {})
        for connection in list(self.connections):
            connection.send_event("shutdown", '{"reason":"stopping","restartExpectedMs":null}')
        # what is accepted meanwhile is durable and waits for the next start
        if not await self.engine.dispatcher.drain(drain_s):
            _log.warning("runs were still going; the next start resumes them", runs=len(self.engine.dispatcher.active))
        # a send in flight that is cut off would count as unknown where the platform cannot tell doubles apart
        await self.outbox.drain(_LAST_SENDS_S)
        await self.channels.aclose()
        await self.outbox.aclose()
        await self._tasks.aclose()
        await self.engine.dispatcher.aclose()
        for connection in list(self.connections):
            await connection.close(1012, "service restart")
        await self.engine.aclose()

    # ---- facts -------------------------------------------------------------------------------------

    def uptime_ms(self) -> int:
        """Milliseconds since the process was made ready."""
        return round((self.engine.clock.monotonic() - self._started) * 1000)

    def main_key(self) -> SessionKey:
        """The main session of the default agent."""
        return main_key(self.engine.agents.default_id, self.engine.loaded.config.session.main_key)

    def failing(self) -> list[str]:
        """What keeps the gateway from being fully well, in words."""
        out = [f"channel {name} stopped: {self.channels.hosted[name].service.error}" for name in self.channels.failing]
        out += [
            f"plugin {row.id} ({row.kind}): {row.reason}"
            for row in self.engine.plugins.report.rows.values()
            if row.state == "error"
        ]
        problem = self.config_watcher.problem if self.config_watcher is not None else None
        if problem is not None:
            out.append(f"configuration: {problem.message} The last good one is in force.")
        return out

    def health(self) -> dict[str, Any]:
        """The health object: no call to anywhere."""
        engine = self.engine
        rows = engine.plugins.report.rows.values()
        return {
            "ok": not self.stopping,
            "ts": engine.clock.now_ms(),
            "uptimeMs": self.uptime_ms(),
            "degraded": self.failing(),
            "plugins": {
                "loaded": sorted(r.id for r in rows if r.state == "active"),
                "errors": [{"id": r.id, "kind": r.kind, "reason": r.reason} for r in rows if r.state == "error"],
            },
            "channels": self.channels.status(),
            "channelOrder": sorted(self.channels.hosted),
            "defaultAgentId": engine.agents.default_id,
            "agents": [{"agentId": a} for a in engine.agents.ids()],
            "clients": len(self.connections),
            "runs": {"active": len(engine.dispatcher.active), "lanes": engine.dispatcher.lanes},
            "audit": {"dropped": engine.audit.dropped, "failures": dict(engine.audit.failures)},
            "ingress": {"refused": dict(engine.door.refused)},
            "services": {
                name: h.service.state.value
                for name, h in self.channels.hosted.items()
                if h.service.state is not ServiceState.RUNNING
            },
        }

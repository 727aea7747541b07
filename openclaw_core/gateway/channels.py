"""Runs the configured channels: each supervised on its own, so that one that fails costs only itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from openclaw_core.aio.backoff import Backoff
from openclaw_core.aio.supervise import Service, ServiceState, supervise
from openclaw_core.aio.tasks import TaskOwner
from openclaw_core.contracts.channel import Channel, ChannelEnv
from openclaw_core.delivery.outbox import Outlet
from openclaw_core.domain.channels import AcceptOutcome, DeliveryGuarantee, Inbound
from openclaw_core.errors import ChannelAuthError, ConfigError, OpenClawError, PluginContractError, PluginError
from openclaw_core.gateway.engine import Engine
from openclaw_core.ingress.access import AccessPolicy
from openclaw_core.observe.logging import get_logger
from openclaw_core.plugin import ChannelSpec

_log = get_logger("channels")

_RESTART = (2.0, 60.0)
"""First and longest delay before a lost connection is tried again, in seconds (behaviour.md 9.7)."""


@dataclass(slots=True)
class HostedChannel:
    """A channel with its supervision; implements the contract `ChannelInbox`."""

    spec: ChannelSpec
    channel: Channel
    policy: AccessPolicy
    engine: Engine
    section: Mapping[str, Any]
    service: Service
    backoff: Backoff
    woken: Any = None
    online: set[str] = field(default_factory=set)
    last_error: str = ""

    async def accept(self, event: Inbound, *, cursor: str | None = None) -> AcceptOutcome:
        """See the contract."""
        session = self.engine.loaded.config.session
        scope = str(self.section.get("dmScope") or "") or (
            self.spec.dm_scope if "dm_scope" not in session.model_fields_set else ""
        )
        if scope:
            session = session.model_copy(update={"dm_scope": scope})
        return await self.engine.door.channel_event(
            self.spec.id,
            self.policy,
            event,
            agent=self.engine.agents.default_id,
            session=session,
            cursor=cursor,
        )

    async def cursor(self, account: str = "default") -> str | None:
        """See the contract."""
        return await self.engine.store.journal.cursor(self.spec.id, account)

    def connected(self, account: str = "default") -> None:
        """See the contract."""
        self.online.add(account)
        self.last_error = ""
        self.backoff.reset()
        if self.woken is not None:
            self.woken()

    def disconnected(self, reason: str, account: str = "default") -> None:
        """See the contract."""
        self.online.discard(account)
        self.last_error = reason

    def is_connected(self, account: str) -> bool:
        """Whether sending may work now."""
        return account in self.online

    async def serve(self) -> None:
        """One life of the connection."""
        try:
            await self.channel.run(self)
        finally:
            self.online.clear()


class ChannelHost:
    """All channels of the gateway."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._tasks = TaskOwner("channels")
        self.hosted: dict[str, HostedChannel] = {}

    def build(self) -> dict[str, Outlet]:
        """Make the objects of all configured channels; one that cannot be made is reported and left out."""
        for plugin_id, spec in self._engine.plugins.channels:
            try:
                self.hosted[spec.id] = self._make(plugin_id, spec)
            except (PluginError, ConfigError) as error:
                _log.error("channel left out", channel=spec.id, error=error.message)
                failure = (
                    error
                    if isinstance(error, PluginError)
                    else PluginContractError(error.message, plugin_id=plugin_id, hint=error.hint)
                )
                self._engine.plugins.fail(plugin_id, failure, kind="channel")
        return {
            ident: Outlet(
                channel=hosted.channel,
                guarantee=DeliveryGuarantee(hosted.spec.delivery),
                connected=hosted.is_connected,
            )
            for ident, hosted in self.hosted.items()
        }

    def _make(self, plugin_id: str, spec: ChannelSpec) -> HostedChannel:
        engine = self._engine
        config = engine.plugins.config_for(plugin_id, spec, kind="channel")
        factory = engine.plugins.resolve(plugin_id, spec.factory, kind="channel")
        state = engine.paths.state_dir / "channels" / spec.id
        try:
            channel: Channel = factory(ChannelEnv(channel_id=spec.id, config=config, state_dir=str(state)))
        except OpenClawError:
            raise
        except Exception as error:
            raise PluginContractError(
                f"The channel {spec.id} could not be made ({type(error).__name__}: {error}).", plugin_id=plugin_id
            ) from error
        section = engine.loaded.config.channels.configured().get(spec.id)
        section = section if isinstance(section, Mapping) else {}
        return HostedChannel(
            spec=spec,
            channel=channel,
            policy=AccessPolicy.of(spec.id, section),
            engine=engine,
            section=section,
            service=Service(spec.id),
            backoff=Backoff(first=_RESTART[0], limit=_RESTART[1]),
        )

    def start(self, woken: Any) -> None:
        """Connect all channels; `woken` is called when one can send again."""
        for ident, hosted in self.hosted.items():
            hosted.woken = woken
            self._tasks.start(
                supervise(
                    hosted.service,
                    hosted.serve,
                    backoff=hosted.backoff,
                    clock=self._engine.clock,
                    fatal=(ChannelAuthError,),
                    max_failures=10_000,  # a network that is away for days must not end a channel for good
                ),
                name=ident,
            )

    def status(self) -> dict[str, dict[str, Any]]:
        """State of each channel for health, status and doctor."""
        return {
            ident: {
                "state": hosted.service.state.value,
                "connected": bool(hosted.online),
                "lastError": hosted.service.error or hosted.last_error,
                "restarts": hosted.service.restarts,
            }
            for ident, hosted in self.hosted.items()
        }

    @property
    def failing(self) -> list[str]:
        """Channels that are given up."""
        return [i for i, h in self.hosted.items() if h.service.state is ServiceState.FAILED]

    async def aclose(self) -> None:
        """Stop receiving, then disconnect."""
        await self._tasks.aclose()
        for hosted in self.hosted.values():
            try:
                await hosted.channel.aclose()
            except Exception as error:  # noqa: BLE001  # foreign code must not keep the gateway from stopping
                _log.warning("channel failed to close", channel=hosted.spec.id, error=repr(error))

"""Long-lived work that is started again when it fails, within bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from openclaw_core.aio.backoff import Backoff
from openclaw_core.aio.clock import Clock
from openclaw_core.observe.logging import get_logger

_log = get_logger("supervise")


class ServiceState(StrEnum):
    """How a supervised service stands."""

    STARTING = "starting"
    RUNNING = "running"
    WAITING = "waiting"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(slots=True)
class Service:
    """A supervised service as `status` and `doctor` show it."""

    name: str
    state: ServiceState = ServiceState.STARTING
    error: str = ""
    restarts: int = 0


async def supervise(
    service: Service,
    work: Callable[[], Awaitable[None]],
    *,
    backoff: Backoff,
    clock: Clock,
    fatal: tuple[type[BaseException], ...] = (),
    max_failures: int = 10,
) -> None:
    """Run `work` until it is cancelled; start it again with `backoff` after a failure.

    A `fatal` error, or `max_failures` in a row without `backoff.reset()` by the work, ends it in state
    ``failed``: visible, never a hot loop. A work that returns normally counts as a failure too.
    """
    while True:
        service.state = ServiceState.RUNNING
        try:
            await work()
            service.error = "ended by itself"
        except asyncio.CancelledError:
            service.state = ServiceState.STOPPED
            raise
        except fatal as error:
            service.state, service.error = ServiceState.FAILED, str(error)
            _log.error("stopped for good", service=service.name, error=str(error))
            return
        except Exception as error:  # noqa: BLE001  # the boundary that keeps one bad service from ending the others
            service.error = str(error) or repr(error)
            _log.warning("failed, will be started again", service=service.name, error=service.error)
        if backoff.failures >= max_failures:
            service.state = ServiceState.FAILED
            _log.error("given up after failures in a row", service=service.name, failures=max_failures)
            return
        service.state = ServiceState.WAITING
        service.restarts += 1
        await clock.sleep(backoff.next())

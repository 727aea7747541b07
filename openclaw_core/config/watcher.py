"""Notice changes of the configuration while the gateway runs; a bad edit never takes anything down."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from openclaw_core.aio.clock import Clock
from openclaw_core.config.loader import LoadedConfig, load_config
from openclaw_core.config.paths import StatePaths, write_private
from openclaw_core.errors import ConfigError, ConfigFileError
from openclaw_core.observe.logging import get_logger

POLL_SECONDS = 0.5
RETRY_POLLS = 4
"""While the file is bad it is read again after so many polls: an included file may have been mended."""

_log = get_logger("config")
OnChange = Callable[[LoadedConfig], Awaitable[None]]
Signature = tuple[tuple[int, int, int] | None, ...]


class ConfigWatcher:
    """Watches the files of a configuration by their times and sizes.

    A change counts when nothing has changed any more for ``gateway.reload.debounceMs``. An invalid, half
    written or missing file leaves `current` in force and is reported once per problem; `problem` says what
    it is until the file is good again. `on_change` is awaited with each new valid configuration; what it
    raises is logged and the new configuration is in force all the same.
    """

    def __init__(
        self,
        paths: StatePaths,
        current: LoadedConfig,
        *,
        clock: Clock,
        on_change: OnChange,
        environ: Mapping[str, str] | None = None,
        overrides: Mapping[str, Any] | None = None,
    ) -> None:
        self.current = current
        self.problem: ConfigError | None = None
        self._paths = paths
        self._clock = clock
        self._on_change = on_change
        self._environ = environ
        self._overrides = overrides
        self._seen = self._signature()

    async def run(self) -> None:
        """Watch until cancelled."""
        await asyncio.to_thread(save_last_good, self._paths, self.current)
        polls = 0
        while True:
            await self._clock.sleep(POLL_SECONDS)
            polls += 1
            if self._signature() != self._seen:
                await self._settle()
            elif self.problem is None or polls % RETRY_POLLS:
                continue
            await self.check()

    async def _settle(self) -> None:
        """Wait until the files stop changing."""
        seen = None
        while seen != self._signature():
            seen = self._signature()
            await self._clock.sleep(self.current.config.gateway.reload.debounce_ms / 1000)

    async def check(self) -> bool:
        """Read the files now; True when a new configuration is in force."""
        # Taken before reading: a change during the reading is seen by the next poll.
        self._seen = self._signature()
        try:
            fresh = await asyncio.to_thread(self._load)
        except ConfigError as error:
            if self.problem is None or self.problem.message != error.message:
                _log.error("bad configuration, the last good one stays in force", problem=error.message)
            self.problem = error
            return False
        if self.problem is not None:
            _log.warning("the configuration is good again")
            self.problem = None
        if (fresh.source_digest, fresh.config) == (self.current.source_digest, self.current.config):
            return False
        self.current = fresh
        self._seen = self._signature()
        await asyncio.to_thread(save_last_good, self._paths, fresh)
        try:
            await self._on_change(fresh)
        except Exception as error:  # noqa: BLE001  # a listener that fails must not end the watching
            _log.error("a configuration change could not be applied everywhere", error=str(error), exc_info=error)
        return True

    def _load(self) -> LoadedConfig:
        loaded = load_config(self._paths, environ=self._environ, overrides=self._overrides)
        if self.current.exists and not loaded.exists:
            raise ConfigFileError(
                f"{self._paths.config_file} is gone.",
                hint=f"Put it back; {self._paths.last_good.name} beside it is the last good version.",
            )
        return loaded

    def _signature(self) -> Signature:
        return tuple(_stat(path) for path in self.current.files or (self._paths.config_file,))


def _stat(path: Path) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116  # follows links, as reading does
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def save_last_good(paths: StatePaths, loaded: LoadedConfig) -> None:
    """Keep a copy of a valid file beside it, for its owner only; logged when that is not possible.

    What was read is kept, not what stands in the file by now.
    """
    if not loaded.exists:
        return
    try:
        if not paths.last_good.exists() or paths.last_good.read_bytes() != loaded.content:
            write_private(paths.last_good, loaded.content)
    except OSError as error:
        _log.info("no copy of the configuration was kept", error=str(error))

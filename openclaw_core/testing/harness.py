"""A whole gateway in this process, without server and ports: push a message, read what became of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from openclaw_core.config.loader import load_config
from openclaw_core.config.paths import StatePaths
from openclaw_core.domain.ids import RunId, new_uuid
from openclaw_core.gateway.app import GatewayApp
from openclaw_core.gateway.engine import Engine
from openclaw_core.sessions.keys import agent_of, normalise


class GatewayHarness:
    """``async with GatewayHarness(folder, config) as gateway``; uses the plugins that are installed."""

    def __init__(self, folder: Path, config: Mapping[str, Any] | None = None) -> None:
        self.paths = StatePaths.resolve(state_dir=folder, environ={})
        self._config = dict(config or {})
        self.app: GatewayApp

    @property
    def engine(self) -> Engine:
        """The engine behind the gateway."""
        return self.app.engine

    async def __aenter__(self) -> GatewayHarness:
        self.paths.ensure()
        self.paths.config_file.write_text(json.dumps(self._config), encoding="utf-8")
        loaded = load_config(self.paths, environ={})
        engine = await Engine.open(self.paths, loaded, kind="gateway")
        self.app = GatewayApp(engine, token="", host="127.0.0.1", port=0)
        await self.app.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.app.stop(drain_s=1.0)

    async def say(self, text: str, *, session: str = "main", timeout_s: float = 30.0) -> Mapping[str, Any]:
        """Send a message as the owner and wait for the run's outcome (status, result, error).

        Raises TimeoutError when the run did not end in time.
        """
        key = normalise(session)
        run_id = RunId(new_uuid())
        await self.engine.door.request(
            channel="cli", run_id=run_id, session_key=key, agent=agent_of(key), body={"text": text}, with_task=True
        )
        outcome = await self.engine.hub.wait(run_id, timeout_s)
        if outcome is None:
            raise TimeoutError(f"the run did not end within {timeout_s} seconds")
        return outcome

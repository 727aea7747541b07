"""`health`, `status`, `config.get`."""

from __future__ import annotations

import os
import platform
from typing import Any

from openclaw_core import __version__
from openclaw_core.domain.tasks import TaskStatus
from openclaw_core.gateway.public import public_config
from openclaw_core.gateway.rpc import Call, method
from openclaw_core.sessions.view import session_row


@method("health")
async def health(call: Call) -> dict[str, Any]:
    """How the gateway is."""
    return call.app.health()


@method("status")
async def status(call: Call) -> dict[str, Any]:
    """What the gateway has and does."""
    engine = call.app.engine
    now = engine.clock.now_ms()
    entries = await engine.store.sessions.list(limit=10)
    tasks = await engine.store.tasks.list(limit=500)
    by_status = {s.value: sum(1 for t in tasks if t.status is s) for s in TaskStatus}
    return {
        "runtimeVersion": __version__,
        "pid": os.getpid(),
        "os": {"platform": platform.system().lower(), "release": platform.release(), "arch": platform.machine()},
        "gateway": {"host": call.app.host, "port": call.app.port, "uptimeMs": call.app.uptime_ms()},
        "defaultModel": engine.models.default_ref(),
        "sessions": {"recent": [session_row(e, now) for e in entries]},
        "tasks": {
            "total": len(tasks),
            "active": sum(not t.status.terminal for t in tasks),
            "byStatus": {k: v for k, v in by_status.items() if v},
        },
        "journal": dict(await engine.store.journal.counts()),
        "health": call.app.health(),
    }


@method("config.get")
async def config_get(call: Call) -> dict[str, Any]:
    """The configuration in force, secrets hidden."""
    loaded = call.app.engine.loaded
    return {
        "path": str(call.app.engine.paths.config_file),
        "exists": loaded.exists,
        "hash": loaded.source_digest,
        "config": public_config(loaded),
        "warnings": [w.as_dict() for w in loaded.warnings],
        "fromLastGood": loaded.from_last_good,
    }

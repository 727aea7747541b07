"""The trace says what is there, and what is missing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from openclaw_core.domain.ids import SessionKey
from openclaw_core.errors import NotFound
from openclaw_core.observe.trace import PLANES, build_trace
from openclaw_core.testing.harness import GatewayHarness


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[GatewayHarness]:
    async with GatewayHarness(tmp_path / "state") as made:
        made.paths.workspace.mkdir(exist_ok=True)
        (made.paths.workspace / "notes.md").write_text("a secret line\n")
        yield made


async def trace(gateway: GatewayHarness, ident: str = "", **more: Any) -> dict[str, Any]:
    await gateway.engine.audit.flush()
    return await build_trace(gateway.engine.store, ident, **more)


async def test_a_complete_run(gateway: GatewayHarness, tmp_path: Path) -> None:
    outcome = await gateway.say("read notes.md")
    log = tmp_path / "x.log"
    log.write_text(json.dumps({"time": 1, "message": "said", "runId": outcome["runId"], "level": "info"}) + "\n{torn")
    found = await trace(gateway, outcome["runId"], log_files=[log, tmp_path / "none.log"])
    assert found["missing"] == []
    assert (found["summary"]["modelRequests"], found["summary"]["toolCalls"]) == (2, 1)
    assert all(found["planes"][plane] for plane in PLANES)
    times = [event["at"] for event in found["timeline"]]
    assert times == sorted(times)
    assert "secret" not in json.dumps(found)
    assert "notes.md" not in json.dumps(found)


async def test_every_name_of_a_run(gateway: GatewayHarness) -> None:
    await gateway.say("hello", session="one")
    outcome = await gateway.say("hello", session="two")
    task = await gateway.engine.store.tasks.find(outcome["runId"])
    assert task is not None
    for ident in (outcome["runId"], task.task_id, "agent:main:two", "two"):
        assert (await trace(gateway, ident))["run"]["runId"] == outcome["runId"]
    assert (await trace(gateway, last=True))["run"]["runId"] == outcome["runId"]
    with pytest.raises(NotFound):
        await trace(gateway, "nothing")


async def test_what_is_missing_is_named(gateway: GatewayHarness) -> None:
    outcome = await gateway.say("hello")
    assert (await trace(gateway, outcome["runId"]))["missing"] == ["logs: no line names this run"]
    entry = await gateway.engine.store.sessions.get(SessionKey("agent:main:main"))
    assert entry is not None
    file = gateway.paths.state_dir / "agents" / "main" / "sessions" / f"{entry.session_id}.jsonl"
    file.rename(file.with_suffix(".away"))
    missing = (await trace(gateway, outcome["runId"]))["missing"]
    assert missing[:2] == ["transcript: the message itself", "transcript: an answer"]


async def test_before_there_is_a_run(gateway: GatewayHarness) -> None:
    with pytest.raises(NotFound, match="no run yet"):
        await trace(gateway)

"""Sessions of the original are taken over once, and its file stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

from openclaw_core.sdk import SessionKey
from openclaw_core.testing.contracts.store import StoreHouse

UUID = "5f0c2a4e-0000-4000-8000-000000000001"


def index(state: Path, agent: str, content: bytes) -> Path:
    file = state / "agents" / agent / "sessions" / "sessions.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    return file


async def test_entries_are_taken_over(house: StoreHouse, state: Path) -> None:
    entries = {
        "agent:main:main": {
            "sessionId": UUID,
            "updatedAt": 1_700_000_000_123,
            "sessionStartedAt": 1_690_000_000_000.0,
            "model": "m",
            "origin": {"label": "\ud83d"},
        },
        "agent:main:late": {"sessionId": UUID, "updatedAt": "yesterday", "sessionStartedAt": True},
        "": {"sessionId": UUID},
        "no id": {"updatedAt": 5},
        "path": {"sessionId": "../../etc/passwd"},
        "number": {"sessionId": 5},
        "not an object": [1],
        "null": None,
    }
    file = index(state, "main", json.dumps(entries).encode())
    index(state, "broken", b'{"agent:broken:main": {"sessionId"')
    index(state, "list", b"[]")
    index(state, "deep", b"[" * 200_000)
    index(state, ".hidden", json.dumps(entries).encode())
    before = file.read_bytes(), file.stat().st_mtime_ns
    store = await house.open()
    assert {entry.key for entry in await store.sessions.list()} == {"agent:main:main", "agent:main:late"}
    entry = await store.sessions.get(SessionKey("agent:main:main"))
    assert entry is not None
    assert (entry.agent_id, entry.session_id) == ("main", UUID)
    assert (entry.updated_at, entry.session_started_at) == (1_700_000_000_123, 1_690_000_000_000)
    assert entry.fields == {"model": "m", "origin": {"label": "\ud83d"}}
    late = await store.sessions.get(SessionKey("agent:main:late"))
    assert late is not None
    assert (late.updated_at, late.session_started_at) == (0, 0)
    await store.sessions.update(SessionKey("agent:main:main"), {"model": "n"}, now=1_800_000_000_000)
    await house.close(store)
    store = await house.open("boot-b")
    again = await store.sessions.get(SessionKey("agent:main:main"))
    assert again is not None
    assert again.fields["model"] == "n"
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before

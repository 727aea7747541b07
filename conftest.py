"""What all tests share: peers, a clean environment."""

from __future__ import annotations

import os

import peers
import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests whose real peer is missing, naming the command that installs it; fail them in CI."""
    known = peers.peers()
    for item in items:
        for mark in item.iter_markers("peer"):
            peer = known[mark.args[0]]
            if peer.command is None and not peers.required():
                item.add_marker(pytest.mark.skip(reason=f"{peer.name} is not installed: {peer.install}"))


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the owner's own configuration or keys."""
    for name in list(os.environ):
        ours = name.startswith("OPENCLAW_") and name not in (
            "OPENCLAW_REQUIRE_PEERS",
            "OPENCLAW_SWEEP",
            "OPENCLAW_FRESH",
        )
        if ours or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)

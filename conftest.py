"""What all tests share: peers, a clean environment."""

from __future__ import annotations

import os

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests whose real peer is missing, naming the command that installs it; fail them in CI."""
    import importlib.util
    from pathlib import Path

    spec = importlib.util.spec_from_file_location("openclaw_test_peers", Path(__file__).parent / "tests" / "peers.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    known = module.peers()
    for item in items:
        for mark in item.iter_markers("peer"):
            peer = known[mark.args[0]]
            if peer.command is None and not module.required():
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

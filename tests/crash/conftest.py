"""Puts the harness on the path: it is a package of its own, because `make sweep` runs it without pytest."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from crashsweep.launcher import Launcher


@pytest.fixture(scope="session")
def launcher() -> Iterator[Launcher]:
    """One process that has everything imported and forks gateways."""
    with Launcher() as running:
        yield running

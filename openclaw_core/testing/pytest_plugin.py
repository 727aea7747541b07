"""Fixtures for authors of plugins; pytest finds them through the entry point of openclaw-core.

Importing this module costs nothing: each fixture imports what it needs when a test asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from openclaw_core.config.paths import StatePaths
    from openclaw_core.testing.plugin_env import PluginEnv


@pytest.fixture
def plugin_env(tmp_path: Path) -> Iterator[PluginEnv]:
    """A folder on ``sys.path`` for distributions made by the test: really discovered, never installed."""
    from openclaw_core.testing.plugin_env import PluginEnv

    env = PluginEnv(tmp_path / "distributions")
    with env.active():
        yield env


@pytest.fixture
def openclaw_paths(tmp_path: Path) -> StatePaths:
    """An empty state directory of the test's own."""
    from openclaw_core.config.paths import StatePaths

    paths = StatePaths.resolve(state_dir=tmp_path / "state", environ={})
    paths.ensure()
    return paths

"""Every plugin of this project keeps the contract of plugins."""

from __future__ import annotations

import pytest

from openclaw_core.plugins.catalog import scan
from openclaw_core.testing.contracts.plugin import PluginContract

DISTRIBUTIONS = sorted({plugin.distribution for plugin in scan().plugins if plugin.bundled})


class TestBundled(PluginContract):
    """One run of the contract for each distribution."""

    @pytest.fixture(params=DISTRIBUTIONS)
    def distribution_name(self, request: pytest.FixtureRequest) -> str:
        return request.param

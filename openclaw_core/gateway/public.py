"""The configuration without its secrets, for tools, clients and people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openclaw_core.config.loader import LoadedConfig
from openclaw_core.config.schema import plain


def public_config(loaded: LoadedConfig) -> Mapping[str, Any]:
    """All values in force with secrets hidden."""
    return plain(loaded.config, defaults=False)

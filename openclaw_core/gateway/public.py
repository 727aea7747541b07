"""The configuration without its secrets, for tools, clients and people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openclaw_core.config.loader import LoadedConfig


def public_config(loaded: LoadedConfig) -> Mapping[str, Any]:
    """All values in force with secrets hidden."""
    return loaded.config.model_dump(mode="json", by_alias=True, exclude_unset=True)

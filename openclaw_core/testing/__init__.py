"""The public test kit: contract tests, fakes, and a whole gateway in memory. Names are imported when used."""

from __future__ import annotations

import importlib
from typing import Any

_WHERE = {
    "AuditSinkContract": "contracts.audit",
    "ChannelContract": "contracts.channel",
    "GatewayHarness": "harness",
    "PluginContract": "contracts.plugin",
    "PluginEnv": "plugin_env",
    "ProviderContract": "contracts.provider",
    "RecordingInbox": "fakes.inbox",
    "RuntimeContract": "contracts.runtime",
    "ScriptedContext": "fakes.run_context",
    "StoreContract": "contracts.store",
    "TestHttp": "fakes.http",
    "ToolContract": "contracts.tool",
}

__all__ = [*sorted(_WHERE)]  # strings, computed


def __getattr__(name: str) -> Any:
    place = _WHERE.get(name)
    if place is None:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(importlib.import_module(f"{__name__}.{place}"), name)

"""The rules a spec must keep, whoever made it."""

from __future__ import annotations

from typing import Any

from openclaw_core import plugin as author
from openclaw_core.contracts.listener import Listener

SPECS: dict[str, type[Any]] = {
    "channel": author.ChannelSpec,
    "provider": author.ProviderSpec,
    "tools": author.ToolSpec,
    "skills": author.SkillSource,
    "runtime": author.RuntimeSpec,
    "store": author.StoreSpec,
    "audit_sink": author.AuditSinkSpec,
    "http_routes": author.RouteSpec,
    "rpc_methods": author.RpcMethodSpec,
    "commands": author.CommandSpec,
    "chat_commands": author.ChatCommandSpec,
    "doctor_checks": author.DoctorCheck,
    "config_migrations": author.Migration,
    "prompt_sections": author.PromptSection,
    "listeners": Listener,
}
"""What each hook returns."""


def spec_problem(what: str, spec: object) -> str:
    """Why a spec cannot be used, in one clause; empty when it can."""
    wanted = SPECS[what]
    if not isinstance(spec, wanted):
        return f"it returned {type(spec).__name__} where {wanted.__name__} is needed"
    api = getattr(spec, "api", author.API)
    if not isinstance(api, int) or api > author.API:
        return f"it was written for hook generation {api}, this openclaw-core has {author.API}"
    name = getattr(spec, "id", None) or getattr(spec, "name", "x")
    if not isinstance(name, str) or not name or any(c.isspace() or not c.isprintable() for c in name):
        return f"its id {name!r} is not a plain word"
    if what == "rpc_methods" and not getattr(spec, "scope", ""):
        return f"its method {name} declares no scope"
    return ""

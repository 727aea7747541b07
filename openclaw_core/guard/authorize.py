"""The one table of who may do what: method -> scope. What is not in it is denied (behaviour.md 10.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from openclaw_core.errors import Unauthorized

READ = "operator.read"
WRITE = "operator.write"
ADMIN = "operator.admin"
APPROVALS = "operator.approvals"
PAIRING = "operator.pairing"
SCOPES = (READ, WRITE, ADMIN, APPROVALS, PAIRING, "operator.talk.secrets")

METHODS: dict[str, str] = {
    "health": READ,
    "status": READ,
    "agent": WRITE,
    "agent.wait": READ,
    "chat.send": WRITE,
    "chat.history": READ,
    "chat.abort": WRITE,
    "sessions.list": READ,
    "sessions.reset": WRITE,
    "tasks.list": READ,
    "tasks.get": READ,
    "tasks.cancel": WRITE,
    "audit.list": READ,
    "models.list": READ,
    "plugins.list": READ,
    "config.get": ADMIN,
    "trace.get": READ,
}
"""Core methods; methods of plugins bring their scope in their spec."""

_ADMIN_PREFIXES = ("config.", "exec.approvals.", "wizard.", "update.")


def scope_of(method: str, extra: Mapping[str, str]) -> str | None:
    """The scope a method needs; None for an unknown one. Reserved prefixes always need admin."""
    scope = METHODS.get(method) or extra.get(method)
    if scope is None or scope not in SCOPES:
        return None
    return ADMIN if method.startswith(_ADMIN_PREFIXES) else scope


def granted(asked: Iterable[str] | None, record: Iterable[str]) -> frozenset[str]:
    """Scopes of a connection: what the credential's record holds, narrowed by what the client asked for."""
    have = expand(record)
    return have if asked is None else frozenset(s for s in asked if s in have)


def expand(scopes: Iterable[str]) -> frozenset[str]:
    """Admin implies all, write implies read."""
    out = {s for s in scopes if s in SCOPES}
    if ADMIN in out:
        return frozenset(SCOPES)
    if WRITE in out:
        out.add(READ)
    return frozenset(out)


def authorize(method: str, scopes: Iterable[str], *, extra: Mapping[str, str]) -> None:
    """Pass, or raise Unauthorized. Unknown methods are the caller's business before this."""
    needed = scope_of(method, extra)
    if needed is None or needed not in expand(scopes):
        raise Unauthorized(
            f"missing scope: {needed or ADMIN}",
            hint="Connect with a credential that has this scope.",
            code="missing_scope",
        )

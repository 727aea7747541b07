"""The author door, light half: what a `plugin.py` may import.

A plugin module defines functions named after the hooks in `openclaw_core.hooks.specs`, marks them
with `hookimpl`, and returns the frozen *specs* below. A spec names its heavy parts by import string
(``package.module:attribute``), so that listing plugins imports nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from openclaw_core.hooks.markers import hookimpl

if TYPE_CHECKING:
    from openclaw_core.contracts.skill import SkillScanner

API = 1
"""Hook generation. A spec with a higher `api` is refused with PluginApiMismatch."""

ImportString = str
"""``package.module:attribute``."""

__all__ = [
    "API",
    "AuditSinkSpec",
    "ChannelSpec",
    "ChatCommandSpec",
    "CommandSpec",
    "DoctorCheck",
    "DoctorFinding",
    "ImportString",
    "Migration",
    "PromptSection",
    "ProviderModel",
    "ProviderSpec",
    "RouteSpec",
    "RpcMethodSpec",
    "RuntimeSpec",
    "SkillSource",
    "StoreSpec",
    "ToolPolicyRequest",
    "ToolSpec",
    "TurnView",
    "Verdict",
    "hookimpl",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSpec:
    """A channel. `factory` takes a ChannelEnv and returns a Channel; `config_model` is a pydantic model
    of ``channels.<id>``. `text_limit` counts `text_unit`s (``bytes``, ``utf16``, ``code_points``);
    `delivery` is ``idempotent``, ``readable`` or ``plain``."""

    id: str
    summary: str
    factory: ImportString
    config_model: ImportString
    text_limit: int = 4000
    text_unit: Literal["bytes", "utf16", "code_points"] = "utf16"
    delivery: Literal["idempotent", "readable", "plain"] = "plain"
    chat_types: tuple[str, ...] = ("direct",)
    abilities: frozenset[str] = frozenset()
    """Any of ``typing edit media reactions threads polls markdown newlines``."""
    dm_scope: str = ""
    """Session scope of direct messages where ``session.dmScope`` is not configured (behaviour.md 2.1)."""
    api: int = API


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderModel:
    """A catalogue entry of a provider; tokens, and US dollars per million tokens."""

    id: str
    name: str = ""
    context_window: int = 200_000
    max_tokens: int = 8192
    reasoning: bool = False
    input: tuple[str, ...] = ("text",)
    cost: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    """input, output, cache read, cache write"""
    api: str = ""
    compat: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSpec:
    """A provider. `id` is the left half of ``provider/model``. `wire_apis` are the wire formats it can
    serve for any ``models.providers.<id>`` entry of the configuration (behaviour.md 7.1). `fallback`
    marks one that is chosen only when nothing else is configured. `local` marks a server that the owner
    runs: usable only when its entry is configured or one of `env_keys` or `env_base_urls` is set.
    `priority`: where no model is named, the usable provider with the lowest number is chosen.
    `factory` takes a ProviderEnv."""

    id: str
    summary: str
    factory: ImportString
    wire_apis: tuple[str, ...] = ()
    default_api: str = ""
    base_url: str = ""
    env_base_urls: tuple[str, ...] = ()
    """Variables that hold the server's address; host, scheme or path may be missing as in `base_url`."""
    env_keys: tuple[str, ...] = ()
    needs_key: bool = True
    models: tuple[ProviderModel, ...] = ()
    default_model: str = ""
    fallback: bool = False
    local: bool = False
    priority: int = 50
    compat: Mapping[str, Any] = field(default_factory=dict)
    config_model: ImportString | None = None
    api: int = API


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool. `args_model` is a pydantic model (its JSON Schema goes to the model); `parameters` is the
    schema itself where there is no model. `factory` takes a ToolEnv and returns a Tool, once per agent.

    `read_only` or `idempotent`: may be run again after a crash left its outcome unknown.
    `aliases` maps accepted argument names to the real ones.
    """

    name: str
    description: str
    factory: ImportString
    args_model: ImportString | None = None
    parameters: Mapping[str, Any] | None = None
    group: str = ""
    read_only: bool = False
    idempotent: bool = False
    owner_only: bool = False
    optional: bool = False
    timeout_s: float = 120.0
    aliases: Mapping[str, str] = field(default_factory=dict)
    api: int = API


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillSource:
    """A source of skills. `tier` orders sources (behaviour.md 4.1: extra 1, bundled 2, managed 3,
    personal 4, project 5, workspace 6); `root` is an absolute folder inside the distribution."""

    id: str
    summary: str
    tier: int
    root: str
    scanner: SkillScanner | None = None
    api: int = API


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSpec:
    """A runtime. `claims(provider, model)` gives its bid for the policy ``auto`` (None = cannot)."""

    id: str
    summary: str
    factory: ImportString
    claims: Callable[[str, str], int | None]
    config_model: ImportString | None = None
    api: int = API


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSinkSpec:
    """An audit sink. `factory` takes an AuditSinkEnv. `default_on`: active without configuration."""

    id: str
    summary: str
    factory: ImportString
    config_model: ImportString | None = None
    default_on: bool = False
    api: int = API


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSpec:
    """A store. `factory` takes a StoreEnv. `default`: used when the configuration names none."""

    id: str
    summary: str
    factory: ImportString
    config_model: ImportString | None = None
    default: bool = False
    api: int = API


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteSpec:
    """HTTP routes mounted under ``/plugins/<id>``; `app` is an ASGI app. Authenticated unless `public`."""

    id: str
    app: ImportString
    public: bool = False
    api: int = API


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcMethodSpec:
    """A gateway method; `scope` is one of the scopes of behaviour.md 10.2. `handler` is an import string
    to ``async (params, call) -> payload``."""

    name: str
    scope: str
    handler: ImportString
    idempotent: bool = True
    api: int = API


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSpec:
    """A CLI command; `command` is an import string to a click command."""

    name: str
    summary: str
    command: ImportString
    api: int = API


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatCommandSpec:
    """A slash command in chats; `handler` is an import string to ``async (args, call) -> text``."""

    name: str
    summary: str
    handler: ImportString
    owner_only: bool = False
    api: int = API


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorFinding:
    """What a check found; `level` is ``ok``, ``warn`` or ``error``."""

    level: Literal["ok", "warn", "error"]
    text: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorCheck:
    """A check of `openclaw doctor`: an async callable that returns findings within `timeout_s`."""

    id: str
    summary: str
    check: Callable[[Mapping[str, Any]], Awaitable[Iterable[DoctorFinding]]]
    timeout_s: float = 10.0
    api: int = API


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """What prompt sections may look at."""

    agent_id: str
    session_key: str
    channel: str
    provider: str
    model: str
    workspace: str
    mode: Literal["full", "minimal", "none"] = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSection:
    """A piece of the system prompt, cut at `max_chars`; `order` as in behaviour.md 3.1 times ten."""

    id: str
    title: str
    text: str
    order: int = 500
    max_chars: int = 2000
    api: int = API


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPolicyRequest:
    """Whether a tool may be offered (``call_id`` empty) or called now. `arguments` only for a call."""

    tool: str
    agent_id: str
    session_key: str
    channel: str
    run_id: str = ""
    call_id: str = ""
    arguments: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A policy's word; any deny wins."""

    allow: bool
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """A change of the configuration's raw data from one version to the next; pure."""

    id: str
    order: int
    apply: Callable[[dict[str, Any]], dict[str, Any]]
    api: int = API

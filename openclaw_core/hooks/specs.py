"""All hooks. Each is sync, pure, takes keywords and returns an iterable of specs (None is read as empty).

Order of plugins does not matter unless a docstring says so. A hook that raises costs only its plugin.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from openclaw_core.hooks.markers import hookspec

if TYPE_CHECKING:
    from openclaw_core.contracts.listener import Listener
    from openclaw_core.contracts.tool import ToolEnv
    from openclaw_core.hooks.views import GatewayView
    from openclaw_core.plugin import (
        AuditSinkSpec,
        ChannelSpec,
        ChatCommandSpec,
        CommandSpec,
        DoctorCheck,
        Migration,
        PromptSection,
        ProviderSpec,
        RouteSpec,
        RpcMethodSpec,
        RuntimeSpec,
        SkillSource,
        StoreSpec,
        ToolPolicyRequest,
        ToolSpec,
        TurnView,
        Verdict,
    )

EVENTS = (
    "gateway_started",
    "gateway_stopping",
    "message_received",
    "session_opened",
    "run_started",
    "run_finished",
    "model_requested",
    "model_failed",
    "before_tool_call",
    "tool_finished",
    "reply_sending",
    "reply_sent",
)
"""Names a Listener may subscribe to; ``before_tool_call`` is a gate and fails closed."""


# ---- capabilities: asked once, at composition ------------------------------------------------


@hookspec
def openclaw_channels() -> Iterable[ChannelSpec]:  # type: ignore[empty-body]  # pluggy specs have no body
    """Channels of this plugin; each id equals an entry-point name of the group ``openclaw.channels``."""


@hookspec
def openclaw_providers() -> Iterable[ProviderSpec]:  # type: ignore[empty-body]  # pluggy specs have no body
    """Model providers; the id is the left half of ``provider/model``."""


@hookspec
def openclaw_tools(env: ToolEnv) -> Iterable[ToolSpec]:  # type: ignore[empty-body]  # pluggy specs have no body
    """Tools for one agent. Leave out a tool whose prerequisites are absent.

    `env`: the agent, its workspace and the configuration without secrets. Called once per agent and
    configuration, not per turn.
    """


@hookspec
def openclaw_skill_sources() -> Iterable[SkillSource]:  # type: ignore[empty-body]  # pluggy specs have no body
    """Folders of skills; each root must lie inside the plugin's distribution."""


@hookspec
def openclaw_runtimes() -> Iterable[RuntimeSpec]:  # type: ignore[empty-body]  # pluggy specs have no body
    """Runtimes; the policy ``auto`` takes the highest claim, the embedded one claims 0."""


@hookspec
def openclaw_audit_sinks() -> Iterable[AuditSinkSpec]:  # type: ignore[empty-body]  # pluggy specs have no body
    """Audit sinks; they receive metadata-only events."""


@hookspec
def openclaw_stores() -> Iterable[StoreSpec]:  # type: ignore[empty-body]  # pluggy specs have no body
    """Stores; the configuration picks exactly one."""


# ---- surfaces --------------------------------------------------------------------------------


@hookspec
def openclaw_http_routes() -> Iterable[RouteSpec]:  # type: ignore[empty-body]  # pluggy specs have no body
    """ASGI apps mounted under ``/plugins/<id>``; authenticated unless the spec says public."""


@hookspec
def openclaw_rpc_methods() -> Iterable[RpcMethodSpec]:  # type: ignore[empty-body]  # pluggy specs have no body
    """Gateway methods; a method without a scope is refused."""


@hookspec
def openclaw_commands() -> Iterable[CommandSpec]:  # type: ignore[empty-body]  # pluggy specs have no body
    """CLI commands; asked when the CLI meets a word it does not know, and for ``--help``."""


@hookspec
def openclaw_chat_commands() -> Iterable[ChatCommandSpec]:  # type: ignore[empty-body]  # pluggy specs have no body
    """Slash commands in chats."""


@hookspec
def openclaw_doctor_checks() -> Iterable[DoctorCheck]:  # type: ignore[empty-body]  # pluggy specs have no body
    """Checks of `openclaw doctor`; each has a time-out and gives a hint."""


# ---- each run --------------------------------------------------------------------------------


@hookspec
def openclaw_prompt_sections(turn: TurnView) -> Iterable[PromptSection]:  # type: ignore[empty-body]  # pluggy specs have no body
    """Pieces of the system prompt for one turn. Pure; a section that raises is left out and reported."""


@hookspec
def openclaw_tool_policy(request: ToolPolicyRequest) -> Verdict | None:
    """Allow or deny a tool. Any deny wins; raising counts as deny; None has no opinion."""


@hookspec
def openclaw_listeners() -> Iterable[Listener]:  # type: ignore[empty-body]  # pluggy specs have no body
    """Listeners to the events in `EVENTS`; asked once."""


# ---- life cycle ------------------------------------------------------------------------------


@hookspec
def openclaw_config_migrations() -> Iterable[Migration]:  # type: ignore[empty-body]  # pluggy specs have no body
    """Changes of old configuration data, ordered by `order`; applied in memory on load."""


@hookspec(historic=True)
def openclaw_gateway_ready(gateway: GatewayView) -> None:
    """The gateway answers. Historic: a plugin that is loaded later hears it too."""

"""The typed way to call hooks: one plugin at a time, so that a failing one takes nobody along."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, cast

from openclaw_core.errors import OpenClawError

if TYPE_CHECKING:
    import pluggy

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

T = TypeVar("T")
Found = list[tuple[str, T]]
"""(name of the registered plugin, what it returned), in order of registration."""
OnFailure = Callable[[str, str, BaseException], None]
"""Called with plugin name, hook name and exception."""
OnCall = Callable[[str, str, float], None]
"""Called after each call with plugin name, hook name and seconds."""

MAX_SPECS = 1000
"""Specs of one plugin from one hook; a generator without end must not hold up a start."""


class HookRelay:
    """All hooks of one plugin manager with their types.

    A plugin that raises half way loses everything it returned from that call; `on_failure` hears of it and
    the others are called all the same. Only KeyboardInterrupt passes.
    """

    def __init__(self, manager: pluggy.PluginManager, on_failure: OnFailure, on_call: OnCall | None = None) -> None:
        self._manager = manager
        self._on_failure = on_failure
        self._on_call = on_call

    def channels(self) -> Found[ChannelSpec]:
        """See `openclaw_channels`."""
        return cast("Found[ChannelSpec]", self._specs("openclaw_channels"))

    def providers(self) -> Found[ProviderSpec]:
        """See `openclaw_providers`."""
        return cast("Found[ProviderSpec]", self._specs("openclaw_providers"))

    def tools(self, env: ToolEnv) -> Found[ToolSpec]:
        """See `openclaw_tools`."""
        return cast("Found[ToolSpec]", self._specs("openclaw_tools", env=env))

    def skill_sources(self) -> Found[SkillSource]:
        """See `openclaw_skill_sources`."""
        return cast("Found[SkillSource]", self._specs("openclaw_skill_sources"))

    def runtimes(self) -> Found[RuntimeSpec]:
        """See `openclaw_runtimes`."""
        return cast("Found[RuntimeSpec]", self._specs("openclaw_runtimes"))

    def audit_sinks(self) -> Found[AuditSinkSpec]:
        """See `openclaw_audit_sinks`."""
        return cast("Found[AuditSinkSpec]", self._specs("openclaw_audit_sinks"))

    def stores(self) -> Found[StoreSpec]:
        """See `openclaw_stores`."""
        return cast("Found[StoreSpec]", self._specs("openclaw_stores"))

    def http_routes(self) -> Found[RouteSpec]:
        """See `openclaw_http_routes`."""
        return cast("Found[RouteSpec]", self._specs("openclaw_http_routes"))

    def rpc_methods(self) -> Found[RpcMethodSpec]:
        """See `openclaw_rpc_methods`."""
        return cast("Found[RpcMethodSpec]", self._specs("openclaw_rpc_methods"))

    def commands(self) -> Found[CommandSpec]:
        """See `openclaw_commands`."""
        return cast("Found[CommandSpec]", self._specs("openclaw_commands"))

    def chat_commands(self) -> Found[ChatCommandSpec]:
        """See `openclaw_chat_commands`."""
        return cast("Found[ChatCommandSpec]", self._specs("openclaw_chat_commands"))

    def doctor_checks(self) -> Found[DoctorCheck]:
        """See `openclaw_doctor_checks`."""
        return cast("Found[DoctorCheck]", self._specs("openclaw_doctor_checks"))

    def prompt_sections(self, turn: TurnView) -> Found[PromptSection]:
        """See `openclaw_prompt_sections`."""
        return cast("Found[PromptSection]", self._specs("openclaw_prompt_sections", turn=turn))

    def listeners(self) -> Found[Listener]:
        """See `openclaw_listeners`."""
        return cast("Found[Listener]", self._specs("openclaw_listeners"))

    def config_migrations(self) -> Found[Migration]:
        """See `openclaw_config_migrations`."""
        return cast("Found[Migration]", self._specs("openclaw_config_migrations"))

    def tool_policy(self, request: ToolPolicyRequest) -> Found[Verdict]:
        """See `openclaw_tool_policy`. A plugin that raises, or returns anything but a verdict or None,
        denies: the exception becomes a verdict, so that a broken gate stays shut."""
        from openclaw_core.plugin import Verdict

        found: Found[Verdict] = []
        for name, result, error in self._calls("openclaw_tool_policy", {"request": request}):
            if error is None and not isinstance(result, Verdict | None):
                error = TypeError(f"openclaw_tool_policy returned {type(result).__name__}")
            if error is not None:
                self._on_failure(name, "openclaw_tool_policy", error)
                found.append((name, Verdict(allow=False, reason=f"the tool policy of plugin {name} failed")))
            elif result is not None:
                found.append((name, result))
        return found

    def gateway_ready(self, gateway: GatewayView, *, only: str = "") -> None:
        """See `openclaw_gateway_ready`. `only` names one plugin, for one that was loaded later."""
        for name, _, error in self._calls("openclaw_gateway_ready", {"gateway": gateway}, only=only):
            if error is not None:
                self._on_failure(name, "openclaw_gateway_ready", error)

    def _specs(self, hook: str, **arguments: Any) -> Found[Any]:
        found: Found[Any] = []
        for name, result, error in self._calls(hook, arguments):
            if error is not None:
                self._on_failure(name, hook, error)
            else:
                found.extend((name, spec) for spec in result)
        return found

    def _calls(
        self, hook: str, arguments: Mapping[str, Any], *, only: str = ""
    ) -> list[tuple[str, Any, BaseException | None]]:
        """Call every implementation by itself; specs are drawn from the iterable inside the guard."""
        out: list[tuple[str, Any, BaseException | None]] = []
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            name = str(implementation.plugin_name)
            if only not in ("", name):
                continue
            started = time.perf_counter()
            try:
                result = implementation.function(*[arguments[argument] for argument in implementation.argnames])
                if hook not in ("openclaw_tool_policy", "openclaw_gateway_ready"):
                    result = _drain(result, hook)
                out.append((name, result, None))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001  # foreign code may raise anything; it costs only its plugin
                out.append((name, None, error))
            if self._on_call is not None:
                self._on_call(name, hook, time.perf_counter() - started)
        return out


def _drain(result: object, hook: str) -> list[Any]:
    if result is None:
        return []
    if not isinstance(result, Iterable) or isinstance(result, str | bytes | Mapping):
        raise OpenClawError(f"{hook} returned {type(result).__name__} where a list of specs is needed")
    specs = list(islice(result, MAX_SPECS + 1))
    if len(specs) > MAX_SPECS:
        raise OpenClawError(f"{hook} returned more than {MAX_SPECS} specs")
    return specs

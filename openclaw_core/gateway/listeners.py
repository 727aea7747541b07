"""Plugin listeners: told beside the work, or asked before it, each with a deadline (DESIGN section 6)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from openclaw_core.contracts.listener import Listener
from openclaw_core.observe.logging import get_logger
from openclaw_core.plugin import ToolPolicyRequest, Verdict

_log = get_logger("listeners")

_QUEUE = 256


class Listeners:
    """Dispatches process events to the listeners of plugins."""

    def __init__(self, listeners: Sequence[tuple[str, Listener]]) -> None:
        self._observers = [(p, item) for p, item in listeners if item.mode == "observe"]
        self._interceptors = [(p, item) for p, item in listeners if item.mode == "intercept"]
        self._queue: asyncio.Queue[tuple[str, Mapping[str, Any]]] = asyncio.Queue(_QUEUE)
        self.dropped = 0
        self.failures: Counter[str] = Counter()

    async def emit(self, event: str, data: Mapping[str, Any]) -> None:
        """Queue an event for observers; never waits, drops the event when they are too slow."""
        if not any(item.event == event for _, item in self._observers):
            return
        try:
            self._queue.put_nowait((event, data))
        except asyncio.QueueFull:
            self.dropped += 1

    async def run(self) -> None:
        """Serve observers until cancelled."""
        while True:
            event, data = await self._queue.get()
            for plugin_id, listener in self._observers:
                if listener.event == event:
                    await self._call(plugin_id, listener, event, data)

    async def refuse(self, event: str, data: Mapping[str, Any]) -> str | None:
        """Ask the intercepting listeners of a gate; the first refusal wins, failing or late ones refuse."""
        for plugin_id, listener in self._interceptors:
            if listener.event != event:
                continue
            ok, answer = await self._call(plugin_id, listener, event, data)
            if not ok:
                return f"the plugin {plugin_id} did not answer"
            if answer and answer.get("block"):
                return str(answer.get("reason") or f"blocked by {plugin_id}")
        return None

    async def _call(
        self, plugin_id: str, listener: Listener, event: str, data: Mapping[str, Any]
    ) -> tuple[bool, Mapping[str, Any] | None]:
        try:
            async with asyncio.timeout(listener.timeout_s):
                return True, await listener.handler(event, data)
        except Exception as error:  # noqa: BLE001  # a listener is foreign code; its failure is counted and reported
            self.failures[plugin_id] += 1
            _log.warning("listener failed", plugin=plugin_id, event=event, error=repr(error))
            return False, None


class ToolGate:
    """Implements `tools.invoke.Gate`: policies of plugins first, then listeners of ``before_tool_call``."""

    def __init__(self, policy: Callable[[ToolPolicyRequest], Verdict], listeners: Listeners) -> None:
        self._policy = policy
        self._listeners = listeners

    async def __call__(self, request: ToolPolicyRequest) -> str | None:
        """The text of a refusal, or None."""
        verdict = self._policy(request)
        if not verdict.allow:
            return verdict.reason or "a policy denies it"
        data = {
            "tool": request.tool,
            "toolCallId": request.call_id,
            "runId": request.run_id,
            "sessionKey": request.session_key,
            "agentId": request.agent_id,
            "arguments": request.arguments,
        }
        return await self._listeners.refuse("before_tool_call", data)

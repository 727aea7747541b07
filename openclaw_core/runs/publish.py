"""Run events in the words of the gateway's event streams (behaviour.md 1.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openclaw_core.domain.events import (
    Notice,
    RunEvent,
    TextDelta,
    TextReset,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
)
from openclaw_core.domain.ids import RunId, SessionKey
from openclaw_core.domain.turns import Turn
from openclaw_core.runs.hub import RunHub


class Publisher:
    """Publishes one run's events; builds nothing while nobody listens."""

    def __init__(self, hub: RunHub, turn: Turn) -> None:
        self._hub = hub
        self._turn = turn
        self._text: list[str] = []

    def start(self, at: int) -> None:
        """The run begins."""
        self._send("lifecycle", {"phase": "start", "startedAt": at})

    def event(self, event: RunEvent) -> None:
        """Pass one event on."""
        if not self._hub.listened:
            return
        match event:
            case TextDelta():
                self._text.append(event.text)
                self._send("assistant", {"text": "".join(self._text), "delta": event.text})
            case TextReset():
                self._text.clear()
                self._send("assistant", {"text": "", "delta": "", "reset": True, "reason": event.reason})
            case ThinkingDelta():
                self._send("thinking", {"delta": event.text})
            case ToolStarted():
                self._text.clear()
                data = {"phase": "start", "name": event.name, "toolCallId": event.call_id, "args": event.arguments}
                self._send("tool", data)
            case ToolFinished():
                self._send(
                    "tool",
                    {
                        "phase": "result",
                        "name": event.name,
                        "toolCallId": event.call_id,
                        "isError": event.is_error,
                        "durationMs": event.duration_ms,
                    },
                )
            case Notice():
                self._send("lifecycle", {"phase": "notice", "code": event.code, "text": event.text})
            case _:
                pass

    def _send(self, stream: str, data: Mapping[str, Any]) -> None:
        self._hub.publish(self._turn.run_id, self._turn.session_key, stream, data)

    @staticmethod
    def end(hub: RunHub, ended: Mapping[str, Any]) -> None:
        """The run has ended; its outcome is durable."""
        data: dict[str, Any] = {"phase": "end", "endedAt": ended["endedAt"], "aborted": ended["status"] == "aborted"}
        if ended["status"] in ("error", "timeout"):
            data = {"phase": "error", "endedAt": ended["endedAt"], "error": ended["error"]}
        hub.publish(RunId(ended["runId"]), SessionKey(ended["sessionKey"]), "lifecycle", data)

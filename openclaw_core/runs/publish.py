"""Run events in the words of the gateway's event streams (behaviour.md 1.2)."""

from __future__ import annotations

import asyncio
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

_GAP_S = 0.025
"""The first piece of text goes out at once; more that comes within this time is sent together."""


class Publisher:
    """Publishes one run's events; builds nothing while nobody listens."""

    def __init__(self, hub: RunHub, turn: Turn) -> None:
        self._hub = hub
        self._turn = turn
        self._text: list[str] = []
        self._held: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._sent_at = 0.0

    def start(self, at: int) -> None:
        """The run begins."""
        self._send("lifecycle", {"phase": "start", "startedAt": at})

    def event(self, event: RunEvent) -> None:
        """Pass one event on."""
        if not self._hub.listened:
            return
        if isinstance(event, TextDelta):
            self._delta(event.text)
            return
        self.flush()
        match event:
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

    def _delta(self, text: str) -> None:
        self._held.append(text)
        wait = self._sent_at + _GAP_S - self._loop.time()
        if wait <= 0:
            self.flush()
        elif self._timer is None:
            self._timer = self._loop.call_later(wait, self.flush)

    def flush(self) -> None:
        """Send the text that is held back; call it when the run ends, however it ends."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._held:
            delta = "".join(self._held)
            self._held.clear()
            self._text.append(delta)
            self._sent_at = self._loop.time()
            self._send("assistant", {"text": "".join(self._text), "delta": delta})

    def _send(self, stream: str, data: Mapping[str, Any]) -> None:
        self._hub.publish(self._turn.run_id, self._turn.session_key, stream, data)

    @staticmethod
    def end(hub: RunHub, ended: Mapping[str, Any]) -> None:
        """The run has ended; its outcome is durable. `text` of a success is the whole reply as a person sees it:
        who joined late, or whose model does not stream, has heard no piece of it."""
        data: dict[str, Any] = {"phase": "end", "endedAt": ended["endedAt"], "aborted": ended["status"] == "aborted"}
        if ended["status"] == "ok":
            data["text"] = "\n\n".join(str(p["text"]) for p in ended["result"]["payloads"] if p.get("text"))
        if ended["status"] in ("error", "timeout"):
            data = {"phase": "error", "endedAt": ended["endedAt"], "error": ended["error"]}
        hub.publish(RunId(ended["runId"]), SessionKey(ended["sessionKey"]), "lifecycle", data)

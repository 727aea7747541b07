"""Events for clients: `agent` as it is, `chat` derived from it (behaviour.md 1.2)."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any

from openclaw_core.runs.hub import StreamEvent

EVENTS = ("connect.challenge", "agent", "chat", "sessions.changed", "tick", "shutdown", "health")
_CHAT_THROTTLE_MS = 150


class EventEncoder:
    """Encodes each run event once, whoever hears it."""

    def __init__(self) -> None:
        self._last: tuple[StreamEvent, list[tuple[str, str]]] | None = None
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._shown: dict[str, int] = {}

    def encoded(self, event: StreamEvent) -> list[tuple[str, str]]:
        """(event name, payload JSON) of everything that follows from one run event."""
        if self._last is not None and self._last[0] is event:
            return self._last[1]
        out = [("agent", json.dumps(event.as_dict(), separators=(",", ":"), default=str))]
        chat = self._chat(event)
        if chat is not None:
            out.append(("chat", json.dumps(chat, separators=(",", ":"))))
        self._last = (event, out)
        return out

    def _chat(self, event: StreamEvent) -> dict[str, Any] | None:
        base: dict[str, Any] = {"runId": event.run_id, "sessionKey": event.session_key, "seq": event.seq}
        data = event.data
        if event.stream == "assistant":
            text = str(data.get("text", ""))
            self._texts[event.run_id] = text
            while len(self._texts) > 1000:
                self._shown.pop(self._texts.popitem(last=False)[0], None)
            if event.ts - self._shown.get(event.run_id, 0) < _CHAT_THROTTLE_MS:
                return None
            self._shown[event.run_id] = event.ts
            return {**base, "state": "delta", "message": _message(text)}
        if event.stream != "lifecycle" or data.get("phase") not in ("end", "error"):
            return None
        text = self._texts.pop(event.run_id, "")
        self._shown.pop(event.run_id, None)
        if data["phase"] == "error":
            error = data.get("error") or {}
            return {**base, "state": "error", "errorMessage": error.get("message", "")}
        if data.get("aborted"):
            return {**base, "state": "aborted", "message": _message(text)}
        return {**base, "state": "final", "message": _message(str(data.get("text", text)))}


def _message(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}

"""A conversation with a gateway whose model is scripted: say something, look at the requests and the transcript."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from client import Client, Refused
from home import Home, message_lines
from request_rules import check
from scripted import ScriptedModel


class Table:
    """A gateway, a client of it and the model behind it, for one conversation."""

    def __init__(self, home: Home, client: Client, model: ScriptedModel, key: str) -> None:
        self.home = home
        self.client = client
        self.model = model
        self.key = key
        self.url = client.url

    def say(self, message: str = "go", **params: Any) -> dict[str, Any]:
        """One turn; every request is checked against the vendor's rules."""
        try:
            return dict(self.client.run(message, key=self.key, **params)["result"])
        finally:
            self.checked()

    def fails(self, message: str = "go", **params: Any) -> dict[str, Any]:
        with pytest.raises(Refused) as caught:
            self.say(message, **params)
        return caught.value.error

    def checked(self) -> list[Any]:
        return [check(request.path, request.body) for request in self.model.requests]

    def transcript(self) -> list[dict[str, Any]]:
        """The messages on disk: every call has exactly one result directly after it."""
        messages = [line["message"] for line in message_lines(self._file())]
        waiting: list[str] = []
        for message in messages:
            if message["role"] == "toolResult":
                waiting.remove(message["toolCallId"])
                continue
            assert not waiting
            content = message["content"] if isinstance(message["content"], list) else []
            waiting += [b["id"] for b in content if b["type"] == "toolCall"]
        assert not waiting
        return messages

    def foreign(self, *messages: dict[str, Any], raw: bytes = b"") -> None:
        """Append lines as another program would, while nobody holds the lock; `raw` bytes come last."""
        file = self._file()
        lines = [{"type": "message", "id": f"foreign{i}", "message": m} for i, m in enumerate(messages)]
        with file.open("ab") as out:
            out.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines) + raw)

    def _file(self) -> Path:
        session = next(s for s in self.client.call("sessions.list")["sessions"] if s["key"] == self.key)
        return self.home.transcript(session["sessionId"], session["agentId"])

    def results(self) -> list[str]:
        return [text_of(m) for m in self.transcript() if m["role"] == "toolResult"]


def text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(b.get("text", "") for b in content)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text, "timestamp": 1}


def assistant(*blocks: dict[str, Any], stop: str = "stop", **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), "stopReason": stop, "timestamp": 1, **more}


def spoken(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def call(ident: str, name: str = "ls", **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": ident, "name": name, "arguments": arguments}


def result(ident: str, text: str, name: str = "ls") -> dict[str, Any]:
    return {"role": "toolResult", "toolCallId": ident, "toolName": name, "content": [spoken(text)], "timestamp": 1}

"""A bare client of the gateway's WebSocket protocol, written from its description."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Self

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect


class Refused(Exception):
    """A ``res`` with ok = false; `error` is its object."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(json.dumps(error))
        self.error = error
        self.code = error["details"]["code"]


class Client:
    """One connection. Frames that nobody asked for gather in `events`."""

    def __init__(self, url: str, **options: Any) -> None:
        self.url = url
        self._open = ExitStack()
        wanted = {"open_timeout": 10, "close_timeout": 1, "max_size": 64 * 2**20, "proxy": None, **options}
        self.socket = self._open.enter_context(connect(url, **wanted))
        self.events: list[dict[str, Any]] = []
        self.hello: dict[str, Any] = {}
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._open.close()

    def send(self, method: str, ident: str = "", **params: Any) -> str:
        self._number += 1
        ident = ident or f"r{self._number}"
        self.raw(json.dumps({"type": "req", "id": ident, "method": method, "params": params}))
        return ident

    def raw(self, text: str | bytes) -> None:
        self.socket.send(text)

    def frame(self, timeout: float = 20.0) -> dict[str, Any]:
        """The next frame, of whatever kind."""
        data = json.loads(self.socket.recv(timeout=timeout))
        assert isinstance(data, dict)
        return data

    def until(self, wanted: Callable[[dict[str, Any]], bool], timeout: float = 20.0) -> dict[str, Any]:
        """The next frame that is wanted; the others are kept."""
        deadline = time.monotonic() + timeout
        while True:
            frame = self.frame(deadline - time.monotonic())
            if frame["type"] == "event":
                self.events.append(frame)
            if wanted(frame):
                return frame

    def answer(self, ident: str, timeout: float = 20.0) -> Any:
        """The payload of the next answer under this id; raises Refused."""
        frame = self.until(lambda f: f["type"] == "res" and f["id"] == ident, timeout)
        if not frame["ok"]:
            raise Refused(frame["error"])
        return frame["payload"]

    def call(self, method: str, **params: Any) -> Any:
        return self.answer(self.send(method, **params))

    def connect(self, token: str | None = None, *, low: int = 3, high: int = 4, **params: Any) -> dict[str, Any]:
        """Read the challenge, say who we are."""
        challenge = self.frame()
        assert (challenge["type"], challenge["event"]) == ("event", "connect.challenge")
        assert challenge["payload"]["nonce"]
        auth = {"auth": {"token": token}} if token is not None else {}
        self.hello = self.call("connect", minProtocol=low, maxProtocol=high, client={"id": "test"}, **auth, **params)
        return self.hello

    def closed(self, timeout: float = 10.0) -> tuple[int, str]:
        """Wait for the end of the connection: code and reason."""
        deadline = time.monotonic() + timeout
        try:
            while True:
                self.socket.recv(timeout=max(0.1, deadline - time.monotonic()))
        except ConnectionClosed as end:
            assert end.rcvd is not None, end
            return end.rcvd.code, end.rcvd.reason

    def event(self, name: str, wanted: Callable[[dict[str, Any]], bool], timeout: float = 20.0) -> dict[str, Any]:
        """The payload of the first event that is wanted, heard already or yet to come."""
        for frame in self.events:
            if frame["event"] == name and wanted(frame["payload"]):
                return dict(frame["payload"])
        return dict(self.until(lambda f: f.get("event") == name and wanted(f["payload"]), timeout)["payload"])

    def run(self, message: str, *, key: str, run_id: str = "", timeout: float = 60.0, **params: Any) -> dict[str, Any]:
        """One turn: the final payload; raises Refused for a failed run."""
        self._number += 1
        ident = self.send(
            "agent", message=message, sessionKey=key, idempotencyKey=run_id or f"{key}-{self._number}", **params
        )
        first = self.answer(ident)
        if "result" in first:
            return dict(first)
        assert first["status"] in ("accepted", "in_flight")
        return dict(self.answer(ident, timeout))

"""A client of the gateway's WebSocket that asks for a run and waits for its result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect


def ask(url: str, state: Path, params: dict[str, Any], *, seconds: float = 30.0) -> dict[str, Any] | None:
    """Both answers of ``agent`` as ``{first, final}``; None when the gateway died before it gave them."""
    token = (state / "gateway.token").read_text().strip()
    client = {"id": "cli", "version": "1", "platform": "test", "mode": "cli"}
    hello = {"minProtocol": 3, "maxProtocol": 4, "client": client, "role": "operator", "auth": {"token": token}}
    try:
        with connect(url, open_timeout=seconds, close_timeout=1, proxy=None) as socket:

            def answer(ident: str) -> dict[str, Any]:
                while True:
                    frame: dict[str, Any] = json.loads(socket.recv(timeout=seconds))
                    if frame.get("type") == "res" and frame.get("id") == ident:
                        return frame

            socket.send(json.dumps({"type": "req", "id": "0", "method": "connect", "params": hello}))
            assert answer("0")["ok"]
            socket.send(json.dumps({"type": "req", "id": "1", "method": "agent", "params": params}))
            return {"first": answer("1"), "final": answer("1")}
    except (WebSocketException, ConnectionError):
        return None

"""Frames of the WebSocket protocol, versions 3 and 4 (behaviour.md 10.2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openclaw_core.errors import InvalidRequest, OpenClawError

PROTOCOLS = (3, 4)
MAX_PAYLOAD = 26_214_400
MAX_BUFFERED = 8 * 1024 * 1024
"""Bytes queued for a client that does not read; then it is cut (reliability.md R18)."""
MAX_PRE_CONNECT = 65_536
TICK_MS = 15_000
_MAX_DEPTH = 64
_MAX_METHOD = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A ``req`` frame."""

    id: str
    method: str
    params: Mapping[str, Any]


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key stands twice")
    return out


def _no_constants(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def parse(text: str) -> Request:
    """Read a client frame strictly: no double keys, no NaN, bounded depth.

    Raises InvalidRequest.
    """
    try:
        data = json.loads(text, object_pairs_hook=_no_doubles, parse_constant=_no_constants)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"The frame is not valid JSON ({error}).") from None
    if not isinstance(data, dict) or data.get("type") != "req":
        raise InvalidRequest("The frame is not a request.")
    ident, method, params = data.get("id"), data.get("method"), data.get("params", {})
    if not isinstance(ident, str) or not ident or len(ident) > 256:
        raise InvalidRequest("The request lacks an id.")
    if not isinstance(method, str) or not method or len(method) > _MAX_METHOD:
        raise InvalidRequest("The request lacks a method.")
    if params is None:
        params = {}
    if not isinstance(params, dict) or not _shallow(params):
        raise InvalidRequest("The parameters are not an object of sensible depth.")
    return Request(id=ident, method=method, params=params)


def _shallow(value: Any) -> bool:
    """Depth below the bound, without recursion."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return True
    return False


def response(ident: str, payload: Any) -> str:
    """A successful ``res`` frame."""
    return json.dumps({"type": "res", "id": ident, "ok": True, "payload": payload}, separators=(",", ":"))


def failure(ident: str, error: OpenClawError) -> str:
    """A failed ``res`` frame; `code` in the original's words, ours in `details`."""
    body: dict[str, Any] = {
        "code": _CODES.get(error.code, "UNAVAILABLE"),
        "message": error.message,
        "details": {**error.details, "code": error.code, "hint": error.hint},
    }
    if error.code in ("gateway_unavailable", "disk_full"):
        body["retryable"] = True
    return json.dumps({"type": "res", "id": ident, "ok": False, "error": body}, separators=(",", ":"))


def event(name: str, payload_json: str, seq: int | None = None) -> str:
    """An ``event`` frame around a payload that is encoded already, so that it is encoded once for all."""
    place = f',"seq":{seq}' if seq is not None else ""
    return f'{{"type":"event","event":"{name}"{place},"payload":{payload_json}}}'


_CODES = {
    "invalid_request": "INVALID_REQUEST",
    "not_found": "INVALID_REQUEST",
    "no_agent": "INVALID_REQUEST",
    "unknown_method": "INVALID_REQUEST",
    "missing_scope": "INVALID_REQUEST",
    "unauthorized": "INVALID_REQUEST",
    "config_value": "INVALID_REQUEST",
    "timeout": "AGENT_TIMEOUT",
}

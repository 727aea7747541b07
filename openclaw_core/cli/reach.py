"""Finding the gateway of this state directory, and talking to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from openclaw_core import __version__
from openclaw_core.cli.state import CliState
from openclaw_core.errors import GatewayUnavailable, OpenClawError, Unauthorized
from openclaw_core.gateway.auth import load_token
from openclaw_core.gateway.instance import running

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

MAX_FRAME = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """Where a gateway is, and the token for it."""

    url: str
    token: str


def find_gateway(state: CliState, *, url: str = "", token: str = "") -> Reach | None:
    """Flags, else the gateway that holds this state directory's lock; None when none runs."""
    loaded = state.load()
    if not url:
        holder = running(state.paths.state_dir)
        if holder is None:
            return None
        url = str(holder.get("url") or "") or f"ws://127.0.0.1:{loaded.config.gateway.port}"
    return Reach(url=url, token=token or load_token(loaded.config, state.paths.state_dir, create=False))


def need_gateway(state: CliState, *, url: str = "", token: str = "") -> Reach:
    """Like `find_gateway`; raises GatewayUnavailable when none runs."""
    found = find_gateway(state, url=url, token=token)
    if found is None:
        raise GatewayUnavailable("No gateway is running on this state directory.")
    return found


def connect_frame(ident: str, token: str) -> str:
    """The first frame of a client."""
    params: dict[str, Any] = {
        "minProtocol": 3,
        "maxProtocol": 4,
        "client": {"id": "cli", "version": __version__, "platform": "python", "mode": "cli"},
        "role": "operator",
    }
    if token:
        params["auth"] = {"token": token}
    return json.dumps({"type": "req", "id": ident, "method": "connect", "params": params})


def failure_of(frame: Mapping[str, Any]) -> OpenClawError:
    """The error of a failed ``res`` frame."""
    error = frame.get("error") or {}
    details = dict(error.get("details") or {})
    code, hint = str(details.pop("code", "") or "gateway_error"), str(details.pop("hint", "") or "")
    kind = Unauthorized if code in ("unauthorized", "missing_scope") else OpenClawError
    return kind(str(error.get("message") or "The gateway refused."), code=code, hint=hint, details=details)


class GatewayClient(AbstractContextManager["GatewayClient"]):
    """A blocking client for one command."""

    def __init__(self, reach: Reach, *, timeout_s: float = 10.0) -> None:
        self._reach = reach
        self._timeout = timeout_s
        self._socket: ClientConnection | None = None
        self._open = ExitStack()
        self._next = 0
        self.hello: dict[str, Any] = {}

    def __enter__(self) -> GatewayClient:
        from websockets.exceptions import WebSocketException
        from websockets.sync.client import connect

        try:
            with ExitStack() as opening:
                self._socket = opening.enter_context(
                    connect(
                        self._reach.url, open_timeout=self._timeout, close_timeout=1, max_size=MAX_FRAME, proxy=None
                    )
                )
                self.hello = self._exchange("connect", connect_frame("0", self._reach.token), "0", self._timeout)
                self._open = opening.pop_all()
        except (OSError, TimeoutError, WebSocketException) as error:
            raise GatewayUnavailable(f"The gateway at {self._reach.url} does not answer ({error}).") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def call(
        self, method: str, params: Mapping[str, Any], *, timeout_s: float | None = 30.0, final: bool = False
    ) -> dict[str, Any]:
        """Call a method and return its payload; with `final`, the second answer of a method that gives two.

        Raises the method's error, or GatewayUnavailable when the connection is lost.
        """
        from websockets.exceptions import WebSocketException

        self._next += 1
        ident = str(self._next)
        frame = json.dumps({"type": "req", "id": ident, "method": method, "params": dict(params)})
        try:
            return self._exchange(method, frame, ident, timeout_s, final=final)
        except TimeoutError as error:
            raise GatewayUnavailable(
                f"The gateway did not answer {method} in time.",
                code="timeout",
                hint="Try again with a longer --timeout.",
            ) from error
        except (OSError, WebSocketException) as error:
            raise GatewayUnavailable(f"The connection to the gateway was lost ({error}).") from error

    def _exchange(
        self, method: str, frame: str, ident: str, timeout_s: float | None, *, final: bool = False
    ) -> dict[str, Any]:
        assert self._socket is not None
        self._socket.send(frame)
        while True:
            data = json.loads(self._socket.recv(timeout=timeout_s))
            if data.get("type") != "res" or data.get("id") != ident:
                continue
            if not data.get("ok"):
                raise failure_of(data)
            payload: dict[str, Any] = data.get("payload") or {}
            if final and payload.get("status") in ("accepted", "in_flight") and "result" not in payload:
                continue
            return payload

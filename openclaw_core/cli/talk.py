"""The two ways a terminal conversation reaches an agent: through the gateway, or in this process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from openclaw_core.aio.tasks import TaskOwner
from openclaw_core.cli.local import TurnRequest, local_turn, open_engine
from openclaw_core.cli.reach import MAX_FRAME, Reach, connect_frame, failure_of
from openclaw_core.cli.state import CliState
from openclaw_core.domain.ids import RunId, SessionId, new_uuid
from openclaw_core.errors import GatewayUnavailable, OpenClawError, RunAborted
from openclaw_core.gateway.engine import Engine
from openclaw_core.runs.hub import StreamEvent
from openclaw_core.sessions.keys import main_key, normalise

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

_QUEUE = 10_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer: ``delta`` text, a ``tool`` line, ``reset``, or the ``final`` text."""

    kind: str
    text: str


def _piece(stream: str, data: Mapping[str, Any]) -> Piece | None:
    if stream == "assistant":
        return Piece("reset", "") if data.get("reset") else Piece("delta", str(data.get("delta", "")))
    if stream == "tool" and data.get("phase") == "start":
        return Piece("tool", f"{data.get('name')} ...")
    return None


def _final(result: Mapping[str, Any]) -> Piece:
    texts = [str(p.get("text") or "") for p in result.get("payloads") or ()]
    return Piece("final", "\n\n".join(t for t in texts if t))


def _raise(error: Mapping[str, Any]) -> None:
    kind = RunAborted if error.get("code") == "aborted" else OpenClawError
    raise kind(str(error.get("message")), code=str(error.get("code")), hint=str(error.get("hint") or ""))


class LocalTalk:
    """A conversation with an engine in this process."""

    def __init__(self, engine: Engine, agent: str, key: str) -> None:
        self._engine = engine
        self._agent = agent
        chosen = agent or engine.agents.default_id
        self._key = normalise(key, chosen) if key else main_key(chosen, engine.loaded.config.session.main_key)  # type: ignore[arg-type]  # checked in local_turn
        self._tasks = TaskOwner("talk")
        self.title = f"{chosen} ({engine.models.default_ref() or 'no model'}) in this process"

    @classmethod
    async def open(cls, state: CliState, agent: str, key: str) -> LocalTalk:
        """Open the engine."""
        return cls(await open_engine(state), agent, key)

    async def say(self, text: str) -> AsyncGenerator[Piece, None]:
        """Send one message; yields the answer as it comes. Raises the run's error."""
        queue: asyncio.Queue[Piece | None] = asyncio.Queue(_QUEUE)
        run_id = RunId(new_uuid())

        def heard(event: StreamEvent) -> None:
            piece = _piece(event.stream, event.data)
            if event.run_id == run_id and piece is not None and not queue.full():
                queue.put_nowait(piece)

        request = TurnRequest(message=text, run_id=run_id, agent=self._agent, session_key=self._key)
        turn = self._tasks.start(local_turn(self._engine, request, heard=heard), name=run_id)
        turn.add_done_callback(lambda _t: queue.put_nowait(None) if not queue.full() else None)
        while (piece := await queue.get()) is not None:
            yield piece
        outcome = await turn
        if outcome["status"] != "ok":
            _raise(outcome.get("error") or {})
        yield _final(outcome["result"])

    async def reset(self) -> None:
        """Begin a new conversation."""
        store = self._engine.store
        await store.sessions.reset(self._key, new_session_id=SessionId(new_uuid()), now=self._engine.clock.now_ms())

    async def aclose(self) -> None:
        """Close the engine."""
        await self._tasks.aclose()
        await self._engine.aclose()


class GatewayTalk:
    """A conversation through a running gateway."""

    def __init__(self, socket: ClientConnection, hello: Mapping[str, Any], agent: str, key: str) -> None:
        self._socket = socket
        self._agent = agent
        self._key = key
        defaults = hello["snapshot"]["sessionDefaults"]
        self.title = f"{agent or defaults['defaultAgentId']} through the gateway"

    @classmethod
    async def open(cls, reach: Reach, agent: str, key: str) -> GatewayTalk:
        """Connect; raises GatewayUnavailable or Unauthorized."""
        from websockets.asyncio.client import connect
        from websockets.exceptions import WebSocketException

        try:
            socket = await connect(reach.url, open_timeout=10, max_size=MAX_FRAME, proxy=None)
            await socket.send(connect_frame("0", reach.token))
            while True:
                frame = json.loads(await socket.recv())
                if frame.get("type") == "res":
                    break
        except (OSError, TimeoutError, WebSocketException) as error:
            raise GatewayUnavailable(f"The gateway at {reach.url} does not answer ({error}).") from error
        if not frame.get("ok"):
            raise failure_of(frame)
        return cls(socket, frame["payload"], agent, key)

    def _params(self, extra: Mapping[str, Any]) -> dict[str, Any]:
        named = {"agentId": self._agent, "sessionKey": self._key}
        return {**{k: v for k, v in named.items() if v}, **extra}

    async def _send(self, ident: str, method: str, params: Mapping[str, Any]) -> None:
        await self._socket.send(json.dumps({"type": "req", "id": ident, "method": method, "params": params}))

    async def say(self, text: str) -> AsyncGenerator[Piece, None]:
        """Send one message; yields the answer as it comes. Raises the run's error."""
        from websockets.exceptions import WebSocketException

        run_id = new_uuid()
        try:
            await self._send(run_id, "agent", self._params({"message": text, "idempotencyKey": run_id}))
            while True:
                frame = json.loads(await self._socket.recv())
                if frame.get("type") == "event" and frame.get("event") == "agent":
                    payload = frame["payload"]
                    piece = _piece(payload["stream"], payload["data"]) if payload["runId"] == run_id else None
                    if piece is not None:
                        yield piece
                elif frame.get("type") == "res" and frame.get("id") == run_id:
                    if not frame.get("ok"):
                        raise failure_of(frame)
                    if "result" in frame["payload"]:
                        yield _final(frame["payload"]["result"])
                        return
        except WebSocketException as error:
            raise GatewayUnavailable(f"The connection to the gateway was lost ({error}).") from error
        except asyncio.CancelledError:
            await self._send("abort", "chat.abort", {"runId": run_id})
            raise

    async def reset(self) -> None:
        """Begin a new conversation."""
        await self._send("reset", "sessions.reset", self._params({}))

    async def aclose(self) -> None:
        """Disconnect."""
        await self._socket.close()

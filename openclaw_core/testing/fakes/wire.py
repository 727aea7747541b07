"""A raw model server for faults that no well-behaved server produces: it plays bytes and logs requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class WireReply:
    """One answer. Each of `pieces` is flushed on its own.

    `end` says what follows the last piece: ``close`` ends the body cleanly, ``cut`` breaks a chunked body off,
    ``hang`` keeps the connection open and silent until the client goes away. `delay_s` seconds pass before the
    first piece.
    """

    pieces: Sequence[bytes]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    end: Literal["close", "cut", "hang"] = "close"
    delay_s: float = 0.0

    @classmethod
    def events(cls, *payloads: Any, done: bool = True) -> WireReply:
        """A stream of JSON payloads in the plain form of OpenAI (`done`: with ``[DONE]``)."""
        texts = [json.dumps(p) for p in payloads] + (["[DONE]"] if done else [])
        return cls(pieces=[f"data: {t}\n\n".encode() for t in texts])

    @classmethod
    def typed(cls, *payloads: Mapping[str, Any]) -> WireReply:
        """A stream of payloads with their ``type`` as event name, as Anthropic and Responses send them."""
        return cls(pieces=[f"event: {p['type']}\ndata: {json.dumps(p)}\n\n".encode() for p in payloads])

    @classmethod
    def refusal(cls, status: int, payload: Any, **headers: str) -> WireReply:
        """An error answer with a JSON body."""
        names = {"content-type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
        return cls(status=status, pieces=[json.dumps(payload).encode()], headers=names)


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRequest:
    """A request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, decoded strictly as UTF-8 JSON."""
        return json.loads(self.body.decode("utf-8"))


class WireServer:
    """Answers the n-th request with the n-th reply, then with the last one again. Use as async context manager.

    A reply may be a function of the request.
    """

    def __init__(self, *replies: WireReply | Callable[[WireRequest], WireReply]) -> None:
        self.replies = list(replies)
        self.requests: list[WireRequest] = []
        self.gone = asyncio.Event()
        """Set when a client has closed a connection that was kept open for it."""
        self.connections = 0
        """How many connections clients have opened."""
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_exc: object) -> None:
        assert self._server is not None
        self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        await self._idle.wait()
        await self._server.wait_closed()

    @property
    def base(self) -> str:
        """Address without a path."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        self._idle.clear()
        self.connections += 1
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone.set()
        finally:
            writer.close()
            self._writers.discard(writer)
            if not self._writers:
                self._idle.set()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        number = len(self.requests)
        self.requests.append(WireRequest(path=first.split(" ")[1], headers=headers, body=body))
        chosen = self.replies[min(number, len(self.replies) - 1)]
        reply = chosen(self.requests[number]) if callable(chosen) else chosen
        await asyncio.sleep(reply.delay_s)
        names = "".join(f"{k}: {v}\r\n" for k, v in reply.headers.items())
        writer.write(f"HTTP/1.1 {reply.status} Any\r\n{names}transfer-encoding: chunked\r\n\r\n".encode())
        for piece in reply.pieces:
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await writer.drain()
            await asyncio.sleep(0)  # lets the client read this piece alone
        if reply.end == "hang":
            await reader.read()
            self.gone.set()
            return False
        if reply.end == "cut":
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

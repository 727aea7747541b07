"""A model server of raw bytes in a thread of its own, for faults that no well-behaved server produces."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from typing import Any, Self

from openclaw_core.testing.fakes.wire import WireReply, WireRequest, WireServer

Reply = WireReply | Callable[[WireRequest], WireReply]


class ScriptedModel:
    """`script` says what the next requests get; the last reply is repeated. Use as context manager."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._server = WireServer(chat_text("nothing was scripted"))
        self._thread = threading.Thread(target=self._loop.run_forever, name="scripted-model", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._do(self._server.__aenter__())
        return self

    def __exit__(self, *_exc: object) -> None:
        self._do(self._server.__aexit__())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def _do(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    def script(self, *replies: Reply) -> None:
        """Forget earlier requests and answer the next ones with these."""

        async def change() -> None:
            self._server.replies[:] = replies
            self._server.requests.clear()

        self._do(change())

    @property
    def port(self) -> int:
        return int(self._server.base.rpartition(":")[2])

    @property
    def requests(self) -> list[WireRequest]:
        return list(self._server.requests)

    @property
    def bodies(self) -> list[Any]:
        """The bodies as strict UTF-8 JSON."""
        return [request.json for request in self.requests]


# ---- Chat Completions -------------------------------------------------------------------------------


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def chat_text(text: str, *, pieces: int = 1, delay_s: float = 0.0) -> WireReply:
    size = max(1, -(-len(text) // pieces))
    deltas = [chunk({"content": text[i : i + size]}) for i in range(0, len(text), size)]
    reply = WireReply.events(*deltas, chunk({}, "stop"))
    return WireReply(pieces=reply.pieces, delay_s=delay_s)


def chat_calls(*calls: tuple[str, str, Any], text: str = "") -> WireReply:
    """`calls` of (id, name, arguments as the text that is sent; None sends null, ... leaves it out)."""
    deltas: list[dict[str, Any]] = [chunk({"content": text})] if text else []
    for index, (ident, name, arguments) in enumerate(calls):
        function = {"name": name} if arguments is ... else {"name": name, "arguments": arguments}
        deltas.append(chunk({"tool_calls": [{"index": index, "id": ident, "type": "function", "function": function}]}))
    return WireReply.events(*deltas, chunk({}, "tool_calls"))


def cut(reply: WireReply, keep: int) -> WireReply:
    """The same reply, broken off after `keep` events."""
    return WireReply(pieces=reply.pieces[:keep], end="cut")


# ---- Anthropic Messages -----------------------------------------------------------------------------


def claude_events(blocks: Sequence[dict[str, Any]], stop: str) -> list[dict[str, Any]]:
    """`blocks`: {"start": content block, "deltas": [...]}."""
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "c", "content": [], "usage": usage}
    out: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, "stop_reason": None}}]
    for index, block in enumerate(blocks):
        out.append({"type": "content_block_start", "index": index, "content_block": block["start"]})
        out += [{"type": "content_block_delta", "index": index, "delta": d} for d in block.get("deltas", ())]
        out.append({"type": "content_block_stop", "index": index})
    out.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}})
    return [*out, {"type": "message_stop"}]


def said(text: str) -> dict[str, Any]:
    return {"start": {"type": "text", "text": ""}, "deltas": [{"type": "text_delta", "text": text}]}


def called(ident: str, name: str, arguments: str | None) -> dict[str, Any]:
    start = {"type": "tool_use", "id": ident, "name": name, "input": {}}
    return {"start": start, "deltas": [{"type": "input_json_delta", "partial_json": arguments}] if arguments else []}


def claude(*blocks: dict[str, Any], stop: str = "end_turn") -> WireReply:
    return WireReply.typed(*claude_events(blocks, stop))


def arguments(**values: Any) -> str:
    return json.dumps(values)

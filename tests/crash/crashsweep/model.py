"""A scripted model behind the OpenAI chat format, which refuses every request that breaks the format's rules."""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from crashsweep.record import Record

ORDER = re.compile(r"(do|two|say|fail|go) (\w+)\Z")
"""``do X`` calls the tool, ``two X`` calls it twice in one answer, ``say X`` only talks, ``fail X`` is refused."""
UNSURE = "interrupted"


class ModelServer:
    """Answers ``/v1/chat/completions`` as a stream. Requests and violations are recorded."""

    def __init__(self, record: Record) -> None:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.record = record
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="model", daemon=True)
        self._thread.start()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


class _Server(ThreadingHTTPServer):
    record: Record
    daemon_threads = True
    numbers = itertools.count(1)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A killed gateway closes its connections in the middle of anything."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Silence."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        wrong = violation(body)
        last = next((text_of(m) for m in reversed(body["messages"]) if m["role"] == "user"), "")
        self.server.record.note(
            "request",
            last=last,
            role=body["messages"][-1]["role"],
            users=[text_of(m) for m in body["messages"] if m["role"] == "user"],
            wrong=wrong,
        )
        found = ORDER.search(last)
        if wrong or found is None or found[1] == "fail":
            self._refuse(wrong or f"refused: {last}")
            return
        self._stream(answer(body, found[1], found[2], next(self.server.numbers)))

    def _refuse(self, why: str) -> None:
        data = json.dumps({"error": {"message": why, "type": "invalid_request_error"}}).encode()
        self.send_response(400)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, chunks: Iterator[dict[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True


def text_of(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def answer(body: dict[str, Any], verb: str, what: str, number: int) -> Iterator[dict[str, Any]]:
    """The chunks of one answer. Each request gets call ids of its own, so a repeated request shows."""
    results = list(itertools.takewhile(lambda m: m["role"] == "tool", reversed(body["messages"])))
    if results:
        unsure = any(UNSURE in text_of(m) for m in results)
        return _text(f"done {what}" + (" (uncertain)" if unsure else ""))
    if verb in ("do", "two"):
        return _calls([(f"call_{number}_{n}", what if n == 0 else f"{what}{n}") for n in range(1 + (verb == "two"))])
    return _text(f"said {what}")


def _text(text: str) -> Iterator[dict[str, Any]]:
    for piece in re.findall(r"\S+\s*", text):
        yield _chunk({"role": "assistant", "content": piece})
    yield _chunk({}, "stop")


def _calls(calls: list[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    for index, (ident, value) in enumerate(calls):
        head = {"index": index, "id": ident, "type": "function", "function": {"name": "count", "arguments": ""}}
        yield _chunk({"role": "assistant", "tool_calls": [head]})
        yield _chunk({"tool_calls": [{"index": index, "function": {"arguments": json.dumps({"value": value})}}]})
    yield _chunk({}, "tool_calls")


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "scripted", "choices": [choice]}


def violation(body: dict[str, Any]) -> str:
    """What is wrong with a request, in words; empty when nothing is."""
    messages = body.get("messages") or []
    if not body.get("stream"):
        return "not a stream"
    if [m["role"] for m in messages].count("system") != 1 or messages[0]["role"] != "system":
        return "the system message is not the one first message"
    if messages[-1]["role"] not in ("user", "tool"):
        return f"the last message is of {messages[-1]['role']}"
    open_calls: list[str] = []
    seen: set[str] = set()
    for message in messages[1:]:
        role = message["role"]
        if role == "tool":
            if not open_calls or message["tool_call_id"] != open_calls.pop(0):
                return f"result {message['tool_call_id']} is not where its call asks for it"
            continue
        if open_calls:
            return f"call {open_calls[0]} has no result before the next message"
        if role == "assistant":
            wrong = _assistant(message, seen)
            if wrong:
                return wrong
            open_calls = [call["id"] for call in message.get("tool_calls") or ()]
        elif role != "user" or not text_of(message):
            return f"an empty or unknown message of {role}"
    return f"call {open_calls[0]} has no result" if open_calls else ""


def _assistant(message: dict[str, Any], seen: set[str]) -> str:
    calls = message.get("tool_calls")
    if calls is None and not text_of(message):
        return "an assistant message without content"
    if calls == []:
        return "an empty list of calls"
    for call in calls or ():
        if call["id"] in seen:
            return f"call id {call['id']} twice"
        seen.add(call["id"])
        json.loads(call["function"]["arguments"])
    return ""

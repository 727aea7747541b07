"""A model that costs nothing: answers every Chat Completions request with a canned stream."""

from __future__ import annotations

import asyncio
import json
import sys


def _event(data: dict) -> bytes:
    return b"data: " + json.dumps(data, separators=(",", ":")).encode() + b"\n\n"


def canned(text: str = "Hello there, this is the answer.") -> bytes:
    """The whole response, head and chunked body."""
    base = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "free"}
    events = [_event({**base, "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})]
    events += [
        _event({**base, "choices": [{"index": 0, "delta": {"content": word + " "}}]}) for word in text.split(" ")
    ]
    events.append(_event({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
    usage = {"prompt_tokens": 100, "completion_tokens": 8, "total_tokens": 108}
    events.append(_event({**base, "choices": [], "usage": usage}))
    events.append(b"data: [DONE]\n\n")
    body = b"".join(b"%x\r\n%s\r\n" % (len(e), e) for e in events) + b"0\r\n\r\n"
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    return head + body


CANNED = canned()


async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = 0
            for line in head.split(b"\r\n"):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            await reader.readexactly(length)
            writer.write(CANNED)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve_one, "127.0.0.1", 0, limit=64 * 1024 * 1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    if sys.argv[1:] == ["--once"]:
        sys.stdout.buffer.write(CANNED)
    else:
        asyncio.run(main())

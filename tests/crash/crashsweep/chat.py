"""The chat platform: offers messages until they are acknowledged, shows what it is sent."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from crashsweep.record import Record


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a person; `key` never changes, `sender` is the conversation too."""

    key: str
    sender: str
    text: str


class ChatServer:
    """Lines of JSON over TCP on loopback. A new connection is offered everything unacknowledged.

    With `idempotent`, a send whose key was seen is recorded as a repeat and not shown again.
    """

    def __init__(self, record: Record, *, idempotent: bool) -> None:
        self._record = record
        self._idempotent = idempotent
        self._lock = threading.Lock()
        self._messages: list[Message] = []
        self._acked: set[str] = set()
        self._seen: set[str] = set()
        self._peer: socket.socket | None = None
        self._sock = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._sock.getsockname()[1])
        self._threads = [threading.Thread(target=self._accept, name="chat", daemon=True)]
        self._threads[0].start()

    def offer(self, *messages: Message) -> None:
        """Say something; now when connected, else at the next connection."""
        with self._lock:
            for message in messages:
                self._messages.append(message)
                self._record.note("offered", key=message.key, sender=message.sender, text=message.text)
                self._push(message)

    def all_acked(self) -> bool:
        with self._lock:
            return len(self._acked) == len(self._messages)

    def close(self) -> None:
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()
        with self._lock:
            if self._peer is not None:
                with suppress(OSError):
                    self._peer.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._sock.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(peer,), name="chat-peer", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, peer: socket.socket) -> None:
        with peer, peer.makefile("rb") as lines:
            with self._lock:
                self._peer = peer
                self._record.note("connected")
                for message in self._messages:
                    if message.key not in self._acked:
                        self._push(message)
            try:
                for line in lines:
                    if not line.endswith(b"\n"):
                        break  # the gateway was killed while it wrote: the platform never got this
                    self._handle(json.loads(line), peer)
            except OSError:
                pass
            with self._lock:
                if self._peer is peer:
                    self._peer = None
        self._record.note("disconnected")

    def _push(self, message: Message) -> None:
        if self._peer is not None:
            _write(self._peer, {"offer": {"key": message.key, "sender": message.sender, "text": message.text}})

    def _handle(self, frame: dict[str, Any], peer: socket.socket) -> None:
        with self._lock:
            if "ack" in frame:
                self._record.note("acked", key=frame["ack"])
                self._acked.add(frame["ack"])
            elif "nack" in frame:
                self._record.note("nacked", key=frame["nack"], why=frame["why"])
            elif "send" in frame:
                sent = frame["send"]
                repeat = self._idempotent and sent["idem"] in self._seen
                self._record.note(
                    "repeat" if repeat else "shown", idem=sent["idem"], target=sent["target"], text=sent["text"]
                )
                self._seen.add(sent["idem"])
                _write(peer, {"sent": frame["n"], "id": f"m-{len(self._seen)}"})


def _write(peer: socket.socket, value: dict[str, Any]) -> None:
    with suppress(OSError):  # the gateway was killed
        peer.sendall(json.dumps(value).encode() + b"\n")

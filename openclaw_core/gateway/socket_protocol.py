"""The server's side of a WebSocket, with a way to end it while nothing can be written."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request


class SocketProtocol(WebSocketsSansIOProtocol):
    """Puts ``openclaw.abort`` into the scope: it drops the connection and what is buffered for it."""

    def handle_connect(self, event: Request) -> None:
        """See uvicorn; the application starts after this returns."""
        super().handle_connect(event)
        scope = getattr(self, "scope", None)
        if scope is not None:
            scope["openclaw.abort"] = self._abort

    def _abort(self) -> None:
        if isinstance(self.transport, asyncio.Transport):
            self.transport.abort()

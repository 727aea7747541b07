"""An HTTP client for tests of providers."""

from __future__ import annotations

import httpx


class TestHttp:
    """Implements the contract `HttpClients` with a client that reads no environment. Close it at the end.

    `transport` answers instead of the network where given.
    """

    __test__ = False

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._client = httpx.AsyncClient(trust_env=False, timeout=10.0, transport=transport)

    def client(self) -> httpx.AsyncClient:
        """The one client."""
        return self._client

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

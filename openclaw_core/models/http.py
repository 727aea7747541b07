"""The process-wide HTTP client: one pool, one TLS context, built when first needed."""

from __future__ import annotations

import sys

# Where rich and click are installed, httpx imports its own command line, which costs a third of a local
# turn's start. A None here makes that import fail, which httpx is prepared for.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # None is the documented way to block an import

import httpx  # noqa: E402  # after the line above

_LIMITS = httpx.Limits(max_connections=200, max_keepalive_connections=50, keepalive_expiry=60.0)


class _LazyTls(httpx.AsyncBaseTransport):
    """Builds the TLS context at the first https request: it costs more CPU than a whole local turn."""

    def __init__(self) -> None:
        self._inner: httpx.AsyncHTTPTransport | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See httpx."""
        if self._inner is None:
            self._inner = httpx.AsyncHTTPTransport(limits=_LIMITS, retries=0)
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """See httpx."""
        if self._inner is not None:
            await self._inner.aclose()


class SharedHttp:
    """Implements the contract `HttpClients`."""

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None

    def client(self) -> httpx.AsyncClient:
        """The shared client. It follows no redirects: a provider's answer never sends a key elsewhere."""
        if self._client is None:
            # the plain transport never sees an https URL, so it needs no certificate store
            plain = httpx.AsyncHTTPTransport(limits=_LIMITS, retries=0, verify=False)  # http:// only
            self._client = httpx.AsyncClient(
                transport=plain,
                mounts={"https://": _LazyTls()},
                timeout=httpx.Timeout(30.0, read=None),
                trust_env=False,
                follow_redirects=False,
            )
        return self._client

    async def aclose(self) -> None:
        """Close the pool."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

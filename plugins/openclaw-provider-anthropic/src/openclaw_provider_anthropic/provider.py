"""The provider: the official SDK sends and authenticates, we read the stream.

The SDK's own stream objects are not used: they drop a last event without its blank line and validate each event,
which costs more than the rest of a request.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from httpx_sse import ServerSentEvent
from openclaw_lib_openai.failure import SHAPE_ERRORS, http_failure, odd_event, read_error, short, stream_failure
from openclaw_lib_openai.sse import EventReader, LineTooLong

from openclaw_core.sdk import (
    ErrorKind,
    ModelAnswer,
    ModelCost,
    ModelEvent,
    ModelInfo,
    ModelRequest,
    Provider,
    ProviderEnv,
    ProviderError,
    classify_exception,
    clean_json,
)
from openclaw_provider_anthropic.plugin import MODELS
from openclaw_provider_anthropic.request import API, messages_body
from openclaw_provider_anthropic.stream import MessagesStream

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

_ANTHROPIC = "anthropic"
_HOST = "api.anthropic.com"
CONNECT_S = 30.0
DRAIN_S = 0.2
"""Seconds to wait, after the last event, for the end of the body that lets the connection be used again."""


def create(env: ProviderEnv) -> Provider:
    """The factory that the spec names. The SDK is imported at the first request."""
    return AnthropicProvider(env)


class AnthropicProvider:
    """Implements the contract `Provider`. Safe for any number of concurrent streams; one client for all."""

    def __init__(self, env: ProviderEnv) -> None:
        self._env = env
        self._key = env.api_key.strip()
        self._base = env.base_url.rstrip("/").removesuffix("/v1/messages").removesuffix("/v1")
        self._client: AsyncAnthropic | None = None
        self._making = asyncio.Lock()
        if not (self._key.isascii() and self._key.isprintable()):
            raise ProviderError(
                f"The API key of {env.provider_id} holds characters that no key has.", kind=ErrorKind.AUTH
            )

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See Provider."""
        client = await self._ready()
        state = MessagesStream(request, secret=self._key)
        shown = False
        try:
            body = messages_body(request)
            async with aclosing(self._events(client, body, state, request.idle_s)) as events:
                async for event in events:
                    shown = True
                    yield event
            yield ModelAnswer(message=state.result())
        except ProviderError as error:
            error.output_shown = shown
            raise
        except (GeneratorExit, asyncio.CancelledError):
            raise
        except Exception as error:  # the SDK and its HTTP library have their own trees of errors
            failure = self._failure(error, request.idle_s)
            failure.output_shown = shown
            raise failure from error

    async def models(self) -> Sequence[ModelInfo]:
        """The catalogue, for the entry that is Anthropic itself."""
        if self._env.provider_id != _ANTHROPIC:
            return ()
        return tuple(
            ModelInfo(
                provider=_ANTHROPIC,
                id=m.id,
                name=m.name,
                api=API,
                context_window=m.context_window,
                max_tokens=m.max_tokens,
                reasoning=m.reasoning,
                input=m.input,
                cost=ModelCost(input=m.cost[0], output=m.cost[1], cache_read=m.cost[2], cache_write=m.cost[3]),
                compat=m.compat,
            )
            for m in MODELS
        )

    def classify(self, error: BaseException) -> ErrorKind:
        """See Provider."""
        if isinstance(getattr(error, "status_code", None), int) and isinstance(error, Exception):
            return self._failure(error, 0.0).kind
        return classify_exception(error)

    async def aclose(self) -> None:
        """Close the client of the SDK."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _ready(self) -> AsyncAnthropic:
        """The client. Importing the SDK takes more than a second of CPU: not on the event loop."""
        async with self._making:
            if self._client is None:
                self._client = await asyncio.to_thread(self._make_client)
            return self._client

    def _make_client(self) -> AsyncAnthropic:
        import httpx2
        from anthropic import AsyncAnthropic

        http = httpx2.AsyncClient(
            trust_env=False,
            follow_redirects=False,
            verify=not self._base.startswith("http://"),
            limits=httpx2.Limits(max_connections=200, max_keepalive_connections=50, keepalive_expiry=60.0),
        )
        return AsyncAnthropic(
            api_key=self._key or "none",  # an entry without a key is a local server; the SDK insists on one
            base_url=self._base,
            max_retries=0,  # the core retries, and counts what it does
            default_headers=self._headers(),
            http_client=http,
        )

    def _headers(self) -> dict[str, str]:
        """The entry's own headers. Servers other than Anthropic know the key by its older header only."""
        own = dict(self._env.headers)
        if self._key and urlsplit(self._base).hostname != _HOST and not any(k.lower() == "x-api-key" for k in own):
            own["x-api-key"] = self._key
        return own

    async def _events(
        self, client: AsyncAnthropic, body: dict[str, Any], state: MessagesStream, idle_s: float
    ) -> AsyncGenerator[ModelEvent, None]:
        import httpx2

        connect = min(CONNECT_S, self._env.timeout_s)
        timeout = httpx2.Timeout(idle_s if idle_s > 0 else None, connect=connect, pool=connect)
        try:
            response = await client.messages.with_raw_response.create(stream=True, timeout=timeout, **body)
        except UnicodeEncodeError:  # a tool's description may hold a lone surrogate; history is clean already
            body = clean_json(body)
            response = await client.messages.with_raw_response.create(stream=True, timeout=timeout, **body)
        http = response.http_response
        try:
            reader = EventReader()
            async with aclosing(cast(AsyncGenerator[bytes, None], http.aiter_bytes())) as chunks:
                try:
                    async for data in chunks:
                        for event in read_events(state, reader.feed(data)):
                            yield event
                        if state.done:
                            await _drain(chunks)
                            return
                except httpx2.TransportError:
                    if not state.finished:
                        raise
            for event in read_events(state, reader.end()):
                yield event
        finally:
            await http.aclose()

    def _failure(self, error: Exception, idle_s: float) -> ProviderError:
        """An error of the SDK or of HTTP as ours."""
        status = getattr(error, "status_code", None)
        response = getattr(error, "response", None)
        if isinstance(status, int) and response is not None:
            said = read_error(getattr(error, "body", None) or "")
            return http_failure(self._env.provider_id, status, response.headers, said, secret=self._key)
        names = {c.__name__ for c in type(error).__mro__}
        if names & {"APITimeoutError", "TimeoutException"}:
            return ProviderError(f"{self._env.provider_id} sent nothing for {idle_s:g} s.", kind=ErrorKind.TIMEOUT)
        if "APIConnectionError" in names:
            text = f"Cannot connect to {self._env.provider_id}: {error.__cause__ or error}"
            return ProviderError(short(text, self._key), kind=ErrorKind.TIMEOUT)
        if isinstance(error, ValueError | TypeError | LineTooLong):
            return ProviderError(short(f"The request or its answer is malformed: {error}", self._key))
        return ProviderError(
            short(f"The connection to {self._env.provider_id} broke: {error or type(error).__name__}", self._key),
            kind=classify_exception(error),
        )


def read_events(state: MessagesStream, events: Iterable[ServerSentEvent]) -> Iterator[ModelEvent]:
    """What to show of these events; raises ProviderError for errors, for what is no JSON and for odd shapes."""
    for event in events:
        try:
            value = json.loads(event.data)
        except ValueError as error:
            if state.finished or event.data.startswith("[DONE]"):
                continue
            raise stream_failure(read_error(event.data), secret=state.secret) from error
        if not isinstance(value, dict):
            continue
        try:
            shown = state.feed(event.event, value)
        except SHAPE_ERRORS as error:
            raise odd_event(error, secret=state.secret) from error
        yield from shown


async def _drain(chunks: AsyncGenerator[bytes, None]) -> None:
    """Read the end of the body, so that the connection can serve the next request."""
    import httpx2

    try:
        async with asyncio.timeout(DRAIN_S):
            async for _ in chunks:
                pass
    except (TimeoutError, httpx2.HTTPError):
        return  # the answer is whole; the connection is closed instead of kept

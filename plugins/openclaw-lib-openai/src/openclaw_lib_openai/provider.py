"""A provider that speaks an OpenAI wire format to any base URL."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
from httpx_sse import ServerSentEvent

from openclaw_core.sdk import (
    ErrorKind,
    ModelAnswer,
    ModelEvent,
    ModelInfo,
    ModelRequest,
    ProviderEnv,
    ProviderError,
    classify_exception,
    classify_failure,
    get_logger,
)
from openclaw_lib_openai.chat_request import chat_body
from openclaw_lib_openai.chat_stream import ChatStream
from openclaw_lib_openai.failure import (
    SHAPE_ERRORS,
    VendorError,
    http_failure,
    odd_event,
    parse_body,
    read_error,
    short,
    transport_failure,
)
from openclaw_lib_openai.quirks import OPENAI_HOST, MaxTokensField, Quirks, quirks_for
from openclaw_lib_openai.requests import encode
from openclaw_lib_openai.responses_request import responses_body
from openclaw_lib_openai.responses_stream import ResponsesStream
from openclaw_lib_openai.sse import EventReader, LineTooLong

_log = get_logger("providers.openai")

CONNECT_S = 30.0
"""Seconds to connect; a model may think long, a connection may not take long."""
DRAIN_S = 0.2
"""Seconds to wait, after the last event, for the end of the body that lets the connection be used again."""
MAX_ERROR_BODY = 64 * 1024
MAX_JSON_BODY = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One wire format."""

    path: str
    body: Callable[[ModelRequest, Quirks], dict[str, Any]]
    stream: type[ChatStream] | type[ResponsesStream]


DIALECTS: Mapping[str, Dialect] = {
    "openai-completions": Dialect(path="/chat/completions", body=chat_body, stream=ChatStream),
    "openai-responses": Dialect(path="/responses", body=responses_body, stream=ResponsesStream),
}
DEFAULT_API = "openai-completions"

_OTHER_FIELD: Mapping[MaxTokensField, MaxTokensField] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refusal:
    """An answer whose status is not 200."""

    error: ProviderError
    said: VendorError

    def names(self, field: str) -> bool:
        """The server refused this parameter, and only its name."""
        if self.error.status not in (400, 422):
            return False
        text = f" {self.said.text.lower()} "
        blamed = self.said.param == field or re.search(rf"\b{field}\b", text) is not None
        return blamed and (self.said.code in _UNSUPPORTED or _UNSUPPORTED_TEXT.search(text) is not None)


_UNSUPPORTED = ("unsupported_parameter", "unknown_parameter", "unrecognized_parameter")
_UNSUPPORTED_TEXT = re.compile(
    r"unsupported|not supported|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|instead"
    r"|extra (?:inputs|field)"
)


class OpenAIWireProvider:
    """Implements the contract `Provider` for one ``models.providers`` entry. An empty key is allowed: then no
    Authorization header is sent. Safe for any number of concurrent streams."""

    def __init__(self, env: ProviderEnv, models: Sequence[ModelInfo] = ()) -> None:
        self._env = env
        self._models = tuple(models)
        self._key = env.api_key.strip()
        self._base = env.base_url.rstrip("/")
        self._urls: dict[tuple[str, str], httpx.URL] = {}
        self._known: dict[str, tuple[ModelInfo, Quirks]] = {}
        self._token_fields: dict[str, MaxTokensField] = {}
        if not (self._key.isascii() and self._key.isprintable()):
            raise ProviderError(
                f"The API key of {env.provider_id} holds characters that no key has.", kind=ErrorKind.AUTH
            )
        headers = {k.lower(): v for k, v in env.headers.items()}
        headers.setdefault("accept", "text/event-stream")
        headers.setdefault("accept-encoding", "identity")  # a compressing proxy would hold the stream back
        headers.setdefault("user-agent", "openclaw")
        headers["content-type"] = "application/json"
        self._headers = headers

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See Provider."""
        dialect = self._dialect(request.model)
        state: ChatStream | ResponsesStream
        if dialect.stream is ChatStream:
            state = ChatStream(request, secret=self._key, think_tags=self._quirks(request.model).think_tags)
        else:
            state = ResponsesStream(request, secret=self._key)
        shown = False
        try:
            response = await self._open(request, dialect)
            try:
                async with aclosing(self._events(response, state)) as events:
                    async for event in events:
                        shown = True
                        yield event
            finally:
                await response.aclose()
            yield ModelAnswer(message=state.result())
        except ProviderError as error:
            error.output_shown = shown
            raise
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, LineTooLong) as error:
            failure = transport_failure(error, self._base, idle_s=request.idle_s, secret=self._key)
            failure.output_shown = shown
            raise failure from error

    async def models(self) -> Sequence[ModelInfo]:
        """The models of the catalogue."""
        return self._models

    def classify(self, error: BaseException) -> ErrorKind:
        """See Provider."""
        return classify_exception(error)

    async def aclose(self) -> None:
        """Nothing to close: the HTTP client is shared."""

    def _dialect(self, model: ModelInfo) -> Dialect:
        """The model's own format, else the entry's. OpenAI itself refuses tools for its reasoning models on
        Chat Completions (seen since GPT-5.2), so these go to Responses there."""
        api = model.api or self._env.api or DEFAULT_API
        if api == "openai-completions" and model.reasoning and urlsplit(self._base).hostname == OPENAI_HOST:
            api = "openai-responses"
        dialect = DIALECTS.get(api)
        if dialect is None:
            raise ProviderError(
                f"{self._env.provider_id} cannot serve the wire format {api!r}.",
                kind=ErrorKind.FORMAT,
                hint=f"Set `api` to one of: {', '.join(DIALECTS)}.",
            )
        return dialect

    def _quirks(self, model: ModelInfo) -> Quirks:
        """The quirks of a model, read once as long as its description stays the same object."""
        known = self._known.get(model.id)
        if known is None or known[0] is not model:
            known = self._known[model.id] = (model, quirks_for(self._env.provider_id, self._base, model))
        return known[1]

    async def _open(self, request: ModelRequest, dialect: Dialect) -> httpx.Response:
        """Send, and once more with the other name of the output limit when the server wants that one."""
        quirks = self._quirks(request.model)
        field = self._token_fields.get(request.model.id)
        if field is not None:
            quirks = replace(quirks, max_tokens_field=field)
        answer = await self._send(request, dialect, quirks)
        if isinstance(answer, _Refusal) and dialect.stream is ChatStream and answer.names(quirks.max_tokens_field):
            other = _OTHER_FIELD[quirks.max_tokens_field]
            _log.debug("the server wants the output limit by another name", model=request.model.ref, field=other)
            answer = await self._send(request, dialect, replace(quirks, max_tokens_field=other))
            if not isinstance(answer, _Refusal):
                self._token_fields[request.model.id] = other
        if isinstance(answer, _Refusal):
            raise answer.error
        return answer

    async def _send(self, request: ModelRequest, dialect: Dialect, quirks: Quirks) -> httpx.Response | _Refusal:
        try:
            content = encode(dialect.body(request, quirks))
        except (ValueError, TypeError) as error:
            raise ProviderError(f"The request cannot be written as JSON: {error}", kind=ErrorKind.FORMAT) from error
        # a plain Request: the client would merge its own headers, cookies and URL into each one again
        sent = httpx.Request(
            "POST",
            self._url(dialect, quirks),
            content=content,
            headers=self._signed(quirks),
            extensions={"timeout": self._timeout(request.idle_s)},
        )
        response = await self._env.http.client().send(sent, stream=True, auth=None, follow_redirects=False)
        if response.status_code == 200:
            return response
        try:
            said = parse_body(await _read(response, MAX_ERROR_BODY))
        finally:
            await response.aclose()
        failure = http_failure(self._env.provider_id, response.status_code, response.headers, said, secret=self._key)
        return _Refusal(error=failure, said=said)

    def _signed(self, quirks: Quirks) -> dict[str, str]:
        """The headers with the key where this server looks for it; a person's own header stays."""
        if not self._key:
            return self._headers
        name, value = (quirks.key_header.lower(), self._key) if quirks.key_header else ("", "")
        return {name or "authorization": value or f"Bearer {self._key}", **self._headers}

    def _url(self, dialect: Dialect, quirks: Quirks) -> httpx.URL:
        """Base URL and path. A base URL that ends with ``/v1`` keeps the format's own path; what the base URL
        already holds of the path is not doubled."""
        path = quirks.path if quirks.path and not self._base.endswith("/v1") else dialect.path
        url = self._urls.get((path, dialect.path))
        if url is None:
            first = path.split("/")[1] if path.startswith("/") else ""
            if self._base.endswith(dialect.path):
                text = self._base
            elif quirks.path and first and self._base.endswith(f"/{first}"):
                text = self._base + path[len(first) + 1 :]
            else:
                text = self._base + path
            url = httpx.URL(text)
            if quirks.query and path != dialect.path:
                url = url.copy_merge_params(dict(quirks.query))
            self._urls[(path, dialect.path)] = url
        return url

    def _timeout(self, idle_s: float) -> dict[str, float | None]:
        connect = min(CONNECT_S, self._env.timeout_s)
        idle = idle_s if idle_s > 0 else None
        return httpx.Timeout(idle, connect=connect, pool=connect).as_dict()

    async def _events(
        self, response: httpx.Response, state: ChatStream | ResponsesStream
    ) -> AsyncGenerator[ModelEvent, None]:
        if response.headers.get("content-type", "").startswith("application/json"):
            for event in read_events(state, [ServerSentEvent(data=(await _read(response, MAX_JSON_BODY)).decode())]):
                yield event
            return
        reader = EventReader()
        async with aclosing(cast(AsyncGenerator[bytes, None], response.aiter_bytes())) as chunks:
            try:
                async for data in chunks:
                    for event in read_events(state, reader.feed(data)):
                        yield event
                    if state.done:
                        await _drain(chunks)
                        return
            except httpx.TransportError:
                if not state.finished:  # what is missing is only the vendor's last line
                    raise
        for event in read_events(state, reader.end()):
            yield event


def read_events(state: ChatStream | ResponsesStream, events: Iterable[ServerSentEvent]) -> Iterator[ModelEvent]:
    """What to show of these events; raises ProviderError for errors, for what is no JSON and for odd shapes."""
    for event in events:
        data = event.data
        if data.startswith("[DONE]"):
            state.done = True
            return
        try:
            value = json.loads(data)
        except ValueError as error:
            if state.finished:
                continue
            said = read_error(data)
            raise ProviderError(
                f"The server sent an event that is not JSON: {short(said.text, state.secret)}",
                kind=classify_failure(text=said.text),
            ) from error
        if not isinstance(value, dict):
            continue
        try:
            shown = state.feed(event.event, value)
        except SHAPE_ERRORS as error:
            raise odd_event(error, secret=state.secret) from error
        yield from shown


async def _drain(chunks: AsyncGenerator[bytes, None]) -> None:
    """Read the end of the body, so that the connection can serve the next request."""
    try:
        async with asyncio.timeout(DRAIN_S):
            async for _ in chunks:
                pass
    except (TimeoutError, httpx.HTTPError):
        return  # the answer is whole; the connection is closed instead of kept


async def _read(response: httpx.Response, limit: int) -> bytes:
    """The body up to `limit` bytes."""
    parts: list[bytes] = []
    size = 0
    async with aclosing(cast(AsyncGenerator[bytes, None], response.aiter_bytes())) as chunks:
        async for data in chunks:
            parts.append(data)
            size += len(data)
            if size >= limit:
                break
    return b"".join(parts)[:limit]

"""From what went wrong to a ProviderError that a person and the failover can use."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from openclaw_core.sdk import ErrorKind, ProviderError, classify_exception, classify_failure, retry_after_seconds

MAX_TEXT = 300
"""Characters of a vendor's message that are kept."""
_KEY_LIKE = re.compile(r"\b(?:sk|key|xai|gsk)[-_][A-Za-z0-9_*-]{8,}")
_TAGS = re.compile(r"<(?:style|script|head)\b.*?</(?:style|script|head)>|<[^>]*>", re.S | re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorError:
    """What an error body says, in whatever shape the server chose."""

    text: str
    code: str = ""
    status: int | None = None
    param: str = ""


def read_error(payload: Any) -> VendorError:
    """Understand ``{"error": {...}}``, ``{"error": "text"}``, ``{"message"|"detail": ...}``, a list of one
    of these, or plain text."""
    if isinstance(payload, list):
        return read_error(payload[0]) if payload else VendorError(text="")
    if not isinstance(payload, Mapping):
        return VendorError(text=_plain(payload))
    inner = payload.get("error", payload)
    if not isinstance(inner, Mapping):
        return VendorError(text=_plain(inner), code=_word(payload.get("code")), status=_number(payload.get("code")))
    text = _plain(inner.get("message") or inner.get("detail") or inner.get("msg") or "")
    metadata = inner.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get("raw"):  # a router's word on its upstream
        text = f"{text}: {_plain(metadata['raw'])}" if text else _plain(metadata["raw"])
    return VendorError(
        text=text,
        code=_word(inner.get("code")) or _word(inner.get("status")) or _word(inner.get("type")),
        status=_number(inner.get("code")) or _number(inner.get("status")),
        param=str(inner.get("param") or ""),
    )


def parse_body(body: bytes) -> VendorError:
    """An error body of an HTTP answer; pages of a proxy are reduced to their words."""
    text = body.decode("utf-8", "replace")
    try:
        return read_error(json.loads(text))
    except ValueError:
        return VendorError(text=" ".join(_TAGS.sub(" ", text).split()))


def http_failure(
    provider_id: str, status: int, headers: Mapping[str, str], said: VendorError, *, secret: str
) -> ProviderError:
    """The error of an answer whose status is not 200."""
    kind = classify_failure(status=status, text=said.text, vendor_code=said.code)
    text = f"HTTP {status}: {said.text}" if said.text else f"HTTP {status}"
    hint = ""
    if 300 <= status < 400:
        kind, hint = ErrorKind.FORMAT, f"Check `models.providers.{provider_id}.baseUrl`: the server redirects."
    return ProviderError(
        short(text, secret),
        kind=kind,
        status=status,
        vendor_code=said.code,
        retry_after=retry_after_seconds(headers, time.time()),
        hint=hint,
    )


def stream_failure(said: VendorError, *, secret: str) -> ProviderError:
    """The error of an error object inside a stream that began with status 200."""
    kind = classify_failure(status=said.status, text=said.text, vendor_code=said.code)
    text = said.text or said.code or "the server reported an error without saying which"
    return ProviderError(short(text, secret), kind=kind, status=said.status, vendor_code=said.code)


def transport_failure(error: Exception, base_url: str, *, idle_s: float, secret: str) -> ProviderError:
    """The error of a connection that could not be made, fell silent or broke."""
    host = base_url.split("://", 1)[-1].split("/", 1)[0].rpartition("@")[2]
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
        return ProviderError(
            short(f"The address {host!r} cannot be used: {error}", secret),
            kind=ErrorKind.FORMAT,
            hint="Set `models.providers.<id>.baseUrl` to an address that begins with http:// or https://.",
        )
    if isinstance(error, httpx.ConnectTimeout | httpx.ConnectError):
        return ProviderError(f"Cannot connect to {host}.", kind=ErrorKind.TIMEOUT, hint="Is the server running?")
    if isinstance(error, httpx.TimeoutException):
        return ProviderError(f"{host} sent nothing for {idle_s:g} s.", kind=ErrorKind.TIMEOUT)
    return ProviderError(
        short(f"The connection to {host} broke: {error or type(error).__name__}", secret),
        kind=classify_exception(error),
    )


def odd_event(error: Exception, *, secret: str) -> ProviderError:
    """The error of an event that is JSON but not what its format allows."""
    return ProviderError(
        short(f"The server sent an event of an unexpected shape ({type(error).__name__}: {error}).", secret),
        kind=ErrorKind.UNKNOWN,
        vendor_code="odd_event",
    )


SHAPE_ERRORS = (AttributeError, TypeError, KeyError, IndexError, ValueError)
"""What reading an event of the wrong shape raises."""


def ended_early(provider_id: str) -> ProviderError:
    """The error of a stream that stopped without its finish marker."""
    return ProviderError(f"The stream of {provider_id} ended early.", kind=ErrorKind.TIMEOUT, vendor_code="stream_end")


def short(text: str, secret: str) -> str:
    """One printable line without the key, at most MAX_TEXT characters."""
    if len(secret) >= 4:
        text = text.replace(secret, "***")
    text = " ".join(_KEY_LIKE.sub("***", text).split())
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _word(value: Any) -> str:
    return value if isinstance(value, str) and not value.isdecimal() else ""


def _number(value: Any) -> int | None:
    """An HTTP status that a server wrote into its error code."""
    if isinstance(value, str) and value.isdecimal() and len(value) == 3:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600 else None

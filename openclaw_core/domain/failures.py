"""From what a vendor said to an ErrorKind: one table for all providers (behaviour.md 7.5)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from openclaw_core.errors import ErrorKind, ProviderError

_LONG_TEXT = 512
"""Texts longer than this mention billing words by accident; only a 402 is believed then."""

_CODES: dict[str, ErrorKind] = {
    "insufficient_quota": ErrorKind.BILLING,
    "billing_error": ErrorKind.BILLING,
    "billing_not_active": ErrorKind.BILLING,
    "exceeded_current_quota_error": ErrorKind.BILLING,
    "arrearage": ErrorKind.BILLING,
    "budget_exceeded": ErrorKind.BILLING,
    "rate_limit_exceeded": ErrorKind.RATE_LIMIT,
    "rate_limit_error": ErrorKind.RATE_LIMIT,
    "model_cooldown": ErrorKind.RATE_LIMIT,
    "resource_exhausted": ErrorKind.RATE_LIMIT,
    "rate_limit_reached_error": ErrorKind.RATE_LIMIT,
    "too_many_requests": ErrorKind.RATE_LIMIT,
    "overloaded_error": ErrorKind.OVERLOADED,
    "server_overloaded": ErrorKind.OVERLOADED,
    "slow_down": ErrorKind.OVERLOADED,
    "engine_overloaded_error": ErrorKind.OVERLOADED,
    "queue_exceeded": ErrorKind.OVERLOADED,
    "service_tier_capacity_exceeded": ErrorKind.OVERLOADED,
    "timeout_error": ErrorKind.TIMEOUT,
    "api_error": ErrorKind.TIMEOUT,
    "server_error": ErrorKind.TIMEOUT,
    "authentication_error": ErrorKind.AUTH,
    "invalid_api_key": ErrorKind.AUTH_PERMANENT,
    "permission_error": ErrorKind.AUTH_PERMANENT,
    "account_deactivated": ErrorKind.AUTH_PERMANENT,
    "model_not_found": ErrorKind.MODEL_NOT_FOUND,
    "not_found_error": ErrorKind.MODEL_NOT_FOUND,
    "resource_not_found_error": ErrorKind.MODEL_NOT_FOUND,
    "model_not_supported": ErrorKind.MODEL_NOT_FOUND,
    "model_decommissioned": ErrorKind.MODEL_NOT_FOUND,
    "deploymentnotfound": ErrorKind.MODEL_NOT_FOUND,
    "context_length_exceeded": ErrorKind.CONTEXT_OVERFLOW,
    "request_too_large": ErrorKind.CONTEXT_OVERFLOW,
}

_STATUS: dict[int, ErrorKind] = {
    401: ErrorKind.AUTH,
    402: ErrorKind.BILLING,
    403: ErrorKind.AUTH_PERMANENT,
    404: ErrorKind.MODEL_NOT_FOUND,
    408: ErrorKind.TIMEOUT,
    410: ErrorKind.SESSION_EXPIRED,
    413: ErrorKind.CONTEXT_OVERFLOW,
    429: ErrorKind.RATE_LIMIT,
    500: ErrorKind.TIMEOUT,
    502: ErrorKind.TIMEOUT,
    503: ErrorKind.OVERLOADED,
    504: ErrorKind.TIMEOUT,
    521: ErrorKind.TIMEOUT,
    522: ErrorKind.TIMEOUT,
    523: ErrorKind.TIMEOUT,
    524: ErrorKind.TIMEOUT,
    529: ErrorKind.OVERLOADED,
}

_RATE = re.compile(
    r"rate[ _-]?limit|too many requests|quota exceeded|exceeded your current quota|resource[ _]exhausted|usage limit"
    r"|tokens per (?:minute|day)|requests per (?:minute|day)|\btp[md]\b|model_cooldown"
)
_OVERFLOW = re.compile(
    r"prompt is too long|prompt too long|exceeds? (?:the )?(?:model'?s? )?(?:maximum )?context|request_too_large"
    r"|maximum context length|context[ _](?:length|window)[ _]exceeded|input token count|too many (?:input )?tokens"
    r"|context (?:size|length|window) (?:has been |is )?exceeded|exceeds the available context size"
    r"|input (?:is|length) too long|reduce the length of the messages"
    r"|maximum prompt length|exceeds max length|exceeded model token limit|context window exceeds limit"
    r"|range of input length should be|greater than the context length|loaded with context length"
    r"|contextwindowexceedederror|tokens?`? \+ `?max_(?:new|completion)?_?tokens`? must be"
)
_BILLING = re.compile(
    r"insufficient (?:credit|quota|balance|funds)|payment required|credit balance|insufficient_quota|out of credits"
    r"|(?:doesn't|does not) have any credits|used all available credits|spending limit|credit limit|credits expired"
    r"|key limit exceeded|budget has been exceeded"
)
_PERIODIC = re.compile(r"usage limit|(?:daily|weekly|monthly|hourly) limit|limit (?:will )?resets?")
_PERMANENT = re.compile(
    r"(?:key|account|token)[^.]{0,40}(?:revoked|deactivated|disabled)|invalid_api_key|permission_error"
    r"|api key not valid"
)
_REFUSED_CONTENT = re.compile(r"requires moderation|input was flagged|content policy|content management policy")
"""Seen with status 403: the key is as good as before."""
_ALLOCATION = re.compile(r"allocated quota exceeded")
"""DashScope says ``insufficient_quota`` when it means "slower"."""
_BAD_KEY = re.compile(r"(?:incorrect|invalid|wrong) api key|invalid proxy server token")
_NO_MODEL = re.compile(
    r"unknown model|invalid model|not a valid model|no models? (?:is )?loaded"
    r"|model[^.]{0,120}(?:does not exist|not found|is not supported|not available)"
)
_OVERLOADED = re.compile(r"overloaded|high demand|at capacity|over capacity|capacity exceeded")
_AUTH = re.compile(r"unauthori[sz]ed|invalid token|token (?:has )?expired|no api key|incorrect api key|authentication")
_TIMEOUT = re.compile(
    r"timed? ?out|deadline|service unavailable|econn(?:reset|refused|aborted)|connection (?:reset|refused|aborted)"
    r"|fetch failed|socket hang up|no reply|internal server error|bad gateway"
)


def classify_failure(*, status: int | None = None, text: str = "", vendor_code: str = "") -> ErrorKind:
    """The kind of a failed request. `text` is the vendor's message, `vendor_code` its code or type.

    The vendor's own code wins, then words that tell more than the status (a full context, an empty
    account), then the status, then the remaining words.
    """
    low = text.lower()
    if _ALLOCATION.search(low):
        return ErrorKind.RATE_LIMIT
    by_code = _CODES.get(vendor_code.lower())
    if by_code is not None and not (by_code is ErrorKind.TIMEOUT and status not in (None, 200, 500)):
        return ErrorKind.OVERLOADED if by_code is ErrorKind.TIMEOUT and _OVERLOADED.search(low) else by_code
    throttled = _RATE.search(low) is not None
    if not throttled and _OVERFLOW.search(low):
        return ErrorKind.CONTEXT_OVERFLOW
    if status == 402:
        return ErrorKind.RATE_LIMIT if _PERIODIC.search(low) else ErrorKind.BILLING
    if len(low) <= _LONG_TEXT and _BILLING.search(low):
        return ErrorKind.BILLING
    if status == 403 and _REFUSED_CONTENT.search(low):
        return ErrorKind.FORMAT
    if status in (None, 400, 401, 403) and _PERMANENT.search(low):
        return ErrorKind.AUTH_PERMANENT
    if status == 413 and throttled:
        return ErrorKind.RATE_LIMIT
    if status in (500, 502) and _OVERLOADED.search(low):
        return ErrorKind.OVERLOADED
    by_status = _STATUS.get(status or 0)
    if by_status is not None:
        return by_status
    if status is not None and status >= 500:
        return ErrorKind.TIMEOUT
    return _by_words(low, throttled=throttled, refused=status is not None and 400 <= status < 500)


def _by_words(low: str, *, throttled: bool, refused: bool) -> ErrorKind:
    """No status, or one that says only "refused"."""
    if throttled:
        return ErrorKind.RATE_LIMIT
    if _NO_MODEL.search(low):
        return ErrorKind.MODEL_NOT_FOUND
    if refused:
        return ErrorKind.AUTH if _BAD_KEY.search(low) else ErrorKind.FORMAT
    if _OVERLOADED.search(low):
        return ErrorKind.OVERLOADED
    if _AUTH.search(low):
        return ErrorKind.AUTH
    if _TIMEOUT.search(low):
        return ErrorKind.TIMEOUT
    return ErrorKind.UNKNOWN


def classify_exception(error: BaseException) -> ErrorKind:
    """The kind of a failure that has no answer to read: a ProviderError knows its own, else the chain of
    causes is walked for a broken connection, else the words decide."""
    seen: set[int] = set()
    step: BaseException | None = error
    while step is not None and id(step) not in seen:
        seen.add(id(step))
        if isinstance(step, ProviderError):
            return step.kind
        names = {c.__name__ for c in type(step).__mro__}
        if isinstance(step, TimeoutError | OSError) or names & {"TransportError", "APIConnectionError"}:
            return ErrorKind.TIMEOUT
        step = step.__cause__ or step.__context__
    return classify_failure(text=str(error))


def retry_after_seconds(headers: Mapping[str, str], now: float) -> float | None:
    """Retry-After as seconds from `now` (epoch seconds), from either form of the header or from
    ``retry-after-ms``; None where absent or unreadable."""
    millis = headers.get("retry-after-ms")
    value = headers.get("retry-after")
    try:
        if millis:
            return max(0.0, float(millis) / 1000)
        if not value:
            return None
        if re.fullmatch(r"\s*\d+(\.\d+)?\s*", value):
            return float(value)
        when: datetime = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, when.timestamp() - now)

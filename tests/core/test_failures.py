from __future__ import annotations

import pytest

from openclaw_core.domain.failures import classify_exception, classify_failure, retry_after_seconds
from openclaw_core.errors import ErrorKind as K
from openclaw_core.errors import ProviderError

CASES = [
    (429, "Rate limit reached", "rate_limit_exceeded", K.RATE_LIMIT),
    (429, "You exceeded your current quota, please check your plan", "insufficient_quota", K.BILLING),
    (429, "You exceeded your current quota", "RESOURCE_EXHAUSTED", K.RATE_LIMIT),
    (429, "", "", K.RATE_LIMIT),
    (None, "quota exceeded", "", K.RATE_LIMIT),
    (402, "Payment required", "", K.BILLING),
    (402, "Weekly usage limit reached, resets on Monday", "", K.RATE_LIMIT),
    (400, "Your credit balance is too low to access the API", "invalid_request_error", K.BILLING),
    (400, "word " * 200 + "credit balance", "", K.FORMAT),
    (401, "Unauthorized", "", K.AUTH),
    (401, "Incorrect API key provided", "invalid_api_key", K.AUTH_PERMANENT),
    (401, "This key was revoked", "", K.AUTH_PERMANENT),
    (403, "Forbidden", "", K.AUTH_PERMANENT),
    (404, "The model `x` does not exist", "model_not_found", K.MODEL_NOT_FOUND),
    (400, "Unknown model: gpt-9", "", K.MODEL_NOT_FOUND),
    (400, "This model's maximum context length is 8192 tokens", "", K.CONTEXT_OVERFLOW),
    (400, "prompt is too long: 210000 tokens > 200000 maximum", "invalid_request_error", K.CONTEXT_OVERFLOW),
    (400, "x", "context_length_exceeded", K.CONTEXT_OVERFLOW),
    (413, "Request too large", "", K.CONTEXT_OVERFLOW),
    (413, "Request too large on tokens per minute (TPM)", "", K.RATE_LIMIT),
    (400, "messages.1: tool_use.id: String should match pattern", "invalid_request_error", K.FORMAT),
    (422, "schema", "", K.FORMAT),
    (408, "", "", K.TIMEOUT),
    (504, "", "", K.TIMEOUT),
    (500, "mock internal error", "", K.TIMEOUT),
    (500, "Overloaded", "api_error", K.OVERLOADED),
    (502, "Bad Gateway", "", K.TIMEOUT),
    (522, "", "", K.TIMEOUT),
    (503, "Service Unavailable", "", K.OVERLOADED),
    (529, "Overloaded", "overloaded_error", K.OVERLOADED),
    (None, "Overloaded", "overloaded_error", K.OVERLOADED),
    (410, "gone", "", K.SESSION_EXPIRED),
    (None, "socket hang up", "", K.TIMEOUT),
    (None, "", "", K.UNKNOWN),
    (418, "teapot", "", K.FORMAT),
    (599, "", "", K.TIMEOUT),
]


@pytest.mark.parametrize(("status", "text", "code", "kind"), CASES)
def test_classify(status, text, code, kind):
    assert classify_failure(status=status, text=text, vendor_code=code) is kind


def test_exceptions_are_walked_to_their_cause():
    error = RuntimeError("outer")
    error.__cause__ = ConnectionResetError("inner")
    assert classify_exception(error) is K.TIMEOUT
    error.__cause__ = ProviderError("x", kind=K.BILLING)
    assert classify_exception(error) is K.BILLING
    loop = RuntimeError("rate limit")
    loop.__cause__ = loop
    assert classify_exception(loop) is K.RATE_LIMIT


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Thu, 01 Jan 1970 00:02:00 GMT"}, 20.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after(headers, seconds):
    assert retry_after_seconds(headers, 100.0) == seconds

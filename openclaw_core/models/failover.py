"""One model request with everything that helps it succeed: retry, then the next model of the chain."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from openclaw_core.aio.backoff import Backoff
from openclaw_core.aio.clock import Clock
from openclaw_core.contracts.provider import ModelRequest, Provider
from openclaw_core.domain.events import ModelAnswer, ModelEvent, Notice, TextDelta, TextReset
from openclaw_core.domain.messages import AssistantMessage, StopReason
from openclaw_core.domain.models import ModelInfo
from openclaw_core.errors import ErrorKind, OpenClawError, ProviderError
from openclaw_core.observe.logging import get_logger, redact

_log = get_logger("models")

ATTEMPTS = 3
"""Requests to one model before the next is tried (behaviour.md appendix B, retryDefault)."""
MAX_RETRY_AFTER_S = 30.0
"""A longer Retry-After is not waited for; the next model is tried, or the person told."""
_OVERLOADED = (0.25, 1.5)
_DEFAULT = (0.3, 30.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One request that failed."""

    model: str
    kind: ErrorKind
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Where a request may go, best first, and how to reach each."""

    models: Sequence[ModelInfo]
    provider: Callable[[ModelInfo], Awaitable[Provider]]


class ModelCall:
    """One answer wanted from a chain of candidates. Iterate `events` once."""

    def __init__(
        self,
        candidates: Candidates,
        request: ModelRequest,
        *,
        clock: Clock,
        rng: Callable[[], float],
        on_failure: Callable[[Attempt], None] | None = None,
    ) -> None:
        self._candidates = candidates
        self._request = request
        self._clock = clock
        self._rng = rng
        self._on_failure = on_failure
        self.attempts: list[Attempt] = []

    async def events(self) -> AsyncGenerator[ModelEvent | TextReset | Notice, None]:
        """Stream the answer. Yields TextReset before a new attempt when text had been shown.

        Raises ProviderError with every attempt in `details` when nothing helped. Cancellation passes
        through and burns no candidate.
        """
        last: ProviderError | None = None
        models = self._candidates.models
        for number, model in enumerate(models):
            backoff: Backoff | None = None
            for attempt in range(1, ATTEMPTS + 1):
                shown, last = False, None
                try:
                    async with aclosing(self._stream(model)) as events:
                        async for event in events:
                            shown = shown or isinstance(event, TextDelta)
                            yield event
                            if isinstance(event, ModelAnswer):
                                return
                except ProviderError as error:
                    last = error
                    self._note(model, error)
                if last is None:  # a provider that ends without answer and without error broke its contract
                    last = ProviderError("The model's stream ended without an answer.", kind=ErrorKind.UNKNOWN)
                    self._note(model, last)
                if shown:
                    yield TextReset(reason=last.kind.value)
                backoff = backoff or _backoff(last.kind, self._rng)
                delay = _delay(last, backoff) if last.kind.retry and attempt < ATTEMPTS else None
                if delay is None:
                    break
                await self._clock.sleep(delay)
            if last is not None and not last.kind.fallback_model:
                break
            if number + 1 < len(models):
                reason = self.attempts[-1].kind.value
                yield Notice(
                    code="model_fallback", text=f"{model.ref} failed ({reason}); using {models[number + 1].ref}."
                )
        raise _final(last, self.attempts)

    async def _stream(self, model: ModelInfo) -> AsyncGenerator[ModelEvent, None]:
        """One attempt; every failure leaves as ProviderError."""
        try:
            provider = await self._candidates.provider(model)
        except ProviderError:
            raise
        except OpenClawError as error:
            raise ProviderError(error.message, kind=ErrorKind.MODEL_NOT_FOUND, hint=error.hint) from error
        try:
            stream = provider.stream(replace(self._request, model=model))
            async with aclosing(stream) as events:  # type: ignore[type-var]  # an async generator by contract
                async for event in events:
                    if isinstance(event, ModelAnswer) and _empty(event.message):
                        raise ProviderError(
                            "The model gave an empty answer.", kind=ErrorKind.UNKNOWN, vendor_code="empty"
                        )
                    yield event
        except (ProviderError, GeneratorExit):
            raise
        except Exception as error:
            text = redact(str(error)) or type(error).__name__
            raise ProviderError(text, kind=provider.classify(error)) from error

    def _note(self, model: ModelInfo, error: ProviderError) -> None:
        failure = Attempt(model=model.ref, kind=error.kind, message=redact(error.message))
        self.attempts.append(failure)
        _log.warning("model request failed", model=model.ref, reason=error.kind.value, error=failure.message)
        if self._on_failure is not None:
            self._on_failure(failure)


def _empty(message: AssistantMessage) -> bool:
    """Neither text nor a call: nothing a person or a tool could use."""
    return not message.tool_calls and not message.text.strip() and message.stop_reason is not StopReason.LENGTH


def _backoff(kind: ErrorKind, rng: Callable[[], float]) -> Backoff:
    first, limit = _OVERLOADED if kind is ErrorKind.OVERLOADED else _DEFAULT
    return Backoff(first=first, limit=limit, factor=2.0, jitter=0.2, rng=rng)


def _delay(error: ProviderError, backoff: Backoff) -> float | None:
    """Seconds to wait before the same model is asked again; None when that is too long."""
    if error.kind is ErrorKind.TIMEOUT:
        return 0.0
    wait = backoff.next()
    if error.retry_after is None:
        return wait
    return None if error.retry_after > MAX_RETRY_AFTER_S else max(wait, error.retry_after)


def _final(last: ProviderError | None, attempts: Sequence[Attempt]) -> ProviderError:
    if last is None:
        return ProviderError("No model is configured.", kind=ErrorKind.MODEL_NOT_FOUND)
    text = last.message
    if len({a.model for a in attempts}) > 1:
        text = "All models failed: " + "; ".join(f"{a.model}: {a.kind.value} ({a.message})" for a in attempts)
    final = ProviderError(
        redact(text), kind=last.kind, status=last.status, vendor_code=last.vendor_code, retry_after=last.retry_after
    )
    final.details["attempts"] = [{"model": a.model, "reason": a.kind.value, "message": a.message} for a in attempts]
    return final

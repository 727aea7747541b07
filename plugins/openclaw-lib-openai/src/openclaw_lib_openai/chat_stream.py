"""The events of a Chat Completions stream, as many servers really send them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from openclaw_core.sdk import AssistantMessage, ModelEvent, ModelRequest, ProviderError, StopReason, Usage
from openclaw_lib_openai.answer import Answer, Call, count, word
from openclaw_lib_openai.failure import VendorError, ended_early, read_error, stream_failure
from openclaw_lib_openai.reasoning import API, DetailsJoiner
from openclaw_lib_openai.think_tags import ThinkTags

_FINISH = {
    "length": StopReason.LENGTH,
    "max_tokens": StopReason.LENGTH,
    "model_length": StopReason.LENGTH,
}


class ChatStream:
    """State of one stream. `feed` takes one decoded event, `result` ends it."""

    api = API

    def __init__(self, request: ModelRequest, *, secret: str = "", think_tags: bool = False) -> None:
        self._answer = Answer(request, self.api)
        self._details = DetailsJoiner()
        self._tags = ThinkTags() if think_tags else None
        self._provider = request.model.provider
        self.secret = secret
        self._by_index: dict[int, Call] = {}
        self._finish: str | None = None
        self.done = False

    @property
    def finished(self) -> bool:
        """The vendor said that the answer is whole."""
        return self._finish is not None

    def feed(self, _event: str, chunk: Mapping[str, Any]) -> list[ModelEvent]:
        """Take one chunk; raises ProviderError for an error object."""
        if chunk.get("error") or (_event == "error" and not chunk.get("choices")):
            raise stream_failure(read_error(chunk), secret=self.secret)
        if (base := chunk.get("base_resp")) and base.get("status_code"):  # MiniMax: an error with status 200
            raise stream_failure(VendorError(text=word(base.get("status_msg"))), secret=self.secret)
        if not self._answer.response_id and isinstance(chunk.get("id"), str):
            self._answer.response_id = chunk["id"]
        if (usage := chunk.get("usage")) and isinstance(usage, Mapping):
            self._answer.usage = chat_usage(usage)
        choices = chunk.get("choices")
        if not choices:
            return []
        choice = choices[0]
        events: list[ModelEvent] = []
        delta = choice.get("delta") or choice.get("message")  # a server that ignored `stream` sends the latter
        if delta:
            self._delta(delta, events)
        if (usage := choice.get("usage")) and isinstance(usage, Mapping):
            self._answer.usage = chat_usage(usage)
        finish = choice.get("finish_reason")
        if finish:
            if finish == "error":
                raise stream_failure(read_error(choice), secret=self.secret)
            self._finish = str(finish)
            if self._tags is not None:
                for thinking, text in self._tags.end():
                    self._prose(text, events, thinking=thinking)
        return events

    def result(self) -> AssistantMessage:
        """The whole message; raises ProviderError when the stream was cut.

        ``[DONE]`` after some output counts as a finish: some servers send no finish reason.
        """
        if self._finish is None and not (self.done and (self._answer.has_text or self._answer.calls)):
            raise self.cut()
        self._answer.signature = self._details.dump()
        if self._finish in ("content_filter", "sensitive"):
            return self._answer.message(
                StopReason.STOP,
                error_code="content_filter",
                error_message="The provider's content filter ended the answer.",
            )
        return self._answer.message(_FINISH.get(self._finish or "", StopReason.STOP))

    def cut(self) -> ProviderError:
        """The error of a stream that stopped half way."""
        return ended_early(self._provider)

    def _delta(self, delta: Mapping[str, Any], events: list[ModelEvent]) -> None:
        reasoning = delta.get("reasoning_content") or delta.get("reasoning") or delta.get("reasoning_text")
        if details := delta.get("reasoning_details"):
            readable = self._details.feed(details)
            reasoning = reasoning or readable
        if reasoning and isinstance(reasoning, str):
            self._prose(reasoning, events, thinking=True)
        content = delta.get("content") or delta.get("refusal")
        if content:
            if isinstance(content, str):
                for thinking, text in self._tags.feed(content) if self._tags else ((False, content),):
                    self._prose(text, events, thinking=thinking)
            else:
                self._parts(content, events)
        calls = delta.get("tool_calls")
        if calls:
            for part in calls:
                events.append(self._call(part))

    def _parts(self, content: Any, events: list[ModelEvent]) -> None:
        """Content as a list of typed parts (Mistral's reasoning models)."""
        for part in content if isinstance(content, list) else ():
            if not isinstance(part, Mapping):
                continue
            thinking = part.get("type") == "thinking"
            inner = part.get("thinking") if thinking else part.get("text")
            for piece in inner if isinstance(inner, list) else [inner]:
                text = piece.get("text") if isinstance(piece, Mapping) else piece
                if isinstance(text, str) and text:
                    self._prose(text, events, thinking=thinking)

    def _prose(self, text: str, events: list[ModelEvent], *, thinking: bool) -> None:
        event = self._answer.prose(text, thinking=thinking)
        if event is not None:
            events.append(event)

    def _call(self, part: Mapping[str, Any]) -> ModelEvent:
        function = part.get("function") or {}
        name = word(function.get("name"))
        arguments = function.get("arguments")
        if arguments is None:
            arguments = ""
        elif not isinstance(arguments, str):  # a server that sends the object itself
            arguments = json.dumps(arguments, ensure_ascii=False)
        call = self._find(part.get("index"), word(part.get("id")), name, arguments)
        before = call.name
        if name:
            call.add_name(name)
        return self._answer.fragment(call, arguments, name=call.name if call.name != before else "")

    def _find(self, index: Any, call_id: str, name: str, arguments: str) -> Call:
        """The call that a fragment belongs to, or a new one.

        Servers number calls, repeat one number for all calls, give ids only, or neither. A new id opens a new
        call when it comes with a name or when the call before is whole (some servers make up an id for
        every fragment). Without number and id, a name with arguments opens one after a whole call.
        """
        known = self._by_index.get(index) if isinstance(index, int) else None
        if known is None and not isinstance(index, int):
            if call_id:
                known = next((c for c in self._answer.calls if c.id == call_id), None)
            elif self._answer.calls:
                known = self._answer.calls[-1]
        if known is not None:
            if call_id and known.id and call_id != known.id:
                fresh = bool(name) or known.complete
            else:
                other = bool(name) and bool(known.name) and (bool(arguments.strip()) or name != known.name)
                fresh = other and not (call_id and call_id == known.id) and known.complete
            if not fresh:
                known.id = known.id or call_id
                return known
        call = self._answer.open_call(call_id=call_id)
        if isinstance(index, int):
            self._by_index[index] = call
        return call


def chat_usage(usage: Mapping[str, Any]) -> Usage:
    """Token counts; `input` leaves out what came from the cache."""
    details = usage.get("prompt_tokens_details") or {}
    cached = count(details.get("cached_tokens")) or count(usage.get("prompt_cache_hit_tokens"))
    written = count(details.get("cache_write_tokens"))
    return Usage(
        input=max(0, count(usage.get("prompt_tokens")) - cached - written),
        output=count(usage.get("completion_tokens")),
        cache_read=cached,
        cache_write=written,
    )

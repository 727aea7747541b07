"""The events of a Responses stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openclaw_core.sdk import AssistantMessage, ModelEvent, ModelRequest, ProviderError, StopReason, Usage
from openclaw_lib_openai.answer import Answer, Call, count, word
from openclaw_lib_openai.failure import ended_early, read_error, stream_failure

_TEXT = ("response.output_text.delta", "response.refusal.delta")
_THINKING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")


class ResponsesStream:
    """State of one stream. `feed` takes one decoded event, `result` ends it."""

    api = "openai-responses"

    def __init__(self, request: ModelRequest, *, secret: str = "") -> None:
        self._answer = Answer(request, self.api)
        self._provider = request.model.provider
        self.secret = secret
        self._by_item: dict[str, Call] = {}
        self._by_index: dict[int, Call] = {}
        self._status = ""
        self._reason = ""
        self.done = False

    @property
    def finished(self) -> bool:
        """The vendor said that the answer is whole."""
        return bool(self._status)

    def feed(self, event: str, data: Mapping[str, Any]) -> list[ModelEvent]:
        """Take one event; raises ProviderError for ``error`` and ``response.failed``."""
        kind = data.get("type") or event
        if kind in _TEXT:
            return self._prose(data.get("delta"), thinking=False)
        if kind in _THINKING:
            return self._prose(data.get("delta"), thinking=True)
        if kind == "response.function_call_arguments.delta":
            call = self._call(data)
            return [self._answer.fragment(call, str(data.get("delta") or ""))]
        if kind == "response.output_item.added":
            return self._added(data)
        if kind == "response.output_item.done":
            return self._item_done(data)
        if kind in ("response.completed", "response.incomplete"):
            return self._ended(kind, data.get("response") or {})
        if kind == "response.created":
            self._answer.response_id = str((data.get("response") or {}).get("id") or "")
        elif kind == "response.failed":
            raise stream_failure(read_error(data.get("response") or {}), secret=self.secret)
        elif kind == "error" or data.get("error"):
            raise stream_failure(read_error(data), secret=self.secret)
        elif data.get("object") == "response":  # a server that ignored `stream`
            return self._ended("response.completed", data)
        return []

    def result(self) -> AssistantMessage:
        """The whole message; raises ProviderError when the stream was cut."""
        if not self._status:
            raise self.cut()
        if self._reason == "content_filter":
            return self._answer.message(
                StopReason.STOP,
                error_code="content_filter",
                error_message="The provider's content filter ended the answer.",
            )
        return self._answer.message(StopReason.LENGTH if self._status == "response.incomplete" else StopReason.STOP)

    def cut(self) -> ProviderError:
        """The error of a stream that stopped half way."""
        return ended_early(self._provider)

    def _prose(self, text: Any, *, thinking: bool) -> list[ModelEvent]:
        event = self._answer.prose(text, thinking=thinking) if isinstance(text, str) and text else None
        return [event] if event is not None else []

    def _call(self, data: Mapping[str, Any]) -> Call:
        """The call an event belongs to: by item id, else by place, else the newest."""
        item_id, index = data.get("item_id"), data.get("output_index")
        call = self._by_item.get(item_id) if isinstance(item_id, str) else None
        if call is None and isinstance(index, int):
            call = self._by_index.get(index)
        if call is None:
            call = self._answer.open_call()
            self._remember(call, item_id, index)
        return call

    def _remember(self, call: Call, item_id: Any, index: Any) -> None:
        if isinstance(item_id, str) and item_id:
            self._by_item[item_id] = call
        if isinstance(index, int):
            self._by_index[index] = call

    def _added(self, data: Mapping[str, Any]) -> list[ModelEvent]:
        item = data.get("item") or {}
        if item.get("type") != "function_call":
            return []
        call = self._answer.open_call(call_id=word(item.get("call_id")), name=word(item.get("name")))
        self._remember(call, item.get("id"), data.get("output_index"))
        return [self._answer.fragment(call, "", name=call.name)]

    def _item_done(self, data: Mapping[str, Any]) -> list[ModelEvent]:
        """The finished item: its arguments are the vendor's last word."""
        item = data.get("item") or {}
        if item.get("type") != "function_call":
            return []
        call = self._call({"item_id": item.get("id"), "output_index": data.get("output_index")})
        call.id = word(item.get("call_id")) or call.id
        call.name = word(item.get("name")) or call.name
        arguments = item.get("arguments")
        if isinstance(arguments, str) and arguments:
            if not call.pieces:
                return [self._answer.fragment(call, arguments, name=call.name)]
            call.pieces = [arguments]
        return []

    def _ended(self, kind: str, response: Mapping[str, Any]) -> list[ModelEvent]:
        if response.get("status") == "failed" or response.get("error"):
            raise stream_failure(read_error(response), secret=self.secret)
        self._status = kind
        if response.get("status") == "incomplete":
            self._status = "response.incomplete"
        self.done = True
        self._reason = str((response.get("incomplete_details") or {}).get("reason") or "")
        self._answer.response_id = str(response.get("id") or self._answer.response_id)
        usage = response.get("usage")
        if isinstance(usage, Mapping):
            self._answer.usage = responses_usage(usage)
        return self._whole(response.get("output")) if not self._answer.has_text and not self._answer.calls else []

    def _whole(self, output: Any) -> list[ModelEvent]:
        """Output that was not streamed before: some servers send only the end."""
        events: list[ModelEvent] = []
        for item in output if isinstance(output, list) else ():
            if item.get("type") == "function_call":
                call = self._answer.open_call(call_id=word(item.get("call_id")), name=word(item.get("name")))
                events.append(self._answer.fragment(call, str(item.get("arguments") or ""), name=call.name))
            elif item.get("type") == "message":
                for part in item.get("content") or ():
                    events += self._prose(part.get("text") or part.get("refusal"), thinking=False)
        return events


def responses_usage(usage: Mapping[str, Any]) -> Usage:
    """Token counts; `input` leaves out what came from the cache."""
    cached = count((usage.get("input_tokens_details") or {}).get("cached_tokens"))
    return Usage(
        input=max(0, count(usage.get("input_tokens")) - cached),
        output=count(usage.get("output_tokens")),
        cache_read=cached,
    )

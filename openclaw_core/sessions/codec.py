"""Messages as transcript lines and back (behaviour.md 2.4, observed.md 2)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from openclaw_core.domain.messages import (
    AssistantMessage,
    Block,
    ImageBlock,
    Message,
    StopReason,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultMessage,
    Usage,
    UserMessage,
)


def line_id(run_id: str, label: str) -> str:
    """Deterministic id of a line of a run, so that a replay appends nothing twice: 16 hex digits."""
    return hashlib.sha256(f"{run_id}\n{label}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def iso(ms: int) -> str:
    """Epoch milliseconds as ISO 8601 with milliseconds and Z."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def encode_line(message: Message, *, line: str, run_id: str, at: int) -> dict[str, Any]:
    """The ``message`` line of a transcript; `parentId` is filled in by the store."""
    return {
        "type": "message",
        "id": line,
        "parentId": None,
        "timestamp": iso(at),
        "runId": run_id,
        "message": encode(message),
    }


def encode(message: Message) -> dict[str, Any]:
    """The inner message object."""
    if isinstance(message, UserMessage):
        only_text = len(message.content) == 1 and isinstance(message.content[0], TextBlock)
        return {
            "role": "user",
            "content": message.text if only_text else [_block(b) for b in message.content],
            "timestamp": message.timestamp,
        }
    if isinstance(message, AssistantMessage):
        return _encode_assistant(message)
    out: dict[str, Any] = {
        "role": "toolResult",
        "toolCallId": message.tool_call_id,
        "toolName": message.tool_name,
        "content": [_block(b) for b in message.content],
        "isError": message.is_error,
        "timestamp": message.timestamp,
    }
    if message.details is not None:
        out["details"] = dict(message.details)
    return out


def _encode_assistant(message: AssistantMessage) -> dict[str, Any]:
    usage = message.usage
    out: dict[str, Any] = {
        "role": "assistant",
        "content": [_block(b) for b in message.content],
        "api": message.api,
        "provider": message.provider,
        "model": message.model,
        "usage": {
            "input": usage.input,
            "output": usage.output,
            "cacheRead": usage.cache_read,
            "cacheWrite": usage.cache_write,
            "totalTokens": usage.total,
            "cost": {"total": usage.cost},
        },
        "stopReason": message.stop_reason.value,
        "timestamp": message.timestamp,
        "durationMs": message.duration_ms,
        "responseId": message.response_id,
    }
    if message.error_message or message.error_code:
        out["errorMessage"] = message.error_message
        out["errorCode"] = message.error_code
    return out


def _block(block: Block) -> dict[str, Any]:
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text}
        case ThinkingBlock():
            out: dict[str, Any] = {"type": "thinking", "thinking": block.thinking}
            if block.signature is not None:
                out["thinkingSignature"] = block.signature
            if block.redacted is not None:
                out["redacted"] = block.redacted
            return out
        case ImageBlock():
            return {"type": "image", "data": block.data, "mimeType": block.mime_type}
        case ToolCallBlock():
            call: dict[str, Any] = {"type": "toolCall", "id": block.id, "name": block.name}
            if block.arguments is None:
                return {**call, "arguments": {}, "partialArgs": block.raw, "incomplete": True}
            return {**call, "arguments": dict(block.arguments)}


def decode(data: Mapping[str, Any]) -> Message | None:
    """The message of a line, None when the role is not known. Wrong types inside lose only the part."""
    match data.get("role"):
        case "user":
            return UserMessage(content=_blocks(data.get("content")), timestamp=_int(data.get("timestamp")))
        case "assistant":
            return _decode_assistant(data)
        case "toolResult":
            details = data.get("details")
            return ToolResultMessage(
                tool_call_id=str(data.get("toolCallId", "")),
                tool_name=str(data.get("toolName", "")),
                content=_blocks(data.get("content")),
                is_error=bool(data.get("isError")),
                timestamp=_int(data.get("timestamp")),
                details=details if isinstance(details, Mapping) else None,
            )
        case _:
            return None


def _decode_assistant(data: Mapping[str, Any]) -> AssistantMessage:
    raw = data.get("usage")
    usage: Mapping[str, Any] = raw if isinstance(raw, Mapping) else {}
    cost = usage.get("cost")
    total = cost.get("total", 0.0) if isinstance(cost, Mapping) else 0.0
    try:
        stop = StopReason(str(data.get("stopReason", "stop")))
    except ValueError:
        stop = StopReason.STOP
    return AssistantMessage(
        content=_blocks(data.get("content")),
        stop_reason=stop,
        provider=str(data.get("provider", "")),
        model=str(data.get("model", "")),
        api=str(data.get("api", "")),
        usage=Usage(
            input=_int(usage.get("input")),
            output=_int(usage.get("output")),
            cache_read=_int(usage.get("cacheRead")),
            cache_write=_int(usage.get("cacheWrite")),
            cost=float(total) if isinstance(total, int | float) else 0.0,
        ),
        timestamp=_int(data.get("timestamp")),
        duration_ms=_int(data.get("durationMs")),
        response_id=str(data.get("responseId", "")),
        error_message=str(data.get("errorMessage", "")),
        error_code=str(data.get("errorCode", "")),
    )


def _int(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0


def _blocks(content: Any) -> tuple[Block, ...]:
    if isinstance(content, str):
        return (TextBlock(text=content),)
    if not isinstance(content, list):
        return ()
    found = (_decode_block(item) for item in content if isinstance(item, Mapping))
    return tuple(block for block in found if block is not None)


def _decode_block(item: Mapping[str, Any]) -> Block | None:
    match item.get("type"):
        case "text":
            return TextBlock(text=str(item.get("text", "")))
        case "thinking":
            signature, redacted = item.get("thinkingSignature"), item.get("redacted")
            return ThinkingBlock(
                thinking=str(item.get("thinking", "")),
                signature=signature if isinstance(signature, str) else None,
                redacted=redacted if isinstance(redacted, str) else None,
            )
        case "image":
            return ImageBlock(data=str(item.get("data", "")), mime_type=str(item.get("mimeType", "image/png")))
        case "toolCall":
            arguments = item.get("arguments")
            complete = isinstance(arguments, Mapping) and not item.get("incomplete")
            return ToolCallBlock(
                id=str(item.get("id", "")),
                name=str(item.get("name", "")),
                arguments=dict(arguments) if complete and isinstance(arguments, Mapping) else None,
                raw=str(item.get("partialArgs", "")),
            )
        case _:
            return None

"""`chat.send`, `chat.history`, `chat.abort`: a conversation as a client shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openclaw_core.domain.ids import RunId
from openclaw_core.errors import InvalidRequest
from openclaw_core.gateway.methods.agent import begin, outcome_of, target
from openclaw_core.gateway.rpc import Call, method
from openclaw_core.runs.outcome import visible_text
from openclaw_core.sessions.keys import agent_of

_MAX_CHARS = 12_000


@method("chat.send")
async def chat_send(call: Call) -> dict[str, Any]:
    """Queue a message and answer at once; the reply comes as `chat` events."""
    run_id, key, new = await begin(call, channel="webchat")
    if new:
        return {"runId": run_id, "sessionKey": key, "status": "started"}
    done = await outcome_of(call, run_id, 0.0)
    return {"runId": run_id, "sessionKey": key, "status": "ok" if done is not None else "in_flight"}


@method("chat.history")
async def chat_history(call: Call) -> dict[str, Any]:
    """The last messages of a session, oldest first, without directives and cut to a sensible size."""
    _, key = target(call)
    limit = call.number("limit", 200, least=1, most=1000)
    call.watch(key)
    store = call.app.engine.store
    entry = await store.sessions.get(key)
    if entry is None:
        return {"sessionKey": key, "sessionId": None, "messages": []}
    messages: list[dict[str, Any]] = []
    async for line in store.transcripts.read(agent_of(key), entry.session_id):
        shown = _shown(line)
        if shown is not None:
            messages.append(shown)
            if len(messages) > 2 * limit:
                del messages[:limit]
    return {"sessionKey": key, "sessionId": entry.session_id, "messages": messages[-limit:]}


def _shown(line: Mapping[str, Any]) -> dict[str, Any] | None:
    message = line.get("message")
    if line.get("type") != "message" or not isinstance(message, Mapping):
        return None
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return None
    blocks = [_block(b, message.get("role") == "assistant") for b in content if isinstance(b, Mapping)]
    return {
        "id": line.get("id"),
        "role": message.get("role"),
        "timestamp": message.get("timestamp"),
        "content": [b for b in blocks if b is not None],
        **{k: message[k] for k in ("stopReason", "toolName", "toolCallId", "isError", "errorMessage") if k in message},
    }


def _block(block: Mapping[str, Any], assistant: bool) -> dict[str, Any] | None:
    kind = block.get("type")
    if kind == "text":
        text = str(block.get("text", ""))
        text = visible_text(text) if assistant else text
        return {"type": "text", "text": text[:_MAX_CHARS]} if text else None
    if kind == "toolCall":
        return {"type": "toolCall", "id": block.get("id"), "name": block.get("name")}
    if kind == "image":
        return {"type": "image", "mimeType": block.get("mimeType"), "omitted": True}
    return None


@method("chat.abort")
async def chat_abort(call: Call) -> dict[str, Any]:
    """Stop a run, or all runs of a session."""
    dispatcher = call.app.engine.dispatcher
    run_id = call.text("runId", "")
    if run_id:
        stopped = [run_id] if await dispatcher.cancel(RunId(run_id)) else []
    elif call.text("sessionKey", ""):
        _, key = target(call)
        stopped = [str(r) for r in await dispatcher.cancel_session(key)]
    else:
        raise InvalidRequest("Say what to stop: 'runId' or 'sessionKey'.")
    return {"ok": True, "aborted": bool(stopped), "runIds": stopped}

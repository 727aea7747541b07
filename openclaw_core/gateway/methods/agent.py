"""`agent` and `agent.wait`: start a run, look at its end (behaviour.md 1.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openclaw_core.domain.ids import AgentId, RunId, SessionKey
from openclaw_core.domain.journal import RunStatus
from openclaw_core.errors import InvalidRequest, NotFound, OpenClawError
from openclaw_core.gateway.attachments import attached_images
from openclaw_core.gateway.rpc import Call, Later, method
from openclaw_core.runs.hub import ended
from openclaw_core.sessions.keys import agent_id, agent_of, main_key, normalise

_MAX_ID = 256
_MAX_TEXT = 8 * 1024 * 1024


def target(call: Call) -> tuple[AgentId, SessionKey]:
    """The agent and session that a call means: `sessionKey` wins, else the agent's main session."""
    engine = call.app.engine
    named = call.text("agentId", "") or call.text("agent", "")
    agent = agent_id(named) if named else engine.agents.default_id
    text = call.text("sessionKey", "")
    key = normalise(text, agent) if text else main_key(agent, engine.loaded.config.session.main_key)
    owner = agent_of(key) if key.startswith("agent:") else agent
    if named and owner != agent:
        raise InvalidRequest(f"The session {key} belongs to the agent {owner}, not to {agent}.")
    engine.agents.get(owner)
    return owner, key


def idempotency_key(call: Call) -> RunId:
    """The required key; it is the run id."""
    text = call.text("idempotencyKey", "", limit=_MAX_ID).strip()
    if not text or not text.isprintable():
        raise InvalidRequest("The parameter 'idempotencyKey' is required.", hint="Send a fresh UUID for each message.")
    return RunId(text)


def message_body(call: Call) -> dict[str, Any]:
    """The journal body of a message from a caller."""
    body: dict[str, Any] = {"text": call.text("message", limit=_MAX_TEXT)}
    for name in ("model", "thinking"):
        if value := call.text(name, ""):
            body[name] = value
    if images := attached_images(call.params.get("attachments")):
        body["images"] = images
    return body


async def begin(call: Call, *, channel: str) -> tuple[RunId, SessionKey, bool]:
    """Accept the message; (run id, session key, whether it is new)."""
    if call.app.stopping:
        raise OpenClawError("The gateway is stopping.", code="gateway_unavailable", hint="Try again in a moment.")
    agent, key = target(call)
    run_id = idempotency_key(call)
    body = message_body(call)
    if model := body.get("model"):
        body["model"] = call.app.engine.models.resolve(str(model)).ref
    accepted = await call.app.engine.door.request(
        channel=channel, run_id=run_id, session_key=key, agent=agent, body=body, with_task=channel == "cli"
    )
    stored = accepted.row.item.session_key
    call.watch(stored)
    return run_id, stored, accepted.new


async def outcome_of(call: Call, run_id: RunId, timeout_s: float | None = None) -> Mapping[str, Any] | None:
    """The end of a run: of this process, or from the journal; None when it has not ended in time."""
    engine = call.app.engine
    known = engine.hub.outcome(run_id)
    if known is not None:
        return known
    row = await engine.store.journal.run(run_id)
    if row is not None and row.status is not RunStatus.ACTIVE:
        return ended(row)
    return await engine.hub.wait(run_id, timeout_s)


def raise_failure(outcome: Mapping[str, Any]) -> None:
    """A failed run is a failed call, with the error's own code."""
    if outcome["status"] == RunStatus.OK.value:
        return
    error = outcome.get("error") or {}
    details = {**error.get("details", {}), "runId": outcome["runId"], "status": outcome["status"]}
    if outcome.get("result"):
        details["result"] = outcome["result"]
    raise OpenClawError(
        str(error.get("message") or "The run failed."),
        code=str(error.get("code") or "run_failed"),
        hint=str(error.get("hint") or ""),
        details=details,
    )


@method("agent")
async def agent_run(call: Call) -> Later:
    """Start a run: first `{runId, acceptedAt, status: accepted}`, then the result under the same id."""
    run_id, key, new = await begin(call, channel="cli")

    async def final() -> dict[str, Any]:
        outcome = await outcome_of(call, run_id)
        if outcome is None:
            raise NotFound(f"The run {run_id} is not known.")
        raise_failure(outcome)
        return {"runId": run_id, "status": "ok", "summary": "completed", "result": outcome["result"]}

    first = {
        "runId": run_id,
        "sessionKey": key,
        "acceptedAt": call.app.engine.clock.now_ms(),
        "status": "accepted" if new else "in_flight",
    }
    return Later(first=first, final=final())


@method("agent.wait")
async def agent_wait(call: Call) -> dict[str, Any]:
    """Wait for a run's end; running out of time does not stop it."""
    run_id = RunId(call.text("runId", limit=_MAX_ID))
    timeout_ms = call.number("timeoutMs", 30_000, least=0, most=86_400_000)
    engine = call.app.engine
    row = await engine.store.journal.inbox_row(run_id)
    if row is None and engine.hub.outcome(run_id) is None:
        raise NotFound(f"The run {run_id} is not known.", hint="Look for it with `openclaw tasks list`.")
    outcome = await outcome_of(call, run_id, timeout_ms / 1000)
    if outcome is None:
        return {"runId": run_id, "status": "timeout"}
    out: dict[str, Any] = {
        "runId": run_id,
        "status": "ok" if outcome["status"] == "ok" else "error",
        "startedAt": outcome["startedAt"],
        "endedAt": outcome["endedAt"],
    }
    if outcome.get("error"):
        out["error"] = outcome["error"]
    return out

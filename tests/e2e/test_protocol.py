"""The WebSocket protocol from outside: handshake, refusals, frames, chat, events, bounds."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from client import Client, Refused
from home import Gateway, Home
from scripted import ScriptedModel, chat_text
from websockets.exceptions import ConnectionClosed

from openclaw_core.testing.fakes.wire import WireReply

Served = tuple[Home, Gateway, ScriptedModel]
HANG = WireReply(pieces=chat_text("thinking about it").pieces[:1], end="hang")


# ---- handshake ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high", "chosen"), [(3, 3, 3), (3, 4, 4), (4, 4, 4), (1, 9, 4)])
def test_both_protocols_are_spoken(
    served: Served, open_client: Callable[..., Client], low: int, high: int, chosen: int
) -> None:
    hello = open_client().connect(served[0].token(), low=low, high=high)
    assert (hello["type"], hello["protocol"]) == ("hello-ok", chosen)
    assert {"server", "features", "snapshot", "auth", "policy"} <= set(hello)
    assert {"health", "agent", "agent.wait", "chat.send"} <= set(hello["features"]["methods"])
    assert hello["policy"]["maxPayload"] == 26214400


def test_an_unknown_protocol_is_an_error_and_the_end(served: Served, open_client: Callable[..., Client]) -> None:
    client = open_client()
    with pytest.raises(Refused, match="protocol mismatch"):
        client.connect(served[0].token(), low=5, high=7)
    assert client.closed()[0] == 1008


@pytest.mark.parametrize("token", ["wrong", "", None, "\ud83d"])
def test_a_wrong_token_is_the_end(open_client: Callable[..., Client], token: str | None) -> None:
    client = open_client()
    with pytest.raises(Refused) as caught:
        client.connect(token)
    assert caught.value.code == "unauthorized"
    assert caught.value.error["code"] == "INVALID_REQUEST"
    assert client.closed()[0] == 1008


def test_a_method_before_connect_is_the_end(open_client: Callable[..., Client]) -> None:
    client = open_client()
    with pytest.raises(Refused):
        client.call("health")
    assert client.closed() == (1008, "connect first")


@pytest.mark.parametrize("text", ["hello", "[]", '{"type":"event"}', b"\x00binary", '{"type":"req","id":"1"}'])
def test_a_first_frame_that_is_no_request_is_the_end(open_client: Callable[..., Client], text: str | bytes) -> None:
    client = open_client()
    client.raw(text)
    assert client.closed()[0] == 1008


def test_a_first_frame_of_more_than_64_kib_is_the_end(open_client: Callable[..., Client]) -> None:
    client = open_client()
    client.raw(json.dumps({"type": "req", "id": "1", "method": "connect", "params": {"auth": {"token": "x" * 70_000}}}))
    assert client.closed()[0] == 1008


@pytest.mark.parametrize("scopes", ["operator.read", [{}], {"operator.admin": True}, [7]])
def test_scopes_of_a_wrong_shape_give_none(served: Served, open_client: Callable[..., Client], scopes: Any) -> None:
    client = open_client()
    with pytest.raises(Refused, match="scopes"):
        client.connect(served[0].token(), scopes=scopes)
    assert client.closed()[0] == 1008


# ---- scopes and methods ------------------------------------------------------------------------------


def test_asked_scopes_narrow(served: Served, open_client: Callable[..., Client]) -> None:
    client = open_client()
    hello = client.connect(served[0].token(), scopes=["operator.read", "operator.invented"])
    assert hello["auth"]["scopes"] == ["operator.read"]
    assert client.call("health")["ok"]
    for method, params in {
        "agent": {"message": "x", "idempotencyKey": "k"},
        "chat.abort": {"sessionKey": "main"},
        "sessions.reset": {"sessionKey": "main"},
        "config.get": {},
    }.items():
        with pytest.raises(Refused, match="missing scope") as caught:
            client.call(method, **params)
        assert caught.value.error["code"] == "INVALID_REQUEST"


def test_no_scope_hears_and_does_nothing(served: Served, open_client: Callable[..., Client], client: Client) -> None:
    deaf = open_client()
    deaf.connect(served[0].token(), scopes=[], caps=["events:all"])
    listener = open_client()
    listener.connect(served[0].token(), scopes=["operator.read"], caps=["events:all"])
    served[2].script(chat_text("secret"))
    client.run("say it", key="private")
    listener.until(lambda f: f.get("event") == "chat")
    with pytest.raises(Refused, match="missing scope"):
        deaf.call("health")
    assert not [e for e in deaf.events if e["event"] in ("agent", "chat")]


def test_an_unknown_method_is_named(client: Client) -> None:
    with pytest.raises(Refused, match=r"unknown method: no\.such") as caught:
        client.call("no.such")
    assert caught.value.error["code"] == "INVALID_REQUEST"
    assert client.call("health")["ok"]


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"req","id":"a","id":"b","method":"health"}',
        '{"type":"req","id":"a","method":"health","params":{"x":1,"x":2}}',
        '{"type":"req","id":"a","method":"health","params":{"x":NaN}}',
        '{"type":"req","id":"a","method":"health","params":{"x":Infinity}}',
        '{"type":"req","id":"a","method":"health","params":{"x":' + "[" * 100 + "]" * 100 + "}}",
        '{"type":"req","id":"a","method":"health","params":{"x":' + "[" * 100_000 + "]" * 100_000 + "}}",
        '{"type":"req","id":"a","method":"health","params":[]}',
        '{"type":"req","id":7,"method":"health"}',
        '{"type":"req","id":"a","method":"' + "m" * 200 + '"}',
        "{",
        b"binary",
    ],
    ids=[
        "double",
        "double-inside",
        "nan",
        "infinity",
        "deep",
        "very-deep",
        "list",
        "number-id",
        "long",
        "torn",
        "bytes",
    ],
)
def test_a_bad_frame_is_refused_and_the_connection_goes_on(client: Client, text: str | bytes) -> None:
    client.raw(text)
    frame = client.until(lambda f: f["type"] == "res")
    assert (frame["ok"], frame["error"]["code"]) == (False, "INVALID_REQUEST")
    assert client.call("health")["ok"]


def test_a_frame_over_the_limit_is_the_end_of_the_connection_only(served: Served, client: Client) -> None:
    with pytest.raises((ConnectionClosed, ConnectionError)):
        client.raw("x" * (26_214_400 + 1))
        client.frame()
    assert served[1].get("/healthz")[0] == 200


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("agent", {"message": "x"}),
        ("agent", {"message": "x", "idempotencyKey": " "}),
        ("agent", {"message": "", "idempotencyKey": "k"}),
        ("agent", {"message": 7, "idempotencyKey": "k"}),
        ("agent", {"message": "x", "idempotencyKey": "k", "agentId": "nobody"}),
        ("agent", {"message": "x", "idempotencyKey": "k", "model": "no/such"}),
        ("agent", {"message": "x", "idempotencyKey": "k", "sessionKey": "agent:chained:x", "agentId": "main"}),
        ("agent", {"message": "x", "idempotencyKey": "k", "attachments": "file"}),
        ("agent.wait", {"runId": "never-seen"}),
        ("agent.wait", {"runId": "r", "timeoutMs": -1}),
        ("chat.abort", {}),
        ("sessions.list", {"limit": 0}),
        ("sessions.list", {"agentId": 7}),
        ("audit.list", {"cursor": "no cursor"}),
        ("audit.list", {"after": True}),
        ("tasks.get", {"taskId": "none"}),
        ("trace.get", {"run": "none"}),
    ],
)
def test_wrong_parameters_say_which(client: Client, method: str, params: dict[str, Any]) -> None:
    with pytest.raises(Refused) as caught:
        client.call(method, **params)
    error = caught.value.error
    assert error["details"]["code"] != "internal", error
    assert error["message"]


# ---- runs ------------------------------------------------------------------------------------------------


def test_agent_answers_twice_under_one_id(served: Served, client: Client) -> None:
    served[2].script(chat_text("done"))
    ident = client.send("agent", message="x", sessionKey="twice", idempotencyKey="twice-1")
    first, second = client.answer(ident), client.answer(ident)
    assert (first["runId"], first["status"]) == ("twice-1", "accepted")
    assert first["acceptedAt"]
    assert (second["runId"], second["status"], second["summary"]) == ("twice-1", "ok", "completed")
    assert second["result"]["payloads"][0]["text"] == "done"
    ident = client.send("agent", message="x", sessionKey="twice", idempotencyKey="twice-1")
    client.answer(ident)
    assert client.answer(ident)["result"] == second["result"]
    assert len(served[2].requests) == 1


def test_waiting_in_vain_does_not_stop_the_run(served: Served, client: Client) -> None:
    served[2].script(HANG)
    client.answer(client.send("agent", message="x", sessionKey="patience", idempotencyKey="wait-1"))
    assert client.call("agent.wait", runId="wait-1", timeoutMs=50) == {"runId": "wait-1", "status": "timeout"}
    assert client.call("health")["runs"]["active"] == 1
    assert client.call("chat.abort", runId="wait-1") == {"ok": True, "aborted": True, "runIds": ["wait-1"]}
    waited = client.call("agent.wait", runId="wait-1", timeoutMs=10_000)
    assert (waited["status"], waited["error"]["code"]) == ("error", "aborted")
    assert waited["endedAt"] >= waited["startedAt"]
    assert client.call("chat.abort", runId="wait-1")["aborted"] is False


def test_chat_send_acknowledges_by_state(served: Served, client: Client) -> None:
    served[2].script(HANG)
    params: dict[str, Any] = {"message": "x", "sessionKey": "chatty", "idempotencyKey": "chat-1"}
    assert client.call("chat.send", **params)["status"] == "started"
    client.until(lambda f: f.get("event") == "chat" and f["payload"]["state"] == "delta")
    assert client.call("chat.send", **params)["status"] == "in_flight"
    client.call("chat.abort", sessionKey="chatty")
    end = client.until(lambda f: f.get("event") == "chat" and f["payload"]["state"] != "delta")
    assert end["payload"]["state"] == "aborted"
    assert end["payload"]["message"]["content"][0]["text"] == "thinking about it"
    assert client.call("chat.send", **params)["status"] == "ok"


def test_chat_events_end_with_the_whole_text(
    served: Served, open_client: Callable[..., Client], client: Client
) -> None:
    served[2].script(chat_text("one two three four", pieces=6, delay_s=0.2))
    other = open_client()
    other.connect(served[0].token())
    client.call("chat.send", message="x", sessionKey="events", idempotencyKey="events-1")
    final = client.until(lambda f: f.get("event") == "chat" and f["payload"]["state"] == "final")
    assert final["payload"]["message"] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "one two three four"}],
    }
    assert final["payload"]["sessionKey"] == "agent:main:events"
    agent = [e["payload"] for e in client.events if e["event"] == "agent"]
    assert [e["seq"] for e in agent] == list(range(1, len(agent) + 1))
    assert (agent[0]["stream"], agent[0]["data"]["phase"]) == ("lifecycle", "start")
    assert (agent[-1]["stream"], agent[-1]["data"]["phase"]) == ("lifecycle", "end")
    assert "".join(e["data"]["delta"] for e in agent if e["stream"] == "assistant") == "one two three four"
    numbers = [e["seq"] for e in client.events]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert other.call("health")["ok"]
    assert not [e for e in other.events if e["event"] in ("agent", "chat")]


def test_a_queued_message_that_is_taken_back_ends_too(served: Served, client: Client) -> None:
    served[2].script(HANG)
    for number in (1, 2):
        client.call("chat.send", message="x", sessionKey="queue", idempotencyKey=f"queue-{number}")
    assert client.call("chat.abort", runId="queue-2")["aborted"]
    end = client.event("chat", lambda payload: payload["state"] != "delta")
    assert (end["runId"], end["state"]) == ("queue-2", "aborted")
    client.call("chat.abort", runId="queue-1")
    assert client.call("agent.wait", runId="queue-1", timeoutMs=10_000)["status"] == "error"
    assert client.call("agent.wait", runId="queue-2", timeoutMs=10_000)["status"] == "error"


def test_a_reset_archives_also_while_a_run_goes_on(served: Served, client: Client) -> None:
    home, _, model = served
    model.script(chat_text("before"))
    client.run("remember", key="reset")
    old = next(s for s in client.call("sessions.list")["sessions"] if s["key"] == "agent:main:reset")["sessionId"]
    model.script(HANG)
    client.call("chat.send", message="x", sessionKey="reset", idempotencyKey="reset-1")
    client.until(lambda f: f.get("event") == "chat")
    answer = client.call("sessions.reset", sessionKey="reset")
    assert answer["ok"]
    assert answer["sessionId"] != old
    client.call("agent.wait", runId="reset-1", timeoutMs=10_000)
    assert not home.transcript(old).exists()
    archived = list(home.transcript(old).parent.glob(f"{old}.jsonl.reset.*"))
    assert len(archived) == 1
    roles = [json.loads(line)["message"]["role"] for line in archived[0].read_text().splitlines()[1:]]
    assert roles == ["user", "assistant", "user", "assistant"]
    model.script(chat_text("after"))
    client.run("who am I?", key="reset")
    assert "remember" not in json.dumps(model.bodies[0]["messages"])
    assert client.call("chat.history", sessionKey="reset")["sessionId"] == answer["sessionId"]


def test_history_hides_directives_and_images(served: Served, client: Client) -> None:
    served[2].script(chat_text("<think>hm</think>[[reply_to_current]] Hi\nMEDIA: /tmp/x.png"))
    client.run("x", key="shown")
    messages = client.call("chat.history", sessionKey="shown", limit=1)["messages"]
    assert [b["text"] for b in messages[0]["content"]] == ["Hi"]

"""Strangers at the gateway: pages of other origins, other hosts, guesses, clients that do not read or ask too much."""

from __future__ import annotations

import contextlib
import http.client
from collections.abc import Callable

import pytest
from client import Client, Refused
from home import Gateway, Home, scripted
from scripted import ScriptedModel, chat_text
from table import Table, user
from websockets.exceptions import ConnectionClosed, InvalidStatus

from openclaw_core.testing.fakes.wire import WireReply

Served = tuple[Home, Gateway, ScriptedModel]
HANG = WireReply(pieces=chat_text("thinking about it").pieces[:1], end="hang")


# ---- refusals before anything --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "http://127.0.0.1.evil.example", "null", "http://localhost:1", "file://", "http://[::1"],
)
def test_pages_of_other_origins_are_refused(served: Served, origin: str) -> None:
    with pytest.raises(InvalidStatus) as caught, Client(served[1].url, origin=origin):
        pass
    assert caught.value.response.status_code == 403


def test_the_own_origin_is_let_in(served: Served) -> None:
    with Client(served[1].url, origin=f"http://127.0.0.1:{served[1].port}") as client:
        assert client.connect(served[0].token())["protocol"] == 4


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "127.0.0.1.evil.example", "localhost.evil"])
def test_other_hosts_are_refused(served: Served, host: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served[1].port, timeout=5)
    connection.putrequest("GET", "/healthz", skip_host=True)
    connection.putheader("Host", host)
    connection.endheaders()
    assert connection.getresponse().status == 403
    connection.close()


def test_health_over_http_tells_strangers_nothing(served: Served) -> None:
    assert served[1].get("/healthz") == (200, {"ok": True, "status": "live"})
    status, body = served[1].get("/readyz")
    assert (status, set(body)) == (200, {"ready", "uptimeMs"})


# ---- bounds ------------------------------------------------------------------------------------------------


def test_a_client_that_does_not_read_is_cut_and_costs_nobody_else(table: Callable[..., Table]) -> None:
    seat = table()
    seat.model.script(chat_text("x"))
    seat.say()
    seat.foreign(*(user(f"{number} {'word ' * 2000}") for number in range(80)))
    with Client(seat.url, max_queue=1) as deaf:
        deaf.connect(seat.home.token())
        clients = seat.client.call("health")["clients"]
        for number in range(200):  # one after another, so that the server is stuck in writing when the bound is reached
            with contextlib.suppress(ConnectionClosed):
                deaf.send("chat.history", f"h{number}", sessionKey=seat.key)
            assert len(seat.client.call("chat.history", sessionKey=seat.key)["messages"]) == 82
            if seat.client.call("health")["clients"] < clients:
                break
        else:
            pytest.fail("the client was never cut")
    assert seat.client.call("health")["ok"]


def test_too_many_requests_at_once_are_refused(
    served: Served, open_client: Callable[..., Client], client: Client
) -> None:
    served[2].script(HANG)
    client.call("chat.send", message="x", sessionKey="crowd", idempotencyKey="crowd-1")
    asked = [client.send("agent.wait", f"w{n}", runId="crowd-1", timeoutMs=60_000) for n in range(80)]
    refused = client.until(lambda f: f["type"] == "res" and not f["ok"])
    assert refused["error"]["retryable"] is True
    assert refused["id"] in asked
    other = open_client()
    other.connect(served[0].token())
    assert other.call("chat.abort", runId="crowd-1")["aborted"]


def test_guessing_tokens_locks_the_guesser_out(
    home: Home, gateway: Callable[..., Gateway], scripted_model: ScriptedModel
) -> None:
    home.configure(scripted(scripted_model.port))
    running = gateway()
    answers = []
    for number in range(12):
        with Client(running.url) as client, pytest.raises(Refused) as caught:
            client.connect(home.token() if number == 11 else f"guess-{number}")
        answers.append(caught.value.error)
    assert all("retryAfterMs" not in a["details"] for a in answers[:10])
    assert all(0 < a["details"]["retryAfterMs"] <= 300_000 for a in answers[10:])
    assert running.get("/healthz")[0] == 200

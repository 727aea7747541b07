"""The whole way of a message through a real IRC server: answered once, also when the gateway is killed."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from home import Gateway, Home, free_port

pytestmark = pytest.mark.peer("ngircd")

CONFIG = """
[Global]
Name = irc.test.local
Info = test
Listen = 127.0.0.1
Ports = {port}
ServerUID = irc
ServerGID = irc
[Limits]
MaxConnectionsIP = 0
MaxPenaltyTime = 0
MaxNickLength = 30
[Options]
DNS = no
Ident = no
PAM = no
[Channel]
Name = #test
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[int]:
    program = shutil.which("ngircd") or shutil.which("ngircd", path="/usr/sbin:/sbin")
    assert program
    port = free_port()
    config = tmp_path / "ngircd.conf"
    config.write_text(CONFIG.format(port=port))
    process = subprocess.Popen([program, "-n", "-f", str(config)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    while b"Now listening" not in (line := process.stdout.readline()):
        assert line, "ngircd did not start"
    yield port
    process.kill()
    process.communicate()


@pytest.fixture
def human(server: int) -> Iterator[Callable[[str], Human]]:
    """Connect a person; disconnected after the test."""
    people: list[Human] = []

    def connect(nick: str) -> Human:
        people.append(Human(server, nick))
        return people[-1]

    yield connect
    for person in people:
        person.file.close()
        person.socket.close()


class Human:
    """A raw client that remembers everything it saw."""

    def __init__(self, port: int, nick: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.file = self.socket.makefile("rb")
        self.seen: list[str] = []
        self.raw(f"NICK {nick}", f"USER {nick} 0 * :A person")
        self.until(" 376 ", " 422 ")

    def raw(self, *lines: str) -> None:
        self.socket.sendall("".join(f"{line}\r\n" for line in lines).encode())

    def until(self, *parts: str) -> str:
        while True:
            line = self.file.readline().decode("utf-8", "replace").rstrip("\r\n")
            assert line, "the server closed the connection"
            self.seen.append(line)
            if line.startswith("PING"):
                self.raw("PONG" + line[4:])
            elif any(part in line for part in parts):
                return line

    def said(self, nick: str) -> list[str]:
        return [line.partition(" :")[2] for line in self.seen if line.startswith(f":{nick}!") and " PRIVMSG " in line]


def configuration(port: int) -> dict[str, Any]:
    irc = {
        "server": "127.0.0.1",
        "port": port,
        "tls": False,
        "nick": "clawbot",
        "channels": ["#test"],
        "dmPolicy": "allowlist",
        "allowFrom": ["alice"],
        "groups": {"#test": {}},
    }
    return {"channels": {"irc": irc}}


def test_direct_messages_mentions_and_strangers(
    home: Home, gateway: Callable[..., Gateway], server: int, human: Callable[[str], Human]
) -> None:
    home.configure(configuration(server))
    home.workspace.mkdir()
    (home.workspace / "note.md").write_text("kingfisher\n")
    alice, mallory = human("alice"), human("mallory")
    alice.raw("JOIN #test")
    alice.until(" 366 ")
    gateway()
    alice.until(":clawbot!", " 353 ") if not any("clawbot" in line for line in alice.seen) else None
    mallory.raw("PRIVMSG clawbot :read note.md")
    alice.raw("PRIVMSG clawbot :read note.md")
    alice.until("kingfisher")
    alice.raw("PRIVMSG #test :nobody asked the bot", "PRIVMSG #test :clawbot: read note.md")
    while "PRIVMSG #test" not in alice.until("kingfisher"):
        continue
    sessions = {s["key"] for s in home.json("sessions", "list")["sessions"]}
    assert sessions == {"agent:main:irc:dm:alice", "agent:main:irc:channel:#test"}
    assert all(len(line.encode()) <= 510 for line in alice.seen)
    assert mallory.said("clawbot") == []
    health = home.json("gateway", "call", "health")
    assert health["channels"]["irc"]["connected"] is True
    assert health["ingress"]["refused"] == {"sender_not_allowed": 1, "not_mentioned": 1}


def test_nothing_is_lost_or_doubled_when_the_gateway_is_killed(
    home: Home, gateway: Callable[..., Gateway], server: int, human: Callable[[str], Human]
) -> None:
    home.configure(configuration(server))
    home.workspace.mkdir()
    alice = human("alice")
    alice.raw("JOIN #test")
    alice.until(" 366 ")
    for number in range(3):
        (home.workspace / "note.md").write_text(f"marker-{number}\n")
        running = gateway()
        while not home.json("gateway", "call", "health")["channels"]["irc"]["connected"]:
            assert running.process.poll() is None
        alice.raw("PRIVMSG clawbot :read note.md")
        while True:
            counts = home.json("gateway", "call", "status")["journal"]
            if counts["accepted"] > number:
                break
        running.process.kill()
        running.process.wait()
        again = gateway()
        alice.until(f"marker-{number}", "may not have reached")
        while True:
            counts = home.json("gateway", "call", "status")["journal"]
            if counts["pending"] == 0 and counts["outbox_pending"] == 0 and counts["outbox_sending"] == 0:
                break
        assert again.stop() == 0
    shown = [sum(f"marker-{n}" in line for line in alice.said("clawbot")) for n in range(3)]
    told = sum("may not have reached" in line for line in alice.said("clawbot"))
    assert all(count <= 1 for count in shown), alice.said("clawbot")
    assert sum(shown) + told >= 3
    assert home.json("status")["journal"]["accepted"] == 3

"""A real ngircd, and a person with a bare socket."""

from __future__ import annotations

import asyncio
import shutil
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from openclaw_channel_irc.channel import IrcChannel
from openclaw_channel_irc.config import IrcConfig

from openclaw_core.sdk import ChannelEnv

CONFIG = """
[Global]
Name = irc.test.local
Info = test
Listen = 127.0.0.1
Ports = {port}
ServerUID = irc
ServerGID = irc
{password}
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


class Server:
    """ngircd on a free port."""

    def __init__(self, folder: Path, password: str = "") -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self._config = folder / f"{self.port}.conf"
        line = f"Password = {password}" if password else ""
        self._config.write_text(CONFIG.format(port=self.port, password=line))
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        program = shutil.which("ngircd") or shutil.which("ngircd", path="/usr/sbin:/sbin")
        assert program
        self._process = await asyncio.create_subprocess_exec(
            program, "-n", "-f", str(self._config), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        assert self._process.stdout
        async with asyncio.timeout(10):
            while b"Now listening" not in (line := await self._process.stdout.readline()):
                assert line, "ngircd did not start"

    async def stop(self) -> None:
        if self._process and self._process.returncode is None:
            self._process.kill()
            assert self._process.stdout
            await self._process.stdout.read()
            await self._process.wait()


class Human:
    """A raw IRC client."""

    def __init__(self, port: int, nick: str) -> None:
        self.port = port
        self.nick = nick

    async def connect(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self.port)
        await self.raw(f"NICK {self.nick}", "USER human 0 * :A person")
        await self.line(" 376 ", " 422 ")

    async def raw(self, *lines: str) -> None:
        self._writer.write("".join(f"{line}\r\n" for line in lines).encode())
        await self._writer.drain()

    async def join(self, channel: str = "#test") -> None:
        await self.raw(f"JOIN {channel}")
        await self.line(" 366 ")

    async def line(self, *parts: str) -> str:
        """The next line that holds one of `parts`."""
        return (await self.raw_line(*parts)).decode()

    async def raw_line(self, *parts: str) -> bytes:
        async with asyncio.timeout(10):
            while True:
                line = await self._reader.readline()
                assert line, "the server closed the connection"
                if line.startswith(b"PING"):
                    await self.raw("PONG" + line[4:].decode().rstrip())
                elif any(part.encode() in line for part in parts):
                    return line

    async def heard(self) -> str:
        """The text of the next PRIVMSG."""
        return (await self.line(" PRIVMSG ")).rstrip("\r\n").partition(" PRIVMSG ")[2].partition(" :")[2]

    async def close(self) -> None:
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            pass


@pytest.fixture
def server_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ngircd changes to another user before it reads its configuration again, so the folder is open."""
    folder = tmp_path_factory.mktemp("ngircd")
    for one in (folder, folder.parent, folder.parent.parent):
        if one.stat().st_mode & 0o077 == 0 and one.name.startswith(("pytest-", "ngircd")):
            one.chmod(0o755)
    return folder


@pytest.fixture
async def server(server_folder: Path) -> AsyncIterator[Server]:
    one = Server(server_folder)
    await one.start()
    yield one
    await one.stop()


@pytest.fixture
async def locked_server(server_folder: Path) -> AsyncIterator[Server]:
    """One that asks for the password ``right``."""
    one = Server(server_folder, password="right")
    await one.start()
    yield one
    await one.stop()


@pytest.fixture
async def human(server: Server) -> AsyncIterator[Human]:
    one = Human(server.port, "Alice")
    await one.connect()
    yield one
    await one.close()


MakeChannel = Callable[..., IrcChannel]


@pytest.fixture
def make_channel(server: Server, tmp_path: Path) -> MakeChannel:
    """A channel on the server; keyword arguments are configuration keys, `options` those of IrcChannel."""

    def make(options: dict[str, Any] | None = None, **keys: Any) -> IrcChannel:
        section = {"server": "127.0.0.1", "port": server.port, "nick": "bot", "lineIntervalMs": 0} | keys
        env = ChannelEnv(channel_id="irc", config=IrcConfig.model_validate(section), state_dir=str(tmp_path))
        return IrcChannel(env, **(options or {}))

    return make

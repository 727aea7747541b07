"""The real model server `@copilotkit/aimock` as a child process of a test."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import httpx

_LISTENING = re.compile(rb"listening on (http://[0-9.:]+)")


class Aimock:
    """Starts the server on a free loopback port with these fixtures; use as async context manager.

    `command` is what starts it (see tests/support/peers.py); `folder` takes the fixture file.
    """

    def __init__(self, command: Sequence[str], fixtures: Sequence[Mapping[str, Any]], folder: Path) -> None:
        self._command = list(command)
        self._file = folder / "aimock.json"
        self._file.write_text(json.dumps({"fixtures": list(fixtures)}), encoding="utf-8")
        self._process: asyncio.subprocess.Process | None = None
        self.base = ""
        """Address without a path; OpenAI's base URL is this plus ``/v1``."""

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            *("--port", "0", "--fixtures", str(self._file), "--strict", "--chunk-size", "7"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        assert self._process.stdout is not None
        async with asyncio.timeout(30):
            seen = b""
            while not (match := _LISTENING.search(seen)):
                line = await self._process.stdout.readline()
                if not line:
                    raise RuntimeError(f"aimock did not start: {seen.decode('utf-8', 'replace')}")
                seen += line
        self.base = match[1].decode()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        process = self._process
        assert process is not None
        if process.returncode is None:
            process.kill()
        await process.communicate()

    async def journal(self) -> list[dict[str, Any]]:
        """The requests so far, with their bodies, as the server logged them."""
        async with httpx.AsyncClient(trust_env=False) as client:
            entries: list[dict[str, Any]] = (await client.get(f"{self.base}/__aimock/journal")).json()
        return entries

"""All transcripts of a state directory."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from openclaw_core.sdk import AgentId, Clock, InvalidRequest, SessionBusy, SessionId
from openclaw_store_sqlite.lines import parse, split
from openclaw_store_sqlite.places import SAFE, Places, sync_dir
from openclaw_store_sqlite.session_lock import Holder
from openclaw_store_sqlite.tail import TailCache
from openclaw_store_sqlite.transcript import JsonlTranscript
from openclaw_store_sqlite.writer import Writer

_BLOCK = 256 * 1024
_POLL_FIRST_S, _POLL_LAST_S, _POLL_FACTOR = 0.02, 0.2, 1.6


class JsonlTranscripts:
    """See openclaw_core.contracts.store.Transcripts."""

    def __init__(self, writer: Writer, places: Places, cache: TailCache, clock: Clock) -> None:
        self._writer = writer
        self._places = places
        self._cache = cache
        self._clock = clock
        self._open: set[JsonlTranscript] = set()

    @asynccontextmanager
    async def open(
        self, agent_id: AgentId, session_id: SessionId, *, owner: str, cwd: str, timeout_s: float
    ) -> AsyncIterator[JsonlTranscript]:
        """See Transcripts."""
        path = self._places.transcript(agent_id, session_id)
        transcript = JsonlTranscript(self._writer, self._cache, path, session_id=session_id, owner=owner, cwd=cwd)
        try:
            await self._acquire(transcript, session_id, timeout_s)
            self._open.add(transcript)
            yield transcript
        finally:
            self._open.discard(transcript)
            closed = self._writer.post(transcript.close)  # queued now: a cancelled caller gives up its lock too
            if closed is not None:
                await closed

    async def _acquire(self, transcript: JsonlTranscript, session_id: SessionId, timeout_s: float) -> None:
        deadline = self._clock.monotonic() + timeout_s
        delay = _POLL_FIRST_S
        while True:
            holder = await self._writer.file(transcript.try_open)
            if holder is None:
                return
            left = deadline - self._clock.monotonic()
            if left <= 0:
                raise _busy(session_id, holder, f"{transcript.path}.lock")
            await self._clock.sleep(min(delay, left))
            delay = min(delay * _POLL_FACTOR, _POLL_LAST_S)

    async def read(self, agent_id: AgentId, session_id: SessionId) -> AsyncIterator[Mapping[str, Any]]:
        """See Transcripts; nothing for a transcript that is not there."""
        path = self._places.transcript(agent_id, session_id)
        try:
            fd = await asyncio.to_thread(os.open, path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return
        try:
            offset, rest = 0, b""
            while True:
                found, size, rest = await asyncio.to_thread(_next_lines, fd, offset, rest)
                for value in found:
                    yield value
                if size == 0:
                    break
                offset += size
        finally:
            os.close(fd)

    async def exists(self, agent_id: AgentId, session_id: SessionId) -> bool:
        """See Transcripts."""
        path = self._places.transcript(agent_id, session_id)
        return await self._writer.file(path.is_file)

    async def archive(self, agent_id: AgentId, session_id: SessionId, *, reason: str, at: int) -> None:
        """See Transcripts; a transcript that is not there is none to archive."""
        path = self._places.transcript(agent_id, session_id)
        if not SAFE.fullmatch(reason):
            raise InvalidRequest(f"'{reason[:80]!r}' is not a reason for an archive.", hint="Use reset or deleted.")
        stamp = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        base = f"{path.name}.{reason}.{stamp.replace(':', '-')}"
        await self._writer.file(lambda: self._rename(path, base))

    def _rename(self, path: Path, base: str) -> None:
        if not path.exists():
            return
        target, number = path.with_name(base), 1
        while target.exists():  # two in one millisecond
            target, number = path.with_name(f"{base}-{number}"), number + 1
        path.rename(target)
        sync_dir(path.parent)
        self._cache.take(path)

    def abandon(self) -> None:
        """Let go of all open transcripts as a killed process would."""
        for transcript in self._open:
            transcript.abandon()
        self._open.clear()


def _busy(session_id: str, holder: Holder, path: str) -> SessionBusy:
    who = f"process {holder.pid}" if holder.pid else "another process"
    return SessionBusy(
        f"Session {session_id} is in use by {who} ({path}).",
        details={"pid": holder.pid, "path": path, "owner": holder.owner, "createdAt": holder.created_at},
    )


def _next_lines(fd: int, offset: int, rest: bytes) -> tuple[list[dict[str, Any]], int, bytes]:
    """Lines of the next block of a file; `rest` is the begun line before it. Bytes read are 0 at the end."""
    block = os.pread(fd, max(_BLOCK, len(rest)), offset)
    if not block:
        last = parse(rest.rstrip(b"\0")) if rest else None
        return ([last] if last is not None else []), 0, b""
    chunk = rest + block
    cut = chunk.rfind(b"\n") + 1
    return [line.value for line in split(chunk[:cut], 0) if line.value is not None], len(block), chunk[cut:]

from __future__ import annotations

import fcntl
import json
import os
import resource
import signal
import stat
from collections.abc import Iterable
from datetime import date
from pathlib import Path

import pytest
from openclaw_audit_jsonl.config import JsonlConfig
from openclaw_audit_jsonl.dayfile import DayFile, remove_old
from openclaw_audit_jsonl.plugin import openclaw_audit_sinks
from openclaw_audit_jsonl.sink import JsonlSink

from openclaw_core.sdk import AuditSinkEnv, StoreError
from openclaw_core.testing.contracts.audit import AuditSinkContract, SinkCase, audit_event


def read_back(state_dir: str) -> Iterable[dict[str, object]]:
    for path in sorted((Path(state_dir) / "audit").glob("*.jsonl")):
        for line in path.read_bytes().split(b"\n")[:-1]:
            yield json.loads(line)


class TestJsonlSink(AuditSinkContract):
    @pytest.fixture
    def sink_case(self) -> SinkCase:
        return SinkCase(JsonlSink, read_back)


DAY = 86_400_000


async def test_an_event_goes_to_the_file_of_its_day_and_files_are_private(tmp_path: Path) -> None:
    sink = JsonlSink(AuditSinkEnv(state_dir=str(tmp_path)), today=lambda: date(1970, 1, 5))
    await sink.write([audit_event(0, occurred_at=n * DAY) for n in (0, 1, 1, 3, 0)])
    await sink.aclose()
    counts = {p.name: len(p.read_text().splitlines()) for p in (tmp_path / "audit").iterdir()}
    assert counts == {"audit-1970-01-01.jsonl": 2, "audit-1970-01-02.jsonl": 2, "audit-1970-01-04.jsonl": 1}
    assert {stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "audit").iterdir()} == {0o600}
    assert stat.S_IMODE((tmp_path / "audit").stat().st_mode) == 0o700


async def test_old_files_go_and_strangers_stay(tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    folder.mkdir()
    names = [
        "audit-2025-12-31.jsonl",
        "audit-2026-01-01.jsonl",
        "audit-2026-99-99.jsonl",
        "notes.txt",
        "audit-old.jsonl",
    ]
    for name in names:
        (folder / name).write_text("{}\n")
    sink = JsonlSink(
        AuditSinkEnv(state_dir=str(tmp_path), config=JsonlConfig(keep_days=30)), today=lambda: date(2026, 1, 31)
    )
    await sink.write([audit_event(0)])
    await sink.aclose()
    left = {p.name for p in folder.iterdir()}
    assert set(names) - left == {"audit-2025-12-31.jsonl"}
    remove_old(tmp_path / "missing", keep_days=1, today=date(2026, 1, 1))


async def test_a_torn_line_stays_alone(tmp_path: Path) -> None:
    sink = JsonlSink(AuditSinkEnv(state_dir=str(tmp_path)))
    await sink.write([audit_event(0)])
    await sink.aclose()
    path = next((tmp_path / "audit").iterdir())
    with path.open("ab") as stream:
        stream.write(b'{"eventId":"to')
    sink = JsonlSink(AuditSinkEnv(state_dir=str(tmp_path)))
    await sink.write([audit_event(1)])
    await sink.aclose()
    lines = path.read_bytes().split(b"\n")
    assert [json.loads(lines[0])["eventId"], lines[1], json.loads(lines[2])["eventId"]] == [
        "event-0",
        b'{"eventId":"to',
        "event-1",
    ]


def test_a_write_that_does_not_fit_leaves_whole_lines(tmp_path: Path) -> None:
    """A file size limit cuts the write as a full disk does; a child process, because the limit stays."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            file = DayFile(tmp_path, date(2026, 1, 1))
            file.append(b"a" * 99 + b"\n")
            resource.setrlimit(resource.RLIMIT_FSIZE, (150, 150))
            try:
                file.append(b"b" * 99 + b"\n")
            except StoreError:
                code = 0 if file.path.read_bytes() == b"a" * 99 + b"\n" else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


async def test_a_link_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "audit-1970-01-01.jsonl").symlink_to(tmp_path / "elsewhere")
    sink = JsonlSink(AuditSinkEnv(state_dir=str(tmp_path)), today=lambda: date(1970, 1, 1))
    with pytest.raises(StoreError):
        await sink.write([audit_event(0, occurred_at=0)])
    assert not (tmp_path / "elsewhere").exists()
    await sink.aclose()


async def test_the_event_loop_is_free_while_another_process_holds_the_lock(tmp_path: Path) -> None:
    import asyncio

    sink = JsonlSink(AuditSinkEnv(state_dir=str(tmp_path)))
    await sink.write([audit_event(0)])
    path = next((tmp_path / "audit").iterdir())
    with path.open("rb") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        writing = asyncio.ensure_future(sink.write([audit_event(1)]))
        done, _ = await asyncio.wait([writing], timeout=0.1)
        assert not done
        assert len(path.read_bytes().splitlines()) == 1
        fcntl.flock(holder, fcntl.LOCK_UN)
    await writing
    assert len(path.read_bytes().splitlines()) == 2
    await sink.aclose()


def test_the_spec_is_off_by_default_and_its_parts_exist() -> None:
    (spec,) = openclaw_audit_sinks()
    assert (spec.id, spec.default_on) == ("jsonl", False)
    assert spec.factory == f"{JsonlSink.__module__}:{JsonlSink.__name__}"
    assert spec.config_model == f"{JsonlConfig.__module__}:{JsonlConfig.__name__}"

"""Watching the file: bad edits change nothing, good ones arrive."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from openclaw_core.config.loader import LoadedConfig, load_config
from openclaw_core.config.paths import StatePaths
from openclaw_core.config.watcher import RETRY_POLLS, ConfigWatcher


class SteppedClock:
    """Time that passes one sleep at a time, when the test says so."""

    def __init__(self) -> None:
        self._sleeping = asyncio.Event()
        self._wake: asyncio.Future[None] | None = None
        self.slept: list[float] = []

    def now_ms(self) -> int:
        return 0

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._wake = asyncio.get_running_loop().create_future()
        self._sleeping.set()
        await self._wake

    async def step(self) -> None:
        """Let one sleep end and wait for the next one."""
        await self._sleeping.wait()
        self._sleeping.clear()
        assert self._wake is not None
        self._wake.set_result(None)
        await self._sleeping.wait()


class Rig:
    def __init__(self, paths: StatePaths) -> None:
        self.paths = paths
        self.clock = SteppedClock()
        self.changes: list[int] = []
        self.watcher = ConfigWatcher(
            paths, load_config(paths, environ={}), clock=self.clock, on_change=self.changed, environ={}
        )
        self.number = 0

    async def changed(self, loaded: LoadedConfig) -> None:
        self.changes.append(loaded.config.gateway.port)

    async def edit(self, text: str, path: Path | None = None) -> None:
        """Change the file, and let the poll and the quiet period pass."""
        self.number += 1
        target = path or self.paths.config_file
        target.write_text(text + " " * self.number)
        for _ in range(3):
            await self.clock.step()


@pytest.fixture
async def rig(openclaw_paths: StatePaths) -> AsyncIterator[Rig]:
    openclaw_paths.config_file.write_text("{gateway: {port: 1}}")
    rig = Rig(openclaw_paths)
    task = asyncio.create_task(rig.watcher.run())
    yield rig
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_good_edit_arrives_after_the_quiet_period(rig: Rig) -> None:
    await rig.edit("{gateway: {port: 2}}")
    assert rig.changes == [2]
    assert rig.watcher.current.config.gateway.port == 2
    assert 0.3 in rig.clock.slept
    assert rig.paths.last_good.read_text().startswith("{gateway: {port: 2}}")
    assert rig.paths.last_good.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("bad", ["", "{gateway: {po", "{bogus: 1}", "[]", "{gateway: {port: 'x'}}"])
async def test_a_bad_edit_leaves_the_last_good_in_force(rig: Rig, bad: str) -> None:
    await rig.edit(bad)
    assert rig.watcher.problem is not None
    assert rig.changes == []
    assert rig.watcher.current.config.gateway.port == 1
    assert "port: 1" in rig.paths.last_good.read_text()
    assert rig.paths.config_file.read_text().strip() == bad
    await rig.edit("{gateway: {port: 3}}")
    assert rig.watcher.problem is None
    assert rig.changes == [3]


async def test_a_problem_is_logged_once(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    import logging

    with caplog.at_level(logging.ERROR, logger="openclaw"):
        logging.getLogger("openclaw").addHandler(caplog.handler)
        try:
            await rig.edit("{gateway: {po")
            for _ in range(RETRY_POLLS * 3):
                await rig.clock.step()
        finally:
            logging.getLogger("openclaw").removeHandler(caplog.handler)
    assert len({id(r) for r in caplog.records if "bad configuration" in r.getMessage()}) == 1


async def test_a_removed_file_does_not_mean_defaults(rig: Rig) -> None:
    rig.paths.config_file.unlink()
    for _ in range(3):
        await rig.clock.step()
    assert rig.changes == []
    assert rig.watcher.problem is not None
    assert rig.watcher.current.config.gateway.port == 1


async def test_an_editor_that_truncates_and_writes_fifty_times(rig: Rig) -> None:
    for number in range(50):
        await rig.edit("")
        assert rig.watcher.current.config.gateway.port == (100 + number - 1 if number else 1)
        await rig.edit(f"{{gateway: {{port: {100 + number}}}}}")
    assert rig.changes == [100 + n for n in range(50)]
    assert rig.watcher.problem is None


async def test_a_change_without_meaning_is_not_told(rig: Rig) -> None:
    await rig.edit("{gateway: {port: 1}} // a comment\n")
    assert rig.changes in ([], [1])
    await rig.edit("{gateway: {port: 1}} // a comment\n")
    assert rig.watcher.current.config.gateway.port == 1


async def test_an_included_file_counts(rig: Rig) -> None:
    part = rig.paths.state_dir / "part.json"
    part.write_text('{"port": 5}')
    await rig.edit('{gateway: {$include: "part.json"}}')
    await rig.edit('{"port": 6}', part)
    assert rig.changes == [5, 6]


async def test_a_listener_that_fails_does_not_end_the_watching(rig: Rig) -> None:
    calls = 0

    async def failing(loaded: LoadedConfig) -> None:
        nonlocal calls
        calls += 1
        raise RuntimeError("cannot apply")

    rig.watcher._on_change = failing
    await rig.edit("{gateway: {port: 2}}")
    await rig.edit("{gateway: {port: 3}}")
    assert calls == 2
    assert rig.watcher.current.config.gateway.port == 3

"""Several processes on one state directory."""

from __future__ import annotations

import asyncio
import fcntl
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import pytest
from openclaw_store_sqlite.owners import Owners
from openclaw_store_sqlite.store import SqliteStore

from openclaw_core.sdk import BootId, RunId
from openclaw_core.testing.contracts.store import StoreHouse
from openclaw_core.testing.contracts.store_backend import MAIN, message, reconcile, take, took

WORKER = """
import asyncio, sys
from openclaw_core.sdk import *
from openclaw_core.testing.contracts.store_backend import message, part, task, took
from openclaw_store_sqlite.store import SqliteStore

async def main(state, boot, count):
    store = SqliteStore(state)
    await store.start(BootId(boot), kind="local")
    session = f"agent:main:{boot}"

    async def one(number):
        item = message(number, session=session, event_key=f"{boot}-{number}", run_id=RunId(f"{boot}-{number}"))
        await store.journal.accept([item, message(number, event_key=f"shared-{number}", run_id=RunId(f"shared-{number}"))])

    await asyncio.gather(*(one(number) for number in range(count)))
    for number in range(count):
        claim = await took(store, boot, session=session)
        plan = FinishPlan(inbox_state=InboxState.ANSWERED, status=RunStatus.OK, at=1)
        await store.journal.finish(claim.fence, plan)
    await store.aclose()

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""

HOLDER = """
import asyncio, sys
from openclaw_core.sdk import BootId, StepRow, StepState
from openclaw_core.testing.contracts.store_backend import message, took
from openclaw_store_sqlite.store import SqliteStore

async def main(state):
    store = SqliteStore(state)
    await store.start(BootId("holder"), kind="gateway")
    await store.journal.accept([message(1), message(2)])
    claim = await took(store, "holder")
    await store.journal.write_steps(
        claim.fence, [StepRow(run_id=claim.fence.run_id, k=0, kind="model", name="m", state=StepState.DONE)]
    )
    print("held", flush=True)
    await asyncio.sleep(60)

asyncio.run(main(sys.argv[1]))
"""


async def start(code: str, *args: object) -> Process:
    return await asyncio.create_subprocess_exec(sys.executable, "-c", code, *map(str, args), stdout=PIPE, stderr=PIPE)


async def test_two_write_and_one_reads(house: StoreHouse, state: Path) -> None:
    """Started together on a new directory: nothing is lost, nothing is stored twice."""
    count = 40
    workers = [await start(WORKER, state, boot, count) for boot in ("one", "two")]
    reader = await house.open("reader", kind="reader")
    ends = [asyncio.ensure_future(worker.communicate()) for worker in workers]
    try:
        while not all(end.done() for end in ends):
            await reconcile(reader)
    finally:
        await asyncio.wait(ends)
    for worker, end in zip(workers, ends, strict=True):
        assert worker.returncode == 0, (await end)[1].decode()
    counts = await reconcile(reader)
    assert (counts["accepted"], counts["answered"], counts["pending"]) == (3 * count, 2 * count, count)
    assert not list((state / "locks").glob("boot-*"))


async def test_a_killed_process_is_dead_at_once(house: StoreHouse, state: Path) -> None:
    """Its run is respected while it lives and goes on in another process after SIGKILL; its file is removed."""
    holder = await start(HOLDER, state)
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"held\n"
    store = await house.open("boot-b")
    assert await take(store, "boot-b") is None
    held = await store.journal.holder(MAIN, BootId("boot-b"))
    assert held is not None
    assert held.owner == "holder"
    assert (state / "locks" / "boot-holder.lock").exists()
    holder.kill()
    await holder.communicate()
    claim = await took(store, "boot-b")
    assert (claim.fence.run_id, claim.fence.epoch, claim.resumed) == ("r1", 2, True)
    assert len(await store.journal.steps(RunId("r1"))) == 1
    assert [file.name for file in (state / "locks").glob("boot-*")] == ["boot-boot-b.lock"]


async def test_dead_files_are_removed_at_the_next_start(house: StoreHouse, state: Path) -> None:
    first = await house.open("boot-a")
    living = await house.open("boot-b")
    house.crash(first)
    assert {file.name for file in (state / "locks").glob("boot-*")} == {"boot-boot-a.lock", "boot-boot-b.lock"}
    await house.open("reader", kind="reader")
    assert (state / "locks" / "boot-boot-a.lock").exists()  # a reader leaves everything as it is
    await house.open("boot-c")
    assert {file.name for file in (state / "locks").glob("boot-*")} == {"boot-boot-b.lock", "boot-boot-c.lock"}
    await living.journal.accept([message(1)])


async def test_a_boot_id_is_taken_once(house: StoreHouse, state: Path) -> None:
    await house.open("boot-a")
    for boot in ("boot-a", "../x", ""):
        other = SqliteStore(str(state))
        with pytest.raises(Exception) as caught:  # its code is looked at
            await other.start(BootId(boot), kind="local")
        assert getattr(caught.value, "code", "") == "store_error"
        await other.aclose()


def test_looking_does_not_disturb(tmp_path: Path) -> None:
    """Two that look at once both see the truth, and an owner registers while it is looked at."""
    one, two, three = Owners(tmp_path), Owners(tmp_path), Owners(tmp_path)
    (tmp_path / "boot-gone.lock").touch()
    assert not one.alive("gone")
    assert (tmp_path / "boot-gone.lock").exists()  # only an owner removes
    one.register(BootId("x"))
    assert one.alive("x")
    assert two.alive("x")
    assert three.alive("x")
    two.register(BootId("y"))
    assert one.alive("y")
    assert not one.alive("gone")
    assert not (tmp_path / "boot-gone.lock").exists()
    assert not one.alive("../../etc/passwd")
    (tmp_path / "boot-gone.lock").touch()
    with (tmp_path / "boot-gone.lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)  # somebody else is looking at the same moment
        assert not three.alive("gone")
    (tmp_path / "boot-gone.lock").unlink()
    two.leave()
    two.leave()
    assert not one.alive("y")
    one.abandon()
    assert [path.name for path in three.dead()] == ["boot-x.lock"]
    three.remove(three.dead())
    assert three.dead() == []

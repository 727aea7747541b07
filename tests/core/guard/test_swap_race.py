"""A process swaps a name between a file inside and a link to a secret while we open it."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from openclaw_core.errors import ToolError
from openclaw_core.guard.listing import walk_beneath
from openclaw_core.guard.openat2 import available
from openclaw_core.guard.paths import Resolver, open_beneath, replace_beneath

# Of each of four kinds: 20,000 in all, 120,000 with OPENCLAW_SWEEP=1 (asked here because no test sees it).
OPENS = 30_000 if os.environ.get("OPENCLAW_SWEEP") == "1" else 5_000


def _swap_file(root: Path) -> None:
    os.symlink("../secret", root / "link.tmp")
    os.rename(root / "link.tmp", root / "f")
    with open(root / "file.tmp", "w") as stream:
        stream.write("inside")
    os.rename(root / "file.tmp", root / "f")


def _swap_directory(root: Path) -> None:
    os.rename(root / "d", root / "d.away")
    os.symlink("../evil", root / "d")
    os.unlink(root / "d")
    os.rename(root / "d.away", root / "d")


@pytest.fixture(params=["last component", "parent directory"])
def raced(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    root = tmp_path / "ws"
    (root / "d").mkdir(parents=True)
    (root / "d" / "f").write_text("inside")
    (root / "f").write_text("inside")
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil" / "f").write_text("secret")
    (tmp_path / "evil" / "only-outside").write_text("secret")
    swap: Callable[[Path], None] = _swap_file if request.param == "last component" else _swap_directory
    pid = os.fork()
    if pid == 0:
        try:
            while os.getppid() != 1:
                swap(root)
                # Of varying length, so that the two processes do not fall into step.
                for _ in range(random.randrange(2000)):
                    pass
        finally:
            os._exit(0)
    yield root, "f" if request.param == "last component" else "d/f"
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


@pytest.mark.parametrize("resolver", ["openat2", "walk"])
def test_no_open_escapes(raced: tuple[Path, str], resolver: Resolver) -> None:
    if resolver == "openat2" and not available():
        pytest.skip("this kernel has no openat2")
    root, path = raced
    tried = read = refused = 0
    while tried < OPENS or not (read and refused):
        tried += 1
        assert tried < 20 * OPENS, f"the race was not run: {read} read, {refused} refused"
        try:
            with open_beneath(root, path, resolver=resolver) as opened:
                assert os.read(opened.fd, 10) in (b"inside", b"")
                read += 1
        except ToolError:
            refused += 1


def test_no_write_escapes(raced: tuple[Path, str]) -> None:
    root, path = raced
    written = tried = 0
    while written < 5:
        tried += 1
        assert tried < 50_000, "hardly ever written: the race was not run"
        try:
            replace_beneath(root, path, b"inside", create_parents=False)
            written += 1
        except ToolError:
            continue
    assert (root.parent / "secret").read_text() == "secret"
    assert (root.parent / "evil" / "f").read_text() == "secret"
    assert sorted(p.name for p in (root.parent / "evil").iterdir()) == ["f", "only-outside"]


def test_no_walk_escapes(raced: tuple[Path, str]) -> None:
    root, _ = raced
    tried = entered = 0
    while tried < OPENS // 5 or not entered:
        tried += 1
        assert tried < 20 * OPENS, "hardly ever entered: the race was not run"
        paths = {entry.path for entry in walk_beneath(root)}
        assert "d/only-outside" not in paths
        entered += "d/f" in paths

from __future__ import annotations

import os
from pathlib import Path

import pytest

from openclaw_core.errors import ToolError, ToolRefused
from openclaw_core.guard.listing import list_beneath, walk_beneath


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    for folder in ("b/c", ".git/objects", "node_modules/x", "state/deep"):
        (root / folder).mkdir(parents=True)
    for file in ("a", "b/one", "b/c/two", ".git/HEAD", "node_modules/x/y", "state/deep/token"):
        (root / file).write_text(file)
    (root / "out").symlink_to("..")
    (root / "in").symlink_to("b")
    os.mkfifo(root / "pipe")
    return root


def test_a_listing_is_sorted_and_says_what_things_are(root: Path) -> None:
    listing = list_beneath(root)
    assert [(e.name, e.kind) for e in listing.entries] == [
        (".git", "directory"),
        ("a", "file"),
        ("b", "directory"),
        ("in", "link"),
        ("node_modules", "directory"),
        ("out", "link"),
        ("pipe", "other"),
        ("state", "directory"),
    ]
    assert (listing.entries[1].size, listing.truncated) == (1, False)
    assert listing.entries[1].modified_ms == (root / "a").stat().st_mtime_ns // 1_000_000
    assert [e.name for e in list_beneath(root, "in").entries] == ["c", "one"]


def test_a_listing_is_bounded(root: Path) -> None:
    listing = list_beneath(root, limit=3)
    assert (len(listing.entries), listing.truncated) == (3, True)
    assert list_beneath(root, limit=8).truncated is False


@pytest.mark.parametrize("path", ["out", "..", "/", "~", "a\0"])
def test_a_listing_stays_inside(root: Path, path: str) -> None:
    with pytest.raises(ToolRefused):
        list_beneath(root, path)
    with pytest.raises(ToolRefused):
        list(walk_beneath(root, path))


def test_a_file_is_no_directory(root: Path) -> None:
    with pytest.raises(ToolError):
        list_beneath(root, "a")
    with pytest.raises(ToolError):
        list_beneath(root, "pipe")


def test_a_walk_follows_no_link_and_skips_what_nobody_looks_for(root: Path) -> None:
    walk = walk_beneath(root)
    assert [e.path for e in walk] == [
        ".git",
        "a",
        "b",
        "b/c",
        "b/c/two",
        "b/one",
        "in",
        "node_modules",
        "out",
        "pipe",
        "state",
        "state/deep",
        "state/deep/token",
    ]
    assert (walk.truncated, walk.skipped) == (False, 0)
    assert [e.path for e in walk_beneath(root, "b")] == ["c", "c/two", "one"]


def test_a_walk_leaves_out_protected_places(root: Path) -> None:
    (root / "alias").symlink_to("state")
    assert not any("token" in e.path for e in walk_beneath(root, protected=[root / "state"]))
    assert [e.path for e in walk_beneath(root, "state", protected=[root / "state" / "deep"])] == []
    assert [e.path for e in walk_beneath(root, "alias", protected=[root / "state" / "deep"])] == []
    with pytest.raises(ToolRefused):
        list_beneath(root, "alias", protected=[root / "state"])


def test_a_walk_is_bounded(root: Path) -> None:
    walk = walk_beneath(root, max_entries=5)
    assert (len(list(walk)), walk.truncated) == (5, True)
    walk = walk_beneath(root, max_entries=13)
    assert (len(list(walk)), walk.truncated) == (13, False)
    walk = walk_beneath(root, max_depth=1)
    assert "b/c" in (found := [e.path for e in walk])
    assert "b/c/two" not in found
    assert walk.skipped == 2
    walk = walk_beneath(root, stop=lambda: True)
    assert (list(walk), walk.truncated) == ([], True)


def test_an_abandoned_walk_closes_its_directories(root: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        walk = iter(walk_beneath(root))
        for entry in walk:
            if entry.path == "b/c/two":
                break
        del walk
    assert len(os.listdir("/proc/self/fd")) == before


def test_names_that_are_no_text_survive(root: Path) -> None:
    raw = os.fsencode(root) + b"/\xff\xfe"
    with open(raw, "wb"):
        pass
    (entry,) = [e for e in list_beneath(root).entries if "\udcff" in e.name]
    assert os.fsencode(entry.name) == b"\xff\xfe"

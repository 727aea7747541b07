from __future__ import annotations

import codecs
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_tools_files.replacing import replace_all

from openclaw_core.sdk import ToolError, ToolRefused

if TYPE_CHECKING:
    from conftest import Run


async def test_write_makes_parents_and_replaces(workspace: Path, run: Run) -> None:
    result = await run("write", path="a/b/c.txt", content="héllo\r\n")
    assert result.details == {"bytes": 8}
    assert (workspace / "a/b/c.txt").read_bytes() == "héllo\r\n".encode()
    await run("write", file_path="a/b/c.txt", content="")
    assert (workspace / "a/b/c.txt").read_bytes() == b""
    assert stat.S_IMODE((workspace / "a/b/c.txt").stat().st_mode) == 0o600


@pytest.mark.parametrize("content", ["\ud83d", "x" * 10_000_001])
async def test_content_that_cannot_be_written(workspace: Path, run: Run, content: str) -> None:
    with pytest.raises(ToolError):
        await run("write", path="f", content=content)
    assert not (workspace / "f").exists()


async def test_hooks_of_git_are_out_of_reach(workspace: Path, run: Run) -> None:
    (workspace / ".git" / "hooks").mkdir(parents=True)
    (workspace / ".git" / "config").write_text("[core]\n")
    with pytest.raises(ToolRefused):
        await run("write", path=".git/hooks/pre-commit", content="#!/bin/sh\n")
    with pytest.raises(ToolRefused):
        await run("edit", path=".git/config", oldText="core", newText="x")


# ---- edit ------------------------------------------------------------------------------------


async def edited(workspace: Path, run: Run, data: bytes, **arguments: Any) -> bytes:
    (workspace / "f").write_bytes(data)
    await run("edit", path="f", **arguments)
    return (workspace / "f").read_bytes()


async def test_every_spelling_of_the_arguments(workspace: Path, run: Run) -> None:
    for arguments in (
        {"oldText": "b", "newText": "X"},
        {"old_string": "b", "new_string": "X"},
        {"edits": [{"oldText": "b", "newText": "X"}]},
        {"edits": [{"old_string": "b", "new_string": "X"}]},
    ):
        assert await edited(workspace, run, b"abc", **arguments) == b"aXc"
    assert (
        await edited(workspace, run, b"abc", oldText="a", newText="1", edits=[{"oldText": "c", "newText": ""}]) == b"1b"
    )
    for bad in ({}, {"oldText": "", "newText": "x"}, {"oldText": "b", "newText": "b"}, {"edits": []}):
        with pytest.raises(ToolError):
            await edited(workspace, run, b"abc", **bad)
        assert (workspace / "f").read_bytes() == b"abc"


async def test_bytes_around_the_change_stay(workspace: Path, run: Run) -> None:
    crlf = codecs.BOM_UTF8 + b"---\r\nname: x\r\n---\r\n\xff\xfe raw\r\n"
    assert await edited(workspace, run, crlf, oldText="---\nname: x\n", newText="---\nname: y\nnew: 1\n") == (
        codecs.BOM_UTF8 + b"---\r\nname: y\r\nnew: 1\r\n---\r\n\xff\xfe raw\r\n"
    )
    assert await edited(workspace, run, b"a\nb\n", oldText="a\r\nb", newText="x\r\ny") == b"x\ny\n"
    assert await edited(workspace, run, b"a\r\nb\nc\r\n", oldText="b\nc", newText="B\nC") == b"a\r\nB\r\nC\r\n"
    assert await edited(workspace, run, b"one", oldText="one", newText="1\r\n2") == b"1\r\n2"


async def test_not_found_and_ambiguous_texts_are_explained(workspace: Path, run: Run) -> None:
    data = b"def f():\n    return 1\nfoo\nfoo\n"
    for old, part in (
        ("bar", "oldText was not found in f. Read the file again"),
        ("def f(): return 1", "Line 1 has it with other white space"),
        ("foo", "oldText occurs 2 times in f (lines 3, 4)"),
    ):
        with pytest.raises(ToolError) as error:
            await edited(workspace, run, data, oldText=old, newText="x")
        assert part in error.value.message
        assert (workspace / "f").read_bytes() == data
    with pytest.raises(ToolError) as error:
        await edited(workspace, run, b"aaa", oldText="aa", newText="x")
    assert "occurs 2 times" in error.value.message


async def test_several_edits_happen_all_or_none(workspace: Path, run: Run) -> None:
    two = [{"oldText": "one", "newText": "two"}, {"oldText": "two", "newText": "one"}]
    assert await edited(workspace, run, b"one two", edits=two) == b"two one"
    for edits in (
        [*two, {"oldText": "three", "newText": "x"}],
        [{"oldText": "one t", "newText": "x"}, {"oldText": "two", "newText": "y"}],
    ):
        with pytest.raises(ToolError):
            await edited(workspace, run, b"one two", edits=edits)
        assert (workspace / "f").read_bytes() == b"one two"


async def test_binary_and_huge_files_are_not_edited(workspace: Path, run: Run) -> None:
    for data in (b"a\0b", b"x" * 10_000_001 + b"a"):
        with pytest.raises(ToolError):
            await edited(workspace, run, data, oldText="a", newText="b")


PIECES = st.lists(st.sampled_from(["a", "b", "\n", "\r\n", " "]), max_size=12).map("".join)


@given(PIECES, PIECES.filter(bool), PIECES, PIECES)
def test_replacing_changes_exactly_the_text(before: str, old: str, new: str, after: str) -> None:
    """Whatever the line ends: what stands before and after the only match is untouched."""
    text = before + old + after
    try:
        done = replace_all(text, [(old, new)], "f").text
    except ToolError as error:
        assert error.code in ("many_matches", "no_change")
        return
    assert done.startswith(before)
    assert done.endswith(after)
    assert done[len(before) : len(done) - len(after)].replace("\r\n", "\n") == new.replace("\r\n", "\n")

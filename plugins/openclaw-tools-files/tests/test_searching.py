from __future__ import annotations

import asyncio
import fnmatch
import os
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_tools_files.bounded import Deadline, in_thread
from openclaw_tools_files.pattern import glob, regular

from openclaw_core.sdk import TextBlock, ToolError, ToolResult

if TYPE_CHECKING:
    from conftest import Run


def text_of(result: ToolResult) -> str:
    return "".join(b.text for b in result.content if isinstance(b, TextBlock))


@pytest.fixture
def tree(workspace: Path) -> Path:
    for name, content in {
        "a.py": "import os\nclass A:\n    pass\n",
        "src/b.py": "class B:\n    x = 1\n",
        "src/deep/c.txt": "Class C\r\nno\r\n",
        ".git/config": "class hidden\n",
        "node_modules/m/x.py": "class M\n",
        ".env": "class dot\n",
        "bin": "\0class\n",
    }.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(content, newline="")
    (workspace / "out").symlink_to("/etc")
    (workspace / "alias.py").symlink_to("a.py")
    return workspace


async def test_ls(tree: Path, run: Run) -> None:
    (tree / "odd\nname").write_text("")
    lines = text_of(await run("ls")).split("\n")
    assert lines == [
        ".env  10 bytes",
        ".git/",
        "a.py  28 bytes",
        "alias.py  (link)",
        "bin  7 bytes",
        "node_modules/",
        "odd\\nname  0 bytes",
        "out  (link)",
        "src/",
    ]
    assert "Only 2 entries are shown" in text_of(await run("ls", limit=2))
    (tree / "empty").mkdir()
    assert text_of(await run("ls", path="empty")) == "The directory is empty."
    for path in ("out", "a.py", "src/../.."):
        with pytest.raises(ToolError):
            await run("ls", path=path)


async def test_find(tree: Path, run: Run) -> None:
    async def found(pattern: str, **more: object) -> list[str]:
        return text_of(await run("find", pattern=pattern, **more)).split("\n")

    assert await found("*.py") == ["a.py", "alias.py", "src/b.py"]
    assert await found("src/**/*.txt") == ["src/deep/c.txt"]
    assert await found("src/*") == ["src/b.py", "src/deep/"]
    assert await found("*.{txt,py}", path="src") == ["src/b.py", "src/deep/c.txt"]
    assert await found("[!.]*", path="./src/") == ["./src/b.py", "./src/deep/", "./src/deep/c.txt"]
    assert await found("*.rs") == ["No file matches *.rs."]
    assert "Only the first 1 results" in text_of(await run("find", pattern="*", limit=1))
    with pytest.raises(ToolError):
        await found("")


async def test_grep(tree: Path, run: Run) -> None:
    async def found(pattern: str, **more: object) -> list[str]:
        return text_of(await run("grep", pattern=pattern, **more)).split("\n")

    assert await found("^class [A-Z]:") == ["a.py:2: class A:", "alias.py:2: class A:", "src/b.py:1: class B:"]
    assert await found("CLASS", ignoreCase=True, glob="*.txt") == ["src/deep/c.txt:1: Class C"]
    assert await found("C$", path="src/deep") == ["src/deep/c.txt:1: Class C"]
    assert await found("s [AB]", path="a.py", context=1) == [
        "a.py-1- import os",
        "a.py:2: class A:",
        "a.py-3-     pass",
    ]
    assert await found("s|x", path="src/b.py", context=3) == [
        "src/b.py:1: class B:",
        "src/b.py:2:     x = 1",
        "src/b.py-3- ",
    ]
    assert await found("[A-Z]:", literal=True) == ["No line matches [A-Z]:."]
    assert "Stopped after 1 matches" in text_of(await run("grep", pattern="class", limit=1))
    assert "binary file is not searched" in text_of(await run("grep", pattern="class", path="bin"))
    for bad in ("(", "[", "*", "(?P<x>a)(?P<x>b)("):
        with pytest.raises(ToolError) as error:
            await found(bad)
        assert error.value.code == "bad_pattern"


async def test_the_answer_is_bounded(workspace: Path, run: Run) -> None:
    (workspace / "f").write_text(("x" * 3000 + "\n") * 2000)
    text = text_of(await run("grep", pattern="x", limit=100_000))
    assert len(text) < 52_000
    assert "[line cut]" in text
    for n in range(600):
        (workspace / f"{'n' * 200}{n}").write_text("")
    text = text_of(await run("find", pattern="n*", limit=100_000))
    assert len(text) < 51_000
    assert "Cut after" in text


@pytest.mark.parametrize("pattern", ["(a|a)+$", "^((a|aa)+)+$", "(.*?,){20}P"])
async def test_a_catastrophic_pattern_neither_hangs_nor_stops_the_loop(workspace: Path, run: Run, pattern: str) -> None:
    (workspace / "evil").write_text(("a" * 3000 + "!" if "a" in pattern else "," * 3000) + "\n")
    beats: list[float] = []
    done = asyncio.Event()

    async def beat() -> None:
        while not done.is_set():
            beats.append(time.monotonic())
            await asyncio.sleep(0.01)

    heart = asyncio.ensure_future(beat())
    with pytest.raises(ToolError) as error:
        await run("grep", pattern=pattern)
    done.set()
    await heart
    assert error.value.code == "too_slow"
    assert max(b - a for a, b in pairwise(beats)) < 0.5
    assert beats[-1] - beats[0] < 10


async def test_a_cancelled_search_stops_its_thread() -> None:
    started, ended = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def work(deadline: Deadline) -> None:
        loop.call_soon_threadsafe(started.set)
        while not deadline.over():
            os.sched_yield()
        loop.call_soon_threadsafe(ended.set)

    task = asyncio.ensure_future(in_thread(work, seconds=60))
    await started.wait()
    task.cancel()
    async with asyncio.timeout(5):
        await asyncio.wait([task])
        await ended.wait()
    assert task.cancelled()


PLAIN = ["a", "b", ".", "^", "$", r"\b", r"\s", r"\S", r"\W", "[^a]", "[ab]+", "a*", "a+?", "(a|b)", "|", "{2}", r"\n"]
PARTS = st.sampled_from([*PLAIN, r"\Z", r"\A", "(?=a)", "(?<!a)", "a++", "(?>a*)"])


@given(st.lists(PARTS, max_size=5).map("".join), st.lists(st.text("ab c", max_size=4), min_size=1, max_size=4))
def test_the_quick_look_never_misses_a_line(pattern: str, lines: list[str]) -> None:
    try:
        wanted = regular(pattern, ignore_case=False, literal=False)
    except ToolError:
        return
    deadline = Deadline(10)
    if wanted.surely_not_in(lines, deadline):
        assert not any(wanted.found_in(line, deadline) for line in lines)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.py", ["a.py", "x/a.py", ".py"], ["a.pyc", "a.py/x"]),
        ("/a", ["a", "b/a"], ["ab"]),
        ("./a/*", ["a/x"], ["a", "a/x/y", "b/a/x"]),
        ("a/**", ["a/x", "a/x/y"], ["a"]),
        ("**/a", ["a", "x/a", "x/y/a"], ["ba"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb"]),
        ("?", ["a"], ["", "ab"]),
        ("[a-c]x", ["ax", "y/bx"], ["dx", "/x"]),
        ("[!a]x", ["bx"], ["ax", "/x"]),
        ("[]x]", ["]", "x"], ["[", "a"]),
        ("[a", ["[a"], ["a"]),
        ("{a,b}{1,2}", ["a1", "b2"], ["a", "a3"]),
        ("{a,{b,c}}", ["a", "b", "c"], ["d"]),
        ("{a", ["{a"], ["a"]),
        ("a+(b)|c.", ["a+(b)|c."], ["ab", "c."]),
        ("ä*", ["äx"], ["ax"]),
        ("a\n", ["a\n"], ["a"]),
        ("a", ["a"], ["a\n"]),
    ],
)
def test_globs(pattern: str, yes: list[str], no: list[str]) -> None:
    compiled, deadline = glob(pattern), Deadline(10)
    assert [name for name in yes if not compiled.found_in(name, deadline)] == []
    assert [name for name in no if compiled.found_in(name, deadline)] == []


@given(st.text("ab*?[]!-.", min_size=1, max_size=8), st.text("ab-.!", min_size=1, max_size=6))
def test_simple_globs_agree_with_the_standard_library(pattern: str, name: str) -> None:
    if pattern.lstrip("./") != pattern or "**" in pattern:
        return
    try:
        ours = glob(pattern).found_in(name, Deadline(10))
    except ToolError:
        return  # an empty or reversed class
    assert ours == fnmatch.fnmatchcase(name, pattern)


@given(st.text(max_size=20))
def test_any_text_is_a_glob_or_a_clear_error(pattern: str) -> None:
    try:
        glob(pattern).found_in("a/b.txt", Deadline(10))
    except ToolError as error:
        assert error.code == "bad_pattern"

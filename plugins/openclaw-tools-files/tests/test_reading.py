from __future__ import annotations

import base64
import os
import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openclaw_tools_files.page import MAX_LINE, page_bytes
from openclaw_tools_files.reading import is_binary

from openclaw_core.sdk import ImageBlock, TextBlock, ToolEnv, ToolError, ToolRefused, ToolResult, recognise_picture

if TYPE_CHECKING:
    from conftest import Run


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"\0" * ((width + 1) * height)) if width * height < 10_000 else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def text_of(result: ToolResult) -> str:
    return "".join(b.text for b in result.content if isinstance(b, TextBlock))


async def test_text_as_it_is(workspace: Path, run: Run) -> None:
    (workspace / "a").write_bytes("one\r\ntwo\u2028still two\n\nfour".encode())
    assert text_of(await run("read", path="a")) == "one\ntwo\u2028still two\n\nfour"
    assert text_of(await run("read", file_path="a", offset=2, limit=1)) == (
        "two\u2028still two\n\n[Lines 2-2 of 4. Continue with offset=3.]"
    )
    assert text_of(await run("read", path="a", offset=4)) == "four\n\n[Lines 4-4 of 4, the end of the file.]"
    assert text_of(await run("read", path="a", offset=-5, limit=0)) == "one\ntwo\u2028still two\n\nfour"
    with pytest.raises(ToolError) as error:
        await run("read", path="a", offset=5)
    assert error.value.code == "past_end"
    (workspace / "empty").write_bytes(b"")
    assert text_of(await run("read", path="empty")) == "empty is empty."


async def test_pages_put_together_are_the_file(workspace: Path, run: Run) -> None:
    lines = [f"line {n} " + "ü" * (n % 90) for n in range(5000)]
    (workspace / "long").write_text("\n".join(lines))
    got: list[str] = []
    pages = 0
    while len(got) < len(lines):
        result = await run("read", path="long", offset=len(got) + 1)
        assert result.details is not None
        last = int(result.details["lastLine"])
        page = text_of(result).split("\n")[: last - len(got)]
        assert len(page) <= 2000
        assert len("\n".join(page).encode()) <= 50_000
        got += page
        pages += 1
    assert got == lines
    assert pages > 5


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ("äé".encode()[:-1], "ä\ufffd"),
        (b"ok \xff\xfe \xed\xa0\xbd end", "ok \ufffd\ufffd \ufffd\ufffd\ufffd end"),
        ("\ufeffmark".encode(), "mark"),
        (b"caf\xe9", "caf\ufffd"),
        (b"\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
    ],
)
async def test_bytes_that_are_no_utf8_are_text(workspace: Path, run: Run, data: bytes, shown: str) -> None:
    (workspace / "f.png").write_bytes(data)
    result = await run("read", path="f.png", ctx={"model_input": ("text", "image")})
    assert text_of(result) == shown
    assert len(result.content) == 1


@given(st.binary(max_size=300))
def test_any_bytes_are_either_binary_or_decodable(data: bytes) -> None:
    found = recognise_picture(data)
    assert found is None or data.startswith((b"\x89PNG", b"GIF8", b"RIFF", b"\xff\xd8\xff"))
    if not is_binary(data):
        assert "\0" not in data.decode("utf-8", "replace")
    assert is_binary(data + b"\0")


async def test_long_lines_are_cut(workspace: Path, run: Run) -> None:
    (workspace / "wide").write_text("ü" * 100_000 + "\nnext\n" + "y" * MAX_LINE)
    lines = text_of(await run("read", path="wide")).split("\n")
    assert lines == ["ü" * MAX_LINE + " [line cut: 200000 bytes]", "next", "y" * MAX_LINE]


async def test_a_binary_file_is_described(workspace: Path, run: Run) -> None:
    (workspace / "b").write_bytes(bytes(range(256)) * 4)
    assert text_of(await run("read", path="b")) == "b is a binary file of 1024 bytes; it is not shown."
    (workspace / "utf16").write_text("hello", encoding="utf-16")
    assert "binary" in text_of(await run("read", path="utf16"))


async def test_a_file_of_many_gigabytes_is_read_from_its_beginning(workspace: Path, run: Run) -> None:
    with open(workspace / "huge", "wb") as stream:
        stream.write(b"first\n" * 3000)
        stream.truncate(2 << 30)
    result = await run("read", path="huge")
    assert text_of(result).startswith("first\nfirst\n")
    assert "Continue with offset=2001.]" in text_of(result)


async def test_small_windows_get_small_pages(workspace: Path, run: Run) -> None:
    (workspace / "f").write_text("0123456789\n" * 5000)
    result = await run("read", path="f", ctx={"context_window": 16_000})
    assert len(text_of(result)) < 14_000
    assert (page_bytes(1_000_000), page_bytes(1000)) == (50_000, 4_000)


# ---- images ----------------------------------------------------------------------------------


async def test_images_are_seen_by_models_that_see(workspace: Path, run: Run) -> None:
    data = png(40, 30)
    (workspace / "picture.txt").write_bytes(data)
    result = await run("read", path="picture.txt", ctx={"model_input": ("text", "image")})
    text, image = result.content
    assert isinstance(text, TextBlock)
    assert text.text == f"picture.txt: image/png, 40 x 30 pixels, {len(data)} bytes"
    assert image == ImageBlock(data=base64.b64encode(data).decode(), mime_type="image/png")
    result = await run("read", path="picture.txt")
    assert len(result.content) == 1
    assert "cannot see images" in text_of(result)


@pytest.mark.parametrize("data", [png(9000, 10), png(10, 10) + b"\0" * 3_750_000])
async def test_images_that_vendors_refuse_are_described(workspace: Path, run: Run, data: bytes) -> None:
    (workspace / "big.png").write_bytes(data)
    result = await run("read", path="big.png", ctx={"model_input": ("text", "image")})
    assert len(result.content) == 1
    assert "Too large to show" in text_of(result)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (png(3, 4), ("image/png", 3, 4)),
        (b"GIF89a" + struct.pack("<HH", 5, 6), ("image/gif", 5, 6)),
        (b"\xff\xd8\xff\xe0\0\x10JFIF" + b"\0" * 10 + b"\xff\xc0\0\x11\x08\0\x07\0\x08\x03", ("image/jpeg", 8, 7)),
        (b"\xff\xd8\xff\xe0\0\x10JF", ("image/jpeg", 0, 0)),
        (b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0" + b"\x09\0\0\x0a\0\0", ("image/webp", 10, 11)),
        (b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", 11 | 12 << 14), ("image/webp", 12, 13)),
        (b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 10 + struct.pack("<HH", 14, 15), ("image/webp", 14, 15)),
        (b"\x89PNG\r\n\x1a\n", ("image/png", 0, 0)),
    ],
)
def test_headers(head: bytes, expected: tuple[str, int, int]) -> None:
    picture = recognise_picture(head)
    assert picture is not None
    assert (picture.mime_type, picture.width, picture.height) == expected


def test_what_is_no_image() -> None:
    for head in (b"", b"<html>", b"RIFF....WAVE", b"\x89PNG", b"%PDF-1.7"):
        assert recognise_picture(head) is None


# ---- where files may be ----------------------------------------------------------------------


async def test_a_missing_file_names_its_neighbours(workspace: Path, run: Run) -> None:
    (workspace / "docs").mkdir()
    for name in ("readme.md", "README.txt", "other"):
        (workspace / "docs" / name).write_text("x")
    with pytest.raises(ToolError) as error:
        await run("read", path="docs/README.md")
    assert error.value.message == ("docs/README.md does not exist. Did you mean docs/readme.md, docs/README.txt?")
    with pytest.raises(ToolError) as error:
        await run("read", path="nothing/here")
    assert error.value.message == "nothing/here does not exist."


async def test_extra_roots_are_reached_by_absolute_paths(env: ToolEnv, tmp_path: Path, run: Run) -> None:
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "f").write_text("extra")
    ctx = {"roots": (env.workspace, extra)}
    assert text_of(await run("read", path=f"{extra}/f", ctx=ctx)) == "extra"
    assert text_of(await run("ls", path=str(extra), ctx=ctx)) == "f  5 bytes"
    assert text_of(await run("find", path=str(extra), pattern="*", ctx=ctx)) == f"{extra}/f"
    assert text_of(await run("grep", path=str(extra), pattern="x", ctx=ctx)) == f"{extra}/f:1: extra"
    with pytest.raises(ToolRefused):
        await run("read", path=f"{extra}/f")


async def test_the_state_directory_is_closed_even_below_a_root(env: ToolEnv, tmp_path: Path, run: Run) -> None:
    env.state_dir.mkdir()
    (env.state_dir / "openclaw.json").write_text("token")
    ctx = {"roots": (env.workspace, tmp_path), "meta": {"protected": [str(tmp_path / "conf.json")]}}
    (tmp_path / "conf.json").write_text("token")
    for path in (env.state_dir / "openclaw.json", tmp_path / "conf.json"):
        for name, more in (("read", {}), ("write", {"content": "x"}), ("edit", {"oldText": "t", "newText": "x"})):
            with pytest.raises(ToolRefused):
                await run(name, path=str(path), ctx=ctx, **more)
    found = text_of(await run("grep", path=str(tmp_path), pattern="token", ctx=ctx))
    assert found == "No line matches token."
    assert "openclaw.json" not in text_of(await run("find", path=str(tmp_path), pattern="*", ctx=ctx))


async def test_special_files_do_not_hang(workspace: Path, run: Run) -> None:
    os.mkfifo(workspace / "pipe")
    for name, more in (("read", {}), ("edit", {"oldText": "a", "newText": "b"}), ("grep", {"pattern": "x"})):
        with pytest.raises(ToolRefused):
            await run(name, path="pipe", **more)

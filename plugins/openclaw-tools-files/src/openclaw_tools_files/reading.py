"""The tool `read`."""

from __future__ import annotations

import base64
import os

from openclaw_core.sdk import (
    ImageBlock,
    OpenedFile,
    Picture,
    TextBlock,
    ToolCall,
    ToolContext,
    ToolEnv,
    ToolError,
    ToolResult,
    recognise_picture,
)
from openclaw_tools_files.args import ReadArgs
from openclaw_tools_files.bounded import Deadline, in_thread
from openclaw_tools_files.page import MAX_LINES, page_bytes, read_page
from openclaw_tools_files.place import Place, arguments

_HEAD = 65_536
_SECONDS = 20.0
_CONTROL = frozenset(range(32)) - frozenset(b"\t\n\r\f\b\x1b") | {127}


def is_binary(head: bytes) -> bool:
    """Whether the first bytes of a file are no text: a NUL, or more than a tenth control characters.

    Bytes that are no valid UTF-8 do not make a file binary: text in another encoding is shown with
    replacement characters.
    """
    sample = head[:8192]
    return b"\0" in sample or sum(byte in _CONTROL for byte in sample) * 10 > len(sample)


class ReadTool:
    """Gives a page of a text file, or an image to a model that sees."""

    def __init__(self, env: ToolEnv) -> None:
        self._env = env

    async def execute(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        """See the contract. Errors: `file_not_found`, `not_a_file`, `path_refused`, `past_end`."""
        args = arguments(call, ReadArgs)
        return await in_thread(lambda deadline: self._read(args, ctx, deadline), seconds=_SECONDS)

    def _read(self, args: ReadArgs, ctx: ToolContext, deadline: Deadline) -> ToolResult:
        with Place.of(self._env, ctx).open(args.path) as opened:
            head = os.pread(opened.fd, _HEAD, 0)
            if (picture := recognise_picture(head)) is not None:
                return _image(opened, args.path, picture, sees="image" in ctx.model_input)
            if is_binary(head):
                return ToolResult.text(f"{args.path} is a binary file of {opened.size} bytes; it is not shown.")
            return _text(opened, args, page_bytes(ctx.context_window), deadline)


def _text(opened: OpenedFile, args: ReadArgs, max_bytes: int, deadline: Deadline) -> ToolResult:
    limit = min(args.limit, MAX_LINES) if args.limit > 0 else MAX_LINES
    with open(opened.fd, "rb", closefd=False) as stream:
        page = read_page(stream, offset=args.offset, limit=limit, max_bytes=max_bytes, stop=deadline.over)
    if page.last < page.first:
        if page.total is None:
            raise ToolError(f"{args.path} is too large to reach line {page.first} in time.", code="too_large")
        if page.total > 0:
            raise ToolError(f"{args.path} has only {page.total} lines.", code="past_end")
        return ToolResult.text(f"{args.path} is empty.", details={"lines": 0})
    text = page.text.removeprefix("\ufeff") if page.first == 1 else page.text
    details = {"firstLine": page.first, "lastLine": page.last, "totalLines": page.total}
    return ToolResult.text(f"{text}\n\n{page.note}" if page.note else text, details=details)


def _image(opened: OpenedFile, path: str, picture: Picture, *, sees: bool) -> ToolResult:
    about = f"{path}: {picture.text}, {opened.size} bytes"
    details = {"mimeType": picture.mime_type, "width": picture.width, "height": picture.height}
    if not sees:
        return ToolResult.text(f"{about}. This model cannot see images.", details=details)
    most = Picture.max_base64 // 4 * 3
    if opened.size > most or max(picture.width, picture.height) > Picture.max_pixels:
        return ToolResult.text(
            f"{about}. Too large to show: the limit is {most} bytes and {Picture.max_pixels} pixels a side.",
            details=details,
        )
    data = base64.b64encode(opened.read(most)).decode("ascii")
    block = ImageBlock(data=data, mime_type=picture.mime_type)
    return ToolResult(content=(TextBlock(text=about), block), details=details)

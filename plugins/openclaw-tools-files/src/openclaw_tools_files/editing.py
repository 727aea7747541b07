"""The tool `edit`."""

from __future__ import annotations

import codecs

from openclaw_core.sdk import ToolCall, ToolContext, ToolEnv, ToolError, ToolResult
from openclaw_tools_files.args import EditArgs
from openclaw_tools_files.bounded import in_thread
from openclaw_tools_files.place import Place, arguments
from openclaw_tools_files.reading import is_binary
from openclaw_tools_files.replacing import replace_all

MAX_EDIT_BYTES = 10_000_000
"""Larger files are not text that somebody edits by hand."""


class EditTool:
    """Replaces texts that occur exactly once; all of a call or none. Byte order mark, line ends and bytes
    that are no UTF-8 stay as they are."""

    def __init__(self, env: ToolEnv) -> None:
        self._env = env

    async def execute(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        """See the contract. Errors: `no_match`, `many_matches`, `overlap`, `no_change`, `path_changed`,
        and those of reading and writing."""
        args = arguments(call, EditArgs)
        if not args.replacements():
            raise ToolError("Give oldText and newText, or edits.", code="bad_arguments")
        place = Place.of(self._env, ctx)
        return await in_thread(lambda _: _edit(place, args), seconds=60.0)


def _edit(place: Place, args: EditArgs) -> ToolResult:
    with place.open(args.path) as opened:
        if opened.size > MAX_EDIT_BYTES:
            raise ToolError(
                f"{args.path} has {opened.size} bytes; edit takes at most {MAX_EDIT_BYTES}.", code="too_large"
            )
        data = opened.read(MAX_EDIT_BYTES + 1)
    if is_binary(data):
        raise ToolError(f"{args.path} is a binary file; edit works on text.", code="not_text")
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    text = data[len(mark) :].decode("utf-8", "surrogateescape")
    pairs = [(one.old_text, one.new_text) for one in args.replacements()]
    try:
        "".join(new for _, new in pairs).encode("utf-8")
    except UnicodeEncodeError:
        raise ToolError("A newText holds half of a surrogate pair; nothing was changed.") from None
    done = replace_all(text, pairs, args.path)
    place.replace(args.path, mark + done.text.encode("utf-8", "surrogateescape"), unchanged=opened.stamp)
    count = "1 text" if len(pairs) == 1 else f"{len(pairs)} texts"
    return ToolResult.text(
        f"Replaced {count} in {args.path}.", details={"edits": len(pairs), "firstChangedLine": done.first_line}
    )

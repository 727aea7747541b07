"""The tool `write`."""

from __future__ import annotations

from openclaw_core.sdk import ToolCall, ToolContext, ToolEnv, ToolError, ToolResult
from openclaw_tools_files.args import WriteArgs
from openclaw_tools_files.bounded import in_thread
from openclaw_tools_files.place import Place, arguments

MAX_WRITE_BYTES = 10_000_000
"""A tool call is model output; more than this is a mistake."""


class WriteTool:
    """Writes a whole file in one step: readers see the old content or the new one."""

    def __init__(self, env: ToolEnv) -> None:
        self._env = env

    async def execute(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        """See the contract. Errors: `path_refused`, `path_protected`, `disk_full`, `too_large`."""
        args = arguments(call, WriteArgs)
        try:
            data = args.content.encode("utf-8")
        except UnicodeEncodeError:
            raise ToolError("The content holds half of a surrogate pair; nothing was written.") from None
        if len(data) > MAX_WRITE_BYTES:
            raise ToolError(f"The content has {len(data)} bytes; the limit is {MAX_WRITE_BYTES}.", code="too_large")
        place = Place.of(self._env, ctx)
        await in_thread(lambda _: place.replace(args.path, data), seconds=60.0)
        return ToolResult.text(f"Wrote {len(data)} bytes to {args.path}.", details={"bytes": len(data)})

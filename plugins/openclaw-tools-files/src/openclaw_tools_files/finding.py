"""The tools `ls` and `find`."""

from __future__ import annotations

from openclaw_core.sdk import Entry, ToolCall, ToolContext, ToolEnv, ToolResult
from openclaw_tools_files.args import FindArgs, LsArgs
from openclaw_tools_files.bounded import Deadline, in_thread
from openclaw_tools_files.pattern import glob
from openclaw_tools_files.place import Place, arguments, clean

MAX_ENTRIES = 5000
"""Of one answer, whatever the call asks for."""
MAX_CHARS = 50_000
_SECONDS = 20.0


def _shown(entry: Entry) -> str:
    name = clean(entry.path)
    if entry.kind == "directory":
        return f"{name}/"
    return f"{name}  {entry.size} bytes" if entry.kind == "file" else f"{name}  ({entry.kind})"


def _limit(wanted: int) -> int:
    return max(1, min(wanted, MAX_ENTRIES))


def _answer(lines: list[str], notes: list[str], nothing: str) -> ToolResult:
    """The lines that fit into one answer, and what was left out."""
    kept: list[str] = []
    size = 0
    for line in lines:
        size += len(line) + 1
        if size > MAX_CHARS:
            notes.insert(0, f"Cut after {len(kept)} of {len(lines)} lines.")
            break
        kept.append(line)
    text = "\n".join(kept) or nothing
    if notes:
        text += f"\n\n[{' '.join(notes)}]"
    return ToolResult.text(text, details={"count": len(kept), "truncated": bool(notes)})


class LsTool:
    """Lists a directory, sorted by name."""

    def __init__(self, env: ToolEnv) -> None:
        self._env = env

    async def execute(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        """See the contract. Errors: `file_not_found`, `not_a_directory`, `path_refused`."""
        args = arguments(call, LsArgs)
        place, limit = Place.of(self._env, ctx), _limit(args.limit)
        listing = await in_thread(lambda _: place.list(args.path, limit), seconds=_SECONDS)
        notes = [f"Only {limit} entries are shown; there are more."] if listing.truncated else []
        return _answer([_shown(entry) for entry in listing.entries], notes, "The directory is empty.")


class FindTool:
    """Finds files by a glob; ``.git``, ``node_modules`` and what links lead to are not searched."""

    def __init__(self, env: ToolEnv) -> None:
        self._env = env

    async def execute(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        """See the contract. Errors: `bad_pattern`, `too_slow`, `file_not_found`, `path_refused`."""
        args = arguments(call, FindArgs)
        place = Place.of(self._env, ctx)
        return await in_thread(lambda deadline: _find(place, args, deadline), seconds=_SECONDS)


def _find(place: Place, args: FindArgs, deadline: Deadline) -> ToolResult:
    wanted, limit = glob(args.pattern), _limit(args.limit)
    prefix = f"{args.path.rstrip('/')}/" if args.path.strip("./") else ""
    walk = place.walk(args.path, stop=deadline.over)
    lines: list[str] = []
    notes: list[str] = []
    for entry in walk:
        if not wanted.found_in(entry.path, deadline):
            continue
        if len(lines) >= limit:
            notes.append(f"Only the first {limit} results are shown; use a narrower pattern.")
            break
        lines.append(clean(prefix + entry.path) + ("/" if entry.kind == "directory" else ""))
    if walk.truncated:
        notes.append("The tree is too large; not all of it was searched. Give a path.")
    return _answer(lines, notes, f"No file matches {args.pattern}.")

"""The tool `grep`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from openclaw_core.sdk import ToolCall, ToolContext, ToolEnv, ToolError, ToolResult
from openclaw_tools_files.args import GrepArgs
from openclaw_tools_files.bounded import Deadline, in_thread
from openclaw_tools_files.pattern import Pattern, glob, regular
from openclaw_tools_files.place import Place, arguments, clean
from openclaw_tools_files.reading import is_binary

MAX_MATCHES = 1000
MAX_FILE_BYTES = 10_000_000
"""Of a larger file only the beginning is searched."""
MAX_SEARCHED = 4096
"""Characters of a line that are searched."""
MAX_SHOWN = 400
"""Characters of a line that are shown."""
MAX_CHARS = 50_000
MAX_CONTEXT = 20
_SECONDS = 20.0


@dataclass(slots=True)
class _Hits:
    """The answer as it grows."""

    limit: int
    lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    matches: int = 0
    chars: int = 0
    late: bool = False

    @property
    def full(self) -> bool:
        return self.matches >= self.limit or self.chars > MAX_CHARS

    def add(self, line: str) -> None:
        self.lines.append(line)
        self.chars += len(line) + 1


class GrepTool:
    """Searches lines of text files; binary files, ``.git`` and ``node_modules`` are left out."""

    def __init__(self, env: ToolEnv) -> None:
        self._env = env

    async def execute(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        """See the contract. Errors: `bad_pattern`, `too_slow`, `file_not_found`, `path_refused`."""
        args = arguments(call, GrepArgs)
        place = Place.of(self._env, ctx)
        return await in_thread(lambda deadline: _grep(place, args, deadline), seconds=_SECONDS)


def _files(place: Place, args: GrepArgs, hits: _Hits, deadline: Deadline) -> Iterator[str]:
    """Paths of the files to search: the one that was named, or those below the directory."""
    wanted = glob(args.glob) if args.glob else None
    prefix = f"{args.path.rstrip('/')}/" if args.path.strip("./") else ""
    walk = place.walk(args.path, stop=deadline.over)
    for entry in walk:
        if entry.kind in ("file", "link") and (wanted is None or wanted.found_in(entry.path, deadline)):
            yield prefix + entry.path
    if walk.truncated:
        hits.notes.append("The tree is too large; not all of it was searched. Give a path.")


def _read(place: Place, path: str, hits: _Hits) -> list[str] | None:
    """Lines of a text file, None for a binary one."""
    with place.open(path) as opened:
        data = opened.read(MAX_FILE_BYTES)
        if opened.size > MAX_FILE_BYTES:
            hits.notes.append(f"Of {path} only the first {MAX_FILE_BYTES} bytes were searched.")
    return None if is_binary(data) else data.decode("utf-8", "replace").split("\n")


def _search(path: str, lines: list[str], wanted: Pattern, args: GrepArgs, hits: _Hits, deadline: Deadline) -> None:
    searched = [line[:MAX_SEARCHED].rstrip("\r") for line in lines]
    if wanted.surely_not_in(searched, deadline):
        return
    found: list[int] = []
    for index, line in enumerate(searched):
        if hits.matches + len(found) >= hits.limit:
            break
        if deadline.over():
            hits.late = True
            break
        if wanted.found_in(line, deadline):
            found.append(index)
    hits.matches += len(found)
    matching = set(found)
    around = max(0, min(args.context, MAX_CONTEXT))
    shown_to = -1
    for index in found:
        for near in range(max(shown_to + 1, index - around), min(len(lines), index + around + 1)):
            mark = ":" if near in matching else "-"
            hits.add(f"{clean(path)}{mark}{near + 1}{mark} {_cut(lines[near])}")
            shown_to = near
        if hits.full:
            return


def _cut(line: str) -> str:
    line = line.rstrip("\r")
    return line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN]} [line cut]"


def _grep(place: Place, args: GrepArgs, deadline: Deadline) -> ToolResult:
    wanted = regular(args.pattern, ignore_case=args.ignore_case, literal=args.literal)
    hits = _Hits(limit=max(1, min(args.limit, MAX_MATCHES)))
    if not _named_file(place, args, wanted, hits, deadline):
        _tree(place, args, wanted, hits, deadline)
    if hits.full:
        hits.notes.append(f"Stopped after {hits.matches} matches; use a narrower pattern, path or glob.")
    if hits.late:
        hits.notes.append("Time was up before everything was searched; give a path or glob.")
    text = "\n".join(hits.lines) or f"No line matches {args.pattern}."
    if hits.notes:
        text += f"\n\n[{' '.join(hits.notes)}]"
    return ToolResult.text(text, details={"matches": hits.matches, "truncated": bool(hits.notes)})


def _named_file(place: Place, args: GrepArgs, wanted: Pattern, hits: _Hits, deadline: Deadline) -> bool:
    """Search the file that was named; False when a directory was."""
    if not args.path.strip("./"):
        return False
    try:
        lines = _read(place, args.path, hits)
    except ToolError as error:
        if error.code == "not_a_file":
            return False
        raise
    if lines is None:
        hits.notes.append("A binary file is not searched.")
    else:
        _search(args.path, lines, wanted, args, hits, deadline)
    return True


def _tree(place: Place, args: GrepArgs, wanted: Pattern, hits: _Hits, deadline: Deadline) -> None:
    for path in _files(place, args, hits, deadline):
        try:
            lines = _read(place, path, hits)
        except ToolError:
            continue  # removed, unreadable, a link that leads out: not searched, as a listing shows it
        if lines is not None:
            _search(path, lines, wanted, args, hits, deadline)
        if hits.full or hits.late:
            return

"""Where a tool call may work: its roots, what is closed inside them, and how paths are shown."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from openclaw_core.sdk import (
    Listing,
    OpenedFile,
    ToolCall,
    ToolContext,
    ToolEnv,
    ToolError,
    Walk,
    list_beneath,
    open_beneath,
    pick_root,
    replace_beneath,
    walk_beneath,
)

A = TypeVar("A", bound=BaseModel)


def arguments(call: ToolCall, model: type[A]) -> A:
    """The checked arguments: as core parsed them, else parsed here. Raises ToolError."""
    if isinstance(call.parsed, model):
        return call.parsed
    try:
        return model.model_validate(dict(call.arguments))
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise ToolError(f"The arguments of {call.name} are wrong: {problems}.", code="bad_arguments") from None


@dataclass(frozen=True, slots=True)
class Place:
    """The part of the file system that one call may see."""

    roots: tuple[Path, ...]
    protected: tuple[Path, ...]

    @classmethod
    def of(cls, env: ToolEnv, ctx: ToolContext) -> Place:
        """The context's roots; the state directory and ``meta["protected"]`` are closed inside them."""
        extra = tuple(Path(one) for one in ctx.meta.get("protected", ()))
        return cls(roots=ctx.roots or (ctx.workspace,), protected=(env.state_dir, *extra))

    def open(self, path: str) -> OpenedFile:
        """Open a file for reading; a missing one is named together with names like it."""
        root = pick_root(self.roots, path)
        try:
            return open_beneath(root, path, protected=self.protected)
        except ToolError as error:
            raise self._with_guess(root, path, error) from None

    def list(self, path: str, limit: int) -> Listing:
        """List a directory."""
        root = pick_root(self.roots, path)
        try:
            return list_beneath(root, path, limit=limit, protected=self.protected)
        except ToolError as error:
            raise self._with_guess(root, path, error) from None

    def walk(self, path: str, *, stop: Callable[[], bool]) -> Walk:
        """Walk below a directory until `stop()`; errors come when the iteration begins."""
        return walk_beneath(pick_root(self.roots, path), path, protected=self.protected, stop=stop)

    def replace(self, path: str, data: bytes, *, unchanged: tuple[int, int, int, int] | None = None) -> None:
        """Write a whole file."""
        replace_beneath(pick_root(self.roots, path), path, data, protected=self.protected, unchanged=unchanged)

    def _with_guess(self, root: Path, path: str, error: ToolError) -> ToolError:
        """The error for a missing file, with up to three names of the same directory that look alike."""
        if error.code != "file_not_found":
            return error
        parent, _, name = path.rstrip("/").rpartition("/")
        try:
            listing = list_beneath(
                root, parent if parent or not path.startswith("/") else "/", protected=self.protected
            )
        except ToolError:
            return error
        names = {entry.name.casefold(): entry.name for entry in listing.entries}
        alike = difflib.get_close_matches(name.casefold(), names, n=3, cutoff=0.6)
        if not alike:
            return error
        near = ", ".join(f"{parent}/{names[one]}" if parent else names[one] for one in alike)
        return ToolError(f"{error.message} Did you mean {near}?", code=error.code)


def clean(path: str) -> str:
    """A name from the disk as one line of valid text; bytes that are none and control characters are escaped."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)

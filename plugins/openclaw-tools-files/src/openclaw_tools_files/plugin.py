"""What the plugin offers: six tools on files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from openclaw_core.plugin import ToolSpec, hookimpl

if TYPE_CHECKING:
    from openclaw_core.contracts.tool import ToolEnv

_PACKAGE = "openclaw_tools_files"
_PATH = {"file_path": "path", "filePath": "path"}
_EDIT = {"old_string": "oldText", "new_string": "newText", "old_text": "oldText", "new_text": "newText"}

SPECS = (
    ToolSpec(
        name="read",
        description="Read a text file or image. Long files come in pages; continue with offset.",
        factory=f"{_PACKAGE}.reading:ReadTool",
        args_model=f"{_PACKAGE}.args:ReadArgs",
        group="fs",
        read_only=True,
        aliases=_PATH,
    ),
    ToolSpec(
        name="write",
        description="Create or overwrite a file, with its parent directories.",
        factory=f"{_PACKAGE}.writing:WriteTool",
        args_model=f"{_PACKAGE}.args:WriteArgs",
        group="fs",
        idempotent=True,
        aliases=_PATH,
    ),
    ToolSpec(
        name="edit",
        description="Replace exact texts in a file. Each oldText must occur exactly once.",
        factory=f"{_PACKAGE}.editing:EditTool",
        args_model=f"{_PACKAGE}.args:EditArgs",
        group="fs",
        aliases=_PATH | _EDIT,
    ),
    ToolSpec(
        name="ls",
        description="List a directory.",
        factory=f"{_PACKAGE}.finding:LsTool",
        args_model=f"{_PACKAGE}.args:LsArgs",
        group="fs",
        read_only=True,
        aliases=_PATH,
    ),
    ToolSpec(
        name="find",
        description="Find files by glob, e.g. *.md or src/**/*.py.",
        factory=f"{_PACKAGE}.finding:FindTool",
        args_model=f"{_PACKAGE}.args:FindArgs",
        group="fs",
        read_only=True,
        aliases=_PATH | {"glob": "pattern"},
    ),
    ToolSpec(
        name="grep",
        description="Search file contents by regular expression.",
        factory=f"{_PACKAGE}.searching:GrepTool",
        args_model=f"{_PACKAGE}.args:GrepArgs",
        group="fs",
        read_only=True,
        aliases=_PATH | {"ignore_case": "ignoreCase"},
    ),
)


@hookimpl
def openclaw_tools(env: ToolEnv) -> Iterable[ToolSpec]:
    """The six file tools, the same for every agent."""
    return SPECS

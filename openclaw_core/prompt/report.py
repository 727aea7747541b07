"""The prompt report: what is in the system prompt and how large each part is (behaviour.md 1.9)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from openclaw_core.domain.tools import ToolSchema
from openclaw_core.prompt.bootstrap import BootstrapFile


def tool_entries(tools: Sequence[ToolSchema]) -> tuple[list[dict[str, Any]], int]:
    """One row a tool, and the characters of all schemas as compact JSON."""
    rows: list[dict[str, Any]] = []
    total = 0
    for tool in tools:
        chars = len(json.dumps(tool.parameters, separators=(",", ":")))
        total += chars + len(tool.name) + len(tool.description)
        properties = tool.parameters.get("properties")
        rows.append(
            {
                "name": tool.name,
                "summaryChars": len(tool.description),
                "schemaChars": chars,
                "propertiesCount": len(properties) if isinstance(properties, Mapping) else 0,
            }
        )
    return rows, total


def file_entries(files: Sequence[BootstrapFile]) -> list[dict[str, Any]]:
    """One row a workspace file."""
    return [
        {
            "name": f.name,
            "path": f.path,
            "missing": f.missing,
            "rawChars": f.raw_chars,
            "injectedChars": len(f.text),
            "truncated": f.truncated,
        }
        for f in files
    ]


def build(
    *,
    system_chars: int,
    context_chars: int,
    sections: Mapping[str, int],
    files: list[dict[str, Any]],
    skills: Mapping[str, int],
    skills_chars: int,
    tools: list[dict[str, Any]],
    tools_chars: int,
    list_chars: int,
    limits: tuple[int, int],
) -> dict[str, Any]:
    """The part of `systemPromptReport` that does not depend on the run."""
    return {
        "bootstrapMaxChars": limits[0],
        "bootstrapTotalMaxChars": limits[1],
        "bootstrapTruncation": any(f["truncated"] for f in files),
        "sandbox": {"mode": "off", "sandboxed": False},
        "systemPrompt": {
            "chars": system_chars,
            "projectContextChars": context_chars,
            "nonProjectContextChars": system_chars - context_chars,
            "sections": dict(sections),
        },
        "injectedWorkspaceFiles": files,
        "skills": {
            "promptChars": skills_chars,
            "entries": [{"name": name, "blockChars": chars} for name, chars in skills.items()],
        },
        "tools": {"listChars": list_chars, "schemaChars": tools_chars, "entries": tools},
    }

"""The head of a SKILL.md: YAML between two lines of three dashes (behaviour.md 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontmatter:
    """What the head says; `problem` is set when it cannot be used."""

    name: str = ""
    description: str = ""
    fields: Mapping[str, Any] | None = None
    problem: str = ""


def parse(text: str) -> Frontmatter:
    """Read the head of a skill file. BOM and CRLF are fine; a broken head is a problem, not an error."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines or lines[0].strip() != "---":
        return Frontmatter(problem="no frontmatter")
    end = next((i for i, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
    if end is None:
        return Frontmatter(problem="the frontmatter is not closed")
    import yaml  # only people with skills pay for it

    head = "\n".join(lines[1:end])
    try:
        data = yaml.safe_load(head)
    except yaml.YAMLError:
        data = _plain(lines[1:end])
    if not isinstance(data, dict):
        return Frontmatter(problem="the frontmatter is not a mapping")
    name, description = data.get("name"), data.get("description")
    if not isinstance(name, str) or not name.strip():
        return Frontmatter(problem="no name", fields=data)
    if not isinstance(description, str) or not description.strip():
        return Frontmatter(name=name.strip(), problem="no description", fields=data)
    return Frontmatter(name=name.strip(), description=" ".join(description.split()), fields=data)


def _plain(lines: list[str]) -> dict[str, str]:
    """``key: value`` lines whose value holds an unquoted colon, which YAML refuses and people write."""
    out: dict[str, str] = {}
    for line in lines:
        key, colon, value = line.partition(":")
        if colon and key and not key[0].isspace():
            out[key.strip()] = value.strip().strip("\"'")
    return out

"""The skills of an agent: six sources, higher ones replace lower ones of the same name (behaviour.md 4.1)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from openclaw_core.errors import OpenClawError
from openclaw_core.guard.paths import open_beneath
from openclaw_core.observe.logging import get_logger
from openclaw_core.skills.frontmatter import parse

_log = get_logger("skills")

MAX_PER_ROOT = 300
MAX_FILE_BYTES = 256_000
MAX_IN_PROMPT = 150
MAX_PROMPT_CHARS = 18_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A folder that holds skill folders; `tier` orders sources from low to high."""

    source: str
    tier: int
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One skill that may be offered."""

    name: str
    description: str
    location: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The skills of one moment and the menu for the prompt."""

    skills: tuple[Skill, ...] = ()
    menu: str = ""
    block_chars: Mapping[str, int] | None = None


Stamp = tuple[tuple[str, int], ...]


def stamp(roots: Sequence[Root]) -> Stamp:
    """A cheap fingerprint: the mtimes of roots and of the SKILL.md files beneath. Blocking."""
    out: list[tuple[str, int]] = []
    for root in roots:
        try:
            with os.scandir(root.path) as entries:
                names = sorted(e.name for e in entries if not e.name.startswith("."))[:MAX_PER_ROOT]
        except OSError:
            continue
        for name in names:
            file = f"{root.path}/{name}/SKILL.md"
            try:
                out.append((file, os.lstat(file).st_mtime_ns))
            except OSError:
                continue
    return tuple(out)


def scan(roots: Sequence[Root], *, disabled: Sequence[str] = (), allowed: Sequence[str] | None = None) -> Snapshot:
    """Read all skills. `disabled` by name; `allowed` None means all. Blocking; run in a thread."""
    found: dict[str, Skill] = {}
    for root in sorted(roots, key=lambda r: r.tier):
        for skill in _scan_root(root):
            found[skill.name] = skill
    skills = [s for _, s in sorted(found.items()) if s.name not in disabled and (allowed is None or s.name in allowed)]
    menu, sizes = build_menu(skills)
    return Snapshot(skills=tuple(skills), menu=menu, block_chars=sizes)


def _scan_root(root: Root) -> list[Skill]:
    try:
        with os.scandir(root.path) as entries:
            names = sorted(e.name for e in entries if not e.name.startswith(".") and e.name != "node_modules")
    except OSError:
        return []
    out: list[Skill] = []
    for name in names[:MAX_PER_ROOT]:
        try:
            opened = open_beneath(root.path, f"{name}/SKILL.md")
        except (OpenClawError, OSError):
            continue
        with opened:
            if opened.size > MAX_FILE_BYTES:
                _log.warning("skill left out: file too large", skill=name, source=root.source)
                continue
            head = parse(opened.read(MAX_FILE_BYTES).decode("utf-8", "replace"))
        if head.problem:
            _log.warning("skill left out", skill=name, source=root.source, problem=head.problem)
            continue
        if (head.fields or {}).get("disable-model-invocation") is True:
            continue
        location = str(root.path / name / "SKILL.md")
        out.append(Skill(name=head.name, description=head.description, location=location, source=root.source))
    return out


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _short(path: str) -> str:
    home = str(Path.home())
    return "~" + path[len(home) :] if path.startswith(home + "/") else path


def build_menu(skills: Sequence[Skill]) -> tuple[str, dict[str, int]]:
    """The skills section: name, description and location only, within count and size limits."""
    if not skills:
        return "", {}
    intro = (
        "## Skills\nBefore you answer, look at the descriptions. If one clearly applies, read its file with the read tool "
        "and follow it; read at most one file at the start. If none applies, read none.\n<available_skills>\n"
    )
    sizes: dict[str, int] = {}
    blocks: list[str] = []
    used = len(intro)
    for skill in skills[:MAX_IN_PROMPT]:
        block = (
            f"<skill><name>{_escape(skill.name)}</name><description>{_escape(skill.description[:300])}</description>"
            f"<location>{_escape(_short(skill.location))}</location></skill>"
        )
        if used + len(block) > MAX_PROMPT_CHARS:
            blocks.append("<!-- more skills: run `openclaw skills check` -->")
            break
        used += len(block) + 1
        sizes[skill.name] = len(block)
        blocks.append(block)
    return intro + "\n".join(blocks) + "\n</available_skills>", sizes

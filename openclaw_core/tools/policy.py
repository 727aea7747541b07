"""Which tools an agent may have: profiles, groups, allow and deny lists; deny wins (behaviour.md 8.3, 8.4)."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openclaw_core.errors import ConfigValueError

GROUPS: dict[str, tuple[str, ...]] = {
    "group:runtime": ("exec", "process", "code_execution"),
    "group:fs": ("read", "write", "edit", "apply_patch", "ls", "find", "grep"),
    "group:sessions": (
        "sessions_list",
        "sessions_history",
        "sessions_send",
        "sessions_spawn",
        "sessions_yield",
        "subagents",
        "session_status",
    ),
    "group:memory": ("memory_search", "memory_get"),
    "group:web": ("web_search", "x_search", "web_fetch"),
    "group:ui": ("browser", "canvas"),
    "group:automation": ("cron", "gateway", "heartbeat_respond"),
    "group:messaging": ("message",),
    "group:nodes": ("nodes",),
    "group:agents": ("agents_list", "update_plan"),
    "group:media": ("image", "image_generate", "music_generate", "video_generate", "tts"),
}

PROFILES: dict[str, tuple[str, ...] | None] = {
    "minimal": ("session_status",),
    "coding": (
        "group:fs",
        "group:runtime",
        "group:web",
        "group:sessions",
        "group:memory",
        "cron",
        "image",
        "image_generate",
        "music_generate",
        "video_generate",
        "update_plan",
    ),
    "messaging": (
        "group:messaging",
        "sessions_list",
        "sessions_history",
        "sessions_send",
        "sessions_spawn",
        "sessions_yield",
        "subagents",
        "session_status",
    ),
    "full": None,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """A tool that a rule took away."""

    tool: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One step of the pipeline; it can only take away. Empty `allow` allows all."""

    name: str
    profile: str | None = None
    allow: Sequence[str] = ()
    also_allow: Sequence[str] = ()
    deny: Sequence[str] = ()

    @classmethod
    def of(cls, name: str, section: Mapping[str, Any]) -> Stage:
        """A stage from a ``tools`` section; raises ConfigValueError for contradictions."""
        profile = section.get("profile")
        if profile is not None and profile not in PROFILES:
            raise ConfigValueError(
                f"'{profile}' is not a tool profile.", path=f"{name}.profile", hint=f"Use one of {', '.join(PROFILES)}."
            )
        if section.get("allow") and section.get("alsoAllow"):
            raise ConfigValueError(
                "allow and alsoAllow exclude each other.", path=f"{name}.alsoAllow", hint="Keep one of the two."
            )
        return cls(
            name=name,
            profile=profile,
            allow=tuple(section.get("allow") or ()),
            also_allow=tuple(section.get("alsoAllow") or ()),
            deny=tuple(section.get("deny") or ()),
        )


def expand(names: Sequence[str], plugins: Mapping[str, Sequence[str]]) -> list[str]:
    """Groups, plugin ids and aliases replaced by tool names; patterns stay patterns; lower case."""
    out: list[str] = []
    for raw in names:
        name = raw.strip().lower()
        if name in GROUPS:
            out += GROUPS[name]
        elif name in plugins:
            out += plugins[name]
        elif name == "bash":
            out.append("exec")
        else:
            out.append(name)
    return out


def _matches(tool: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(tool.lower(), pattern) for pattern in patterns)


def filter_tools(
    tools: Sequence[str], stages: Sequence[Stage], *, plugins: Mapping[str, Sequence[str]]
) -> tuple[list[str], list[Removal]]:
    """Run the pipeline: what stays, and what each rule removed."""
    left = list(tools)
    removed: list[Removal] = []
    for stage in stages:
        profile = PROFILES.get(stage.profile) if stage.profile else None
        wanted = expand([*profile, *stage.also_allow], plugins) if profile is not None else None
        allow = expand(stage.allow, plugins)
        if allow and "write" in allow:
            allow.append("apply_patch")
        deny = expand(stage.deny, plugins)
        kept: list[str] = []
        for tool in left:
            if _matches(tool, deny):
                removed.append(Removal(tool=tool, rule=f"{stage.name}.deny"))
            elif wanted is not None and not _matches(tool, wanted):
                removed.append(Removal(tool=tool, rule=f"{stage.name}.profile={stage.profile}"))
            elif allow and not _matches(tool, allow):
                removed.append(Removal(tool=tool, rule=f"{stage.name}.allow"))
            else:
                kept.append(tool)
        left = kept
    return left, removed

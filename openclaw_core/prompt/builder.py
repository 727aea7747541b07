"""The system prompt of a run: rebuilt when one of its causes changed, byte-equal otherwise."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openclaw_core.domain.tools import ToolSchema
from openclaw_core.plugin import PromptSection, TurnView
from openclaw_core.prompt import bootstrap, report, sections
from openclaw_core.skills import snapshot as skills

SectionsOf = Callable[[TurnView], Sequence[PromptSection]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSources:
    """What the prompt of one agent is made of. `skill_roots` low to high."""

    agent_id: str
    workspace: Path
    time_zone: str
    max_chars: int
    total_chars: int
    skill_roots: tuple[skills.Root, ...]
    skills_disabled: tuple[str, ...] = ()
    skills_allowed: tuple[str, ...] | None = None
    with_files: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltPrompt:
    """The stable text, and the run-independent part of the report."""

    text: str
    report: Mapping[str, Any]
    tools_chars: int


class PromptBuilder:
    """Builds and caches prompts; one per process."""

    def __init__(self, extra: SectionsOf, *, keep: int = 64) -> None:
        self._extra = extra
        self._built: OrderedDict[tuple[Any, ...], BuiltPrompt] = OrderedDict()
        self._skills: dict[tuple[Any, ...], tuple[skills.Stamp, skills.Snapshot]] = {}
        self._keep = keep

    async def build(self, sources: PromptSources, view: TurnView, tools: tuple[ToolSchema, ...]) -> BuiltPrompt:
        """The prompt for one run; disk is looked at in a thread."""
        return await asyncio.to_thread(self.build_now, sources, view, tools)

    def build_now(self, sources: PromptSources, view: TurnView, tools: tuple[ToolSchema, ...]) -> BuiltPrompt:
        """Like `build`, in this thread."""
        shot = self._snapshot(sources)
        extra = tuple(sorted(self._extra(view), key=lambda s: (s.order, s.id)))
        private = ":group:" not in view.session_key and ":channel:" not in view.session_key
        files = bootstrap.stamp(sources.workspace) if sources.with_files and view.mode == "full" else ()
        key = (sources, files, id(shot), id(tools), extra, private, view.mode)
        known = self._built.get(key)
        if known is not None:
            return known
        built = self._compose(sources, view, tools, shot, extra, private)
        self._built[key] = built
        while len(self._built) > self._keep:
            self._built.popitem(last=False)
        return built

    def _snapshot(self, sources: PromptSources) -> skills.Snapshot:
        key = (sources.skill_roots, sources.skills_disabled, sources.skills_allowed)
        now = skills.stamp(sources.skill_roots)
        known = self._skills.get(key)
        if known is not None and known[0] == now:
            return known[1]
        shot = skills.scan(sources.skill_roots, disabled=sources.skills_disabled, allowed=sources.skills_allowed)
        self._skills[key] = (now, shot)
        return shot

    def _compose(
        self,
        sources: PromptSources,
        view: TurnView,
        tools: tuple[ToolSchema, ...],
        shot: skills.Snapshot,
        extra: Sequence[PromptSection],
        private: bool,
    ) -> BuiltPrompt:
        facts = sections.Facts(
            agent_id=sources.agent_id,
            workspace=str(sources.workspace),
            time_zone=sources.time_zone,
            tools=tools,
            skills_menu=shot.menu,
            mode=view.mode,
        )
        parts = sections.stable(facts)
        parts += [(s.id, f"## {s.title}\n{bootstrap.shorten(s.text, s.max_chars)}") for s in extra]
        files: list[bootstrap.BootstrapFile] = []
        if sources.with_files and view.mode != "none":
            files = bootstrap.read_all(
                sources.workspace, max_chars=sources.max_chars, total_chars=sources.total_chars, private=private
            )
            if view.mode == "minimal":
                files = [f for f in files if f.name in bootstrap.MINIMAL_FILES]
        context = bootstrap.context(files)
        if context:
            parts.append(("context", context))
        text = "\n\n".join(body for _, body in parts)
        rows, tools_chars = report.tool_entries(tools)
        sizes = {name: len(body) for name, body in parts}
        made = report.build(
            system_chars=len(text),
            context_chars=len(context),
            sections=sizes,
            files=report.file_entries(files),
            skills=shot.block_chars or {},
            skills_chars=len(shot.menu),
            tools=rows,
            tools_chars=tools_chars,
            list_chars=sizes.get("tooling", 0),
            limits=(sources.max_chars, sources.total_chars),
        )
        return BuiltPrompt(text=text, report=made, tools_chars=tools_chars)

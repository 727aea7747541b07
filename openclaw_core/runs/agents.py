"""The configured agents: workspace, tools, prompt sources and model chain of each, built once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openclaw_core.config.model import Config
from openclaw_core.config.paths import StatePaths
from openclaw_core.config.sections.agents import AgentEntry
from openclaw_core.config.sections.tools import LoopDetection
from openclaw_core.contracts.tool import ToolEnv
from openclaw_core.domain.ids import AgentId
from openclaw_core.domain.turns import RunLimits
from openclaw_core.errors import NotFound
from openclaw_core.plugin import SkillSource, ToolSpec
from openclaw_core.prompt.budget import reserve_tokens
from openclaw_core.prompt.builder import PromptSources
from openclaw_core.skills.snapshot import Root
from openclaw_core.tools.policy import Stage
from openclaw_core.tools.registry import Resolver, ToolBox, build

_NEVER = 1_000_000

ToolSpecs = Callable[[ToolEnv], Sequence[tuple[str, ToolSpec]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent, ready to run turns."""

    id: AgentId
    workspace: Path
    roots: tuple[Path, ...]
    box: ToolBox
    sources: PromptSources
    models: tuple[str, ...]
    limits: RunLimits
    history_turns: int
    context_tokens: int
    thinking: str
    reserve: int
    reserve_floor: int
    loops: tuple[int, int, int]
    """Calls without progress at which the loop guard warns, blocks, and ends the run."""
    protected: tuple[str, ...] = ()
    """Paths besides the state directory that tools never open: the configuration file."""

    def reserve_of(self, window: int) -> int:
        """Tokens of a window that are kept free for the answer."""
        return reserve_tokens(window, reserve=self.reserve, floor=self.reserve_floor)


class AgentDirectory:
    """Agents by id; made at first use from the configuration in force."""

    def __init__(
        self,
        config: Config,
        paths: StatePaths,
        *,
        tools: ToolSpecs,
        skill_sources: Sequence[tuple[str, SkillSource]],
        resolve: Resolver,
        public_config: Mapping[str, Any],
    ) -> None:
        self._config = config
        self._paths = paths
        self._tools = tools
        self._skills = [source for _, source in skill_sources]
        self._resolve = resolve
        self._public = public_config
        self._made: dict[str, Agent] = {}

    @property
    def default_id(self) -> AgentId:
        """The agent that takes what names none."""
        return AgentId(self._config.agents.default_id())

    def ids(self) -> list[str]:
        """All configured agents."""
        return sorted(self._config.agents.by_id())

    def get(self, agent_id: AgentId) -> Agent:
        """The agent; raises NotFound for one that is not configured."""
        known = self._made.get(agent_id)
        if known is None:
            entry = self._config.agents.by_id().get(agent_id)
            if entry is None:
                raise NotFound(
                    f"There is no agent '{agent_id}'.",
                    hint=f"Configured agents: {', '.join(self.ids())}.",
                    code="no_agent",
                )
            known = self._made[agent_id] = self._make(agent_id, entry)
        return known

    def _make(self, agent_id: AgentId, entry: AgentEntry) -> Agent:
        defaults = self._config.agents.defaults
        workspace = self._workspace(agent_id, entry)
        workspace.mkdir(parents=True, exist_ok=True, mode=0o700)
        tools = self._config.tools
        roots = (workspace, *(Path(r).expanduser().resolve() for r in (*tools.files.roots, *tools.fs.extra_roots)))
        env = ToolEnv(agent_id=agent_id, workspace=workspace, state_dir=self._paths.state_dir, config=self._public)
        box = build(self._tools(env), env, self._resolve, self._stages(agent_id, entry))
        model = entry.model or defaults.model
        return Agent(
            id=agent_id,
            workspace=workspace,
            roots=roots,
            box=box,
            sources=self._sources(agent_id, entry, workspace),
            models=tuple(m for m in (model.primary, *model.fallbacks) if m),
            limits=RunLimits(
                max_model_requests=160,
                timeout_s=float(defaults.timeout_seconds if entry.timeout_seconds is None else entry.timeout_seconds),
                idle_s=defaults.model_idle_timeout_ms / 1000,
            ),
            history_turns=entry.history_turns or defaults.history_turns,
            context_tokens=entry.context_tokens or defaults.context_tokens,
            thinking=entry.thinking_default or defaults.thinking_default or "off",
            reserve=defaults.compaction.reserve_tokens,
            reserve_floor=defaults.compaction.reserve_tokens_floor,
            loops=_loop_bounds(tools.loop_detection),
            protected=(str(self._paths.config_file),),
        )

    def _workspace(self, agent_id: AgentId, entry: AgentEntry) -> Path:
        configured = entry.workspace or (self._config.agents.defaults.workspace if agent_id == self.default_id else "")
        if configured:
            return Path(configured).expanduser().absolute()
        if agent_id == self.default_id:
            return self._paths.workspace
        base = self._config.agents.defaults.workspace
        return (Path(base).expanduser().absolute() if base else self._paths.workspace).with_name(
            f"workspace-{agent_id}"
        )

    def _stages(self, agent_id: AgentId, entry: AgentEntry) -> list[Stage]:
        tools = self._config.tools
        stages = [
            Stage(
                name="tools",
                profile=tools.profile,
                allow=tuple(tools.allow or ()),
                also_allow=tuple(tools.also_allow),
                deny=tuple(tools.deny),
            )
        ]
        if entry.tools:
            stages.append(Stage.of(f"agents.{agent_id}.tools", entry.tools))
        return stages

    def _sources(self, agent_id: AgentId, entry: AgentEntry, workspace: Path) -> PromptSources:
        defaults, skills = self._config.agents.defaults, self._config.skills
        roots = [Root(source="openclaw-extra", tier=1, path=Path(d).expanduser()) for d in skills.load.extra_dirs]
        roots += [Root(source=s.id, tier=s.tier, path=Path(s.root)) for s in self._skills]
        roots += [
            Root(source="openclaw-managed", tier=3, path=self._paths.state_dir / "skills"),
            Root(source="agents-skills-personal", tier=4, path=Path.home() / ".agents" / "skills"),
            Root(source="agents-skills-project", tier=5, path=workspace / ".agents" / "skills"),
            Root(source="openclaw-workspace", tier=6, path=workspace / "skills"),
        ]
        allowed = entry.skills if entry.skills is not None else defaults.skills
        skip = defaults.skip_bootstrap if entry.skip_bootstrap is None else entry.skip_bootstrap
        return PromptSources(
            agent_id=agent_id,
            workspace=workspace,
            time_zone=entry.user_timezone or defaults.user_timezone or local_zone(),
            max_chars=entry.bootstrap_max_chars or defaults.bootstrap_max_chars,
            total_chars=entry.bootstrap_total_max_chars or defaults.bootstrap_total_max_chars,
            skill_roots=tuple(roots),
            skills_disabled=tuple(name for name, item in skills.entries.items() if not item.enabled),
            skills_allowed=tuple(allowed) if allowed is not None else None,
            with_files=not skip,
        )


def _loop_bounds(section: LoopDetection) -> tuple[int, int, int]:
    """Thresholds in growing order, whatever the configuration says; out of reach when switched off."""
    if not section.enabled:
        return (_NEVER, _NEVER, _NEVER)
    warn = section.warning_threshold
    block = max(warn + 1, section.critical_threshold)
    return (warn, block, max(block + 1, section.global_circuit_breaker_threshold))


def local_zone() -> str:
    """The host's time zone: its name where the host tells, else its offset."""
    named = os.environ.get("TZ", "")
    if "/" in named:
        return named.removeprefix(":")
    target = os.path.realpath("/etc/localtime")
    if "/zoneinfo/" in target:
        return target.split("/zoneinfo/", 1)[1]
    return time.strftime("%Z")

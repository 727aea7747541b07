"""``tools`` and ``skills`` (behaviour.md 4.5, 8)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from openclaw_core.config.secret import Secret
from openclaw_core.config.sections.base import DurationMs, Section, nested_default


class ToolPolicy(Section):
    """Which tools there are; each stage can only take away. `allow` and `also_allow` exclude each other."""

    profile: Literal["minimal", "coding", "messaging", "full"] | None = None
    allow: list[str] | None = None
    also_allow: list[str] = Field(default_factory=list)
    deny: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _either(self) -> ToolPolicy:
        if self.allow and self.also_allow:
            raise ValueError("allow and alsoAllow cannot stand together; put all names into allow")
        return self


class FileTools(Section):
    """``tools.files``: ours. `roots` are folders besides the workspace that the file tools may open."""

    roots: list[str] = Field(default_factory=list)
    max_read_bytes: int = Field(default=262_144, ge=1)


class FsPolicy(Section):
    """``tools.fs``. `extra_roots` is read like ``tools.files.roots``."""

    workspace_only: bool = True
    extra_roots: list[str] = Field(default_factory=list)


class LoopDetection(Section):
    """``tools.loopDetection`` (behaviour.md 8.11)."""

    enabled: bool = True
    """Ours: on. The original has it off."""
    history_size: int = Field(default=30, ge=1)
    warning_threshold: int = Field(default=10, ge=1)
    unknown_tool_threshold: int = Field(default=10, ge=1)
    critical_threshold: int = Field(default=20, ge=1)
    global_circuit_breaker_threshold: int = Field(default=30, ge=1)
    detectors: dict[str, bool] = Field(default_factory=dict)


class ToolsSection(ToolPolicy):
    """``tools``."""

    by_provider: dict[str, ToolPolicy] = Field(default_factory=dict)
    files: FileTools = nested_default()
    fs: FsPolicy = nested_default()
    exec: dict[str, Any] = Field(default_factory=dict)
    web: dict[str, Any] = Field(default_factory=dict)
    media: dict[str, Any] = Field(default_factory=dict)
    loop_detection: LoopDetection = nested_default()
    sessions: dict[str, Any] = Field(default_factory=dict)
    agent_to_agent: dict[str, Any] = Field(default_factory=dict)
    subagents: dict[str, Any] = Field(default_factory=dict)
    sandbox: dict[str, Any] = Field(default_factory=dict)
    elevated: dict[str, Any] = Field(default_factory=dict)
    sessions_spawn: dict[str, Any] = Field(default_factory=dict, alias="sessions_spawn")
    timeout_ms: DurationMs | None = Field(default=None, ge=1)
    """Ours: upper bound of any tool call."""


class SkillEntry(Section):
    """``skills.entries.<key>``."""

    enabled: bool = True
    api_key: Secret | None = None
    env: dict[str, Secret] = Field(default_factory=dict)
    config: dict[str, Any] = Field(default_factory=dict)


class SkillsLoad(Section):
    """Where else skills come from and whether changes are seen."""

    extra_dirs: list[str] = Field(default_factory=list)
    watch: bool = True
    watch_debounce_ms: DurationMs = Field(default=250, ge=0)
    allow_symlink_targets: list[str] = Field(default_factory=list)


class SkillsLimits(Section):
    """Bounds of skill discovery and of the prompt part (behaviour.md 4.2)."""

    max_candidates_per_root: int = Field(default=300, ge=1)
    max_skills_loaded_per_source: int = Field(default=200, ge=0)
    max_skills_in_prompt: int = Field(default=150, ge=0)
    max_skills_prompt_chars: int = Field(default=30_000, ge=0)
    max_skill_file_bytes: int = Field(default=256_000, ge=1)


class SkillsSection(Section):
    """``skills``."""

    allow_bundled: list[str] | None = None
    load: SkillsLoad = nested_default()
    install: dict[str, Any] = Field(default_factory=dict)
    limits: SkillsLimits = nested_default()
    entries: dict[str, SkillEntry] = Field(default_factory=dict)

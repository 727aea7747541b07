"""``logging`` (behaviour.md 11.3, 11.7)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from openclaw_core.config.sections.base import Section, nested_default


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


Level = Annotated[
    Literal["silent", "fatal", "error", "warn", "warning", "info", "debug", "trace"], BeforeValidator(_lower)
]


class AuditSettings(Section):
    """``logging.audit``."""

    enabled: bool = True
    messages: Literal["off", "direct", "all"] = "off"
    execution_identity: bool = False
    sinks: list[str] | None = None
    """Ours: ids of audit sinks beside the store; unset = those on by default."""


class LoggingSection(Section):
    """``logging``."""

    level: Level = "info"
    file: str = ""
    console_level: Level | None = None
    console_style: Literal["pretty", "compact", "json"] = "pretty"
    redact_sensitive: Literal["tools", "off"] = "tools"
    redact_patterns: list[str] = Field(default_factory=list)
    audit: AuditSettings = nested_default()

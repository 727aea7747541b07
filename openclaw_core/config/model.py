"""The whole configuration as a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from openclaw_core.config.sections.agents import AgentsSection
from openclaw_core.config.sections.base import Section, nested_default
from openclaw_core.config.sections.channels import ChannelsSection
from openclaw_core.config.sections.gateway import GatewaySection
from openclaw_core.config.sections.log import LoggingSection
from openclaw_core.config.sections.models import ModelsSection
from openclaw_core.config.sections.plugins import PluginsSection
from openclaw_core.config.sections.session import MessagesSection, SessionSection
from openclaw_core.config.sections.tools import SkillsSection, ToolsSection


class Config(Section):
    """``openclaw.json``. Every default is the number of behaviour.md, appendix B."""

    gateway: GatewaySection = nested_default()
    agents: AgentsSection = nested_default()
    models: ModelsSection = nested_default()
    channels: ChannelsSection = nested_default()
    session: SessionSection = nested_default()
    messages: MessagesSection = nested_default()
    tools: ToolsSection = nested_default()
    skills: SkillsSection = nested_default()
    plugins: PluginsSection = nested_default()
    logging: LoggingSection = nested_default()
    env: dict[str, Any] = Field(default_factory=dict)


def parse_config(
    data: Mapping[str, Any], *, environ: Mapping[str, str] | None = None, base: Path | None = None
) -> Config:
    """Validate plain data. `environ` and `base` are where secrets come from.

    Raises ConfigValueError with the dotted path of the first problem and, for an unknown key, the
    closest known one.
    """
    try:
        return Config.model_validate(data, context={"environ": environ, "base": base})
    except ValidationError as error:
        from openclaw_core.config.problems import config_error

        raise config_error(error, Config, data) from None

"""``channels``: kept as written; each channel's own model reads its part when it is enabled."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from openclaw_core.config.sections.base import Section


class ChannelsSection(Section):
    """``channels``. Every key that is not a field is the id of a channel."""

    model_config = Section.model_config | {"extra": "allow"}

    defaults: dict[str, Any] = Field(default_factory=dict)
    model_by_channel: dict[str, dict[str, str]] = Field(default_factory=dict)

    def configured(self) -> dict[str, Any]:
        """The section of each channel by id, as written (``${NAME}`` replaced), enabled or not."""
        return dict(self.__pydantic_extra__ or {})

    def active(self) -> dict[str, Any]:
        """Those not switched off by ``enabled: false``."""
        return {
            name: section
            for name, section in self.configured().items()
            if not (isinstance(section, dict) and section.get("enabled") is False)
        }

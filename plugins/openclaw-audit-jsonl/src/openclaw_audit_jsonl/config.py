"""Configuration of the sink."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class JsonlConfig(BaseModel):
    """How long files are kept."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    keep_days: int = Field(default=30, ge=1, le=3650, alias="keepDays", description="days a file is kept")

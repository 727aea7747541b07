"""The plugin's own configuration section."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class SqliteStoreConfig(BaseModel):
    """Settings of the store; the defaults suit one gateway on one machine."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)

    busy_timeout_ms: int = Field(default=5000, ge=100, le=60_000)
    """How long a write waits for another process on the same state directory (reliability.md 6.2)."""

    cached_sessions: int = Field(default=256, ge=1, le=100_000)
    """Transcripts whose last lines are kept in memory."""

    cached_bytes: int = Field(default=16 * 1024 * 1024, ge=64 * 1024)
    """Bytes of transcript lines kept in memory, over all sessions."""

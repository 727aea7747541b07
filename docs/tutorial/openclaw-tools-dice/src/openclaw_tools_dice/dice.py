"""The work: imported when the tool is used for the first time."""

from __future__ import annotations

import random

from pydantic import BaseModel, Field

from openclaw_core.sdk import ToolCall, ToolContext, ToolEnv, ToolError, ToolResult


class Roll(BaseModel):
    """The arguments; their JSON schema goes to the model."""

    count: int = Field(default=1, ge=1, le=100, description="how many dice")
    sides: int = Field(default=6, ge=2, le=1000)


class Dice:
    """Implements the contract `Tool`."""

    async def execute(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        """Roll. The message of a ToolError goes to the model."""
        roll: Roll = call.parsed
        if roll.count * roll.sides > 10_000:
            raise ToolError("That is too much to roll at once.")
        total = sum(random.randint(1, roll.sides) for _ in range(roll.count))
        return ToolResult.text(f"{roll.count}d{roll.sides} = {total}")


def create(env: ToolEnv) -> Dice:
    """The factory that the spec names."""
    return Dice()

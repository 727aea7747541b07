"""What the plugin offers. Listing plugins imports at most this file, so it imports next to nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from openclaw_core.plugin import ToolSpec, hookimpl

if TYPE_CHECKING:
    from openclaw_core.sdk import ToolEnv


@hookimpl
def openclaw_tools(env: ToolEnv) -> Iterable[ToolSpec]:
    """One tool for every agent."""
    return [
        ToolSpec(
            name="roll",
            description="Roll dice and give the sum.",
            factory="openclaw_tools_dice.dice:create",
            args_model="openclaw_tools_dice.dice:Roll",
        )
    ]

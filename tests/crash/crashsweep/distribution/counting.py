"""The entry point ``sweep-count``."""

from openclaw_core.plugin import ToolSpec, hookimpl


@hookimpl
def openclaw_tools(env):
    return (
        ToolSpec(
            name="count",
            description="Counts a value, once.",
            factory="openclaw_sweep.tool:CountTool",
            args_model="openclaw_sweep.tool:CountArgs",
        ),
    )

"""A tool with an effect that must not happen twice."""

import json
import os

from pydantic import BaseModel

from openclaw_core.sdk import ToolResult, fault_point


class CountArgs(BaseModel):
    value: str


class CountTool:
    def __init__(self, env):
        self._path = env.state_dir / "effects.jsonl"

    async def execute(self, call, ctx):
        fault_point("sweep.effect.before")
        fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(fd, json.dumps({"call": call.id, "value": call.arguments["value"]}).encode() + b"\n")
            os.fsync(fd)
        finally:
            os.close(fd)
        fault_point("sweep.effect.after")
        return ToolResult.text(f"counted {call.arguments['value']}")

"""Tasks with an owner: every task has a name, and its owner waits for its end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from openclaw_core.observe.logging import get_logger

_log = get_logger("aio")


class TaskOwner:
    """Owns tasks that live independently of each other: one that fails is logged and costs only itself.

    Unlike asyncio.TaskGroup, a failing child does not cancel its siblings. `aclose` cancels all and
    waits until they have ended.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    def start(self, coro: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any]:
        """Start a task; raises RuntimeError after `aclose`."""
        if self._closed:
            coro.close()
            raise RuntimeError(f"task owner {self.name} is closed")
        task = asyncio.get_running_loop().create_task(coro, name=f"{self.name}:{name}")
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("task failed", task=task.get_name(), error=repr(error), exc_info=error)

    def __len__(self) -> int:
        return len(self._tasks)

    async def drain(self, timeout_s: float) -> bool:
        """Wait until all tasks have ended by themselves; False when time ran out."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=timeout_s)
        return not self._tasks

    async def aclose(self) -> None:
        """Cancel all tasks and wait for their end; may be called twice."""
        self._closed = True
        while self._tasks:
            for task in list(self._tasks):
                task.cancel()
            await asyncio.wait(set(self._tasks))

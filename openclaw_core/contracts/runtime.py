"""The runtime: owns the model loop of one turn."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from openclaw_core.domain.events import ModelEvent, Notice, RunEvent, TextReset
from openclaw_core.domain.ids import RunId
from openclaw_core.domain.messages import AssistantMessage, Message, ToolResultMessage, UserMessage
from openclaw_core.domain.tools import ToolSchema
from openclaw_core.domain.turns import Turn


class RunContext(Protocol):
    """What core lends to a runtime. Everything here is durable when it returns."""

    @property
    def tools(self) -> Sequence[ToolSchema]:
        """The tools the model may call in this turn."""
        ...

    def conversation(self) -> list[Message]:
        """History and this turn so far, valid pairs only, ending with the last durable message. After a
        crash it ends where the run stopped: with an assistant message whose calls lack results, or with
        tool results, or with the final answer."""
        ...

    def request_model(self, messages: Sequence[Message]) -> AsyncGenerator[ModelEvent | TextReset | Notice, None]:
        """One model request through the fault tolerance of core. Ends with ModelAnswer, already stored
        in the transcript. Raises ProviderError when nothing helped, RunLimit at the bound."""
        ...

    def call_tools(self, answer: AssistantMessage) -> AsyncGenerator[RunEvent | ToolResultMessage, None]:
        """Run the answer's tool calls through `tools.invoke`; yields events and, in order, one stored
        result for each call. Calls with incomplete arguments, unknown names or refused ones get an
        error result and are not run."""
        ...

    def take_steer(self) -> Sequence[UserMessage]:
        """Messages that a person pushed into the running turn since the last call; stored already."""
        ...


class Runtime(Protocol):
    """One way of running a turn."""

    def run(self, turn: Turn, ctx: RunContext) -> AsyncIterator[RunEvent]:
        """Run the turn to its end. The last assistant message of the conversation is the answer.
        Cancelling the iterating task stops it at once."""
        ...

    async def cancel(self, run_id: RunId) -> None:
        """Stop a run from outside, where cancelling the task is not enough (a subprocess)."""
        ...

    async def aclose(self) -> None:
        """Free what was kept between runs."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeEnv:
    """What a runtime factory gets."""

    state_dir: str
    config: Any = field(default=None)

"""The messages of a run in progress: history before it, and its own durable lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from openclaw_core.contracts.store import Transcript
from openclaw_core.domain.ids import RunId, SessionId
from openclaw_core.domain.messages import AssistantMessage, Message, ToolCallBlock, ToolResultMessage, UserMessage
from openclaw_core.sessions.codec import encode_line, line_id
from openclaw_core.sessions.history import HistoryWindow, MessageCache, interrupted, paired, unanswered, usable

_LINES_PER_TURN = 4
_MAX_LINES = 4000


@dataclass(slots=True)
class Conversation:
    """History and the run's own messages. Every change goes to the transcript first."""

    run_id: RunId
    transcript: Transcript
    history: list[Message] = field(default_factory=list)
    own: list[Message] = field(default_factory=list)

    @property
    def messages(self) -> list[Message]:
        """What a runtime sees."""
        return [*self.history, *self.own]

    @property
    def answers(self) -> int:
        """How many model answers the run has so far."""
        return sum(1 for m in self.own if isinstance(m, AssistantMessage))

    async def append(self, message: Message, label: str, *, at: int) -> None:
        """Store a message of this run under its deterministic id, then remember it."""
        line = line_id(self.run_id, label)
        await self.transcript.append([encode_line(message, line=line, run_id=self.run_id, at=at)])
        self.own.append(message)

    def open_calls(self) -> list[ToolCallBlock]:
        """Calls of the last answer without result."""
        return unanswered(self.own)

    async def close_calls(self, text: str, *, at: int) -> None:
        """Give every open call a result, so that the pair is complete whatever happens next."""
        for call in self.open_calls():
            result = interrupted(call, at=at, text=text)
            await self.append(result, f"r:{self.answers}:{call.id}", at=at)

    def results_of_last(self) -> set[str]:
        """Ids of the calls of the last answer that have a result."""
        out: set[str] = set()
        for message in reversed(self.own):
            if not isinstance(message, ToolResultMessage):
                break
            out.add(message.tool_call_id)
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryReader:
    """Loads conversations; shared by all runs of the process."""

    cache: MessageCache
    window: HistoryWindow

    async def load(
        self,
        transcript: Transcript,
        *,
        run_id: RunId,
        session_id: SessionId,
        user: UserMessage,
        turns: int,
        resumed: bool,
        at: int,
    ) -> Conversation:
        """The conversation with the run's user message in it, appended unless a crash left it there."""
        user_line = line_id(run_id, "user")
        want = min(_MAX_LINES, _LINES_PER_TURN * (turns + 1) + 16)
        entries = await self._tail(transcript, session_id, want, user_line if resumed else None)
        place = next((i for i, (ident, _) in enumerate(entries) if ident == user_line), None)
        conversation = Conversation(run_id=run_id, transcript=transcript)
        if place is None:
            before = entries
            await self._close_dangling(conversation, before, at=at)
            await conversation.append(user, "user", at=at)
        else:
            before = entries[:place]
            conversation.own = [message for _, message in entries[place:]]
        conversation.history = self._shown(session_id, before, turns)
        return conversation

    async def _tail(
        self, transcript: Transcript, session_id: SessionId, want: int, until_id: str | None
    ) -> list[tuple[str, Message]]:
        """The end of the transcript, at least `want` lines, and more while one long turn fills them all."""
        while True:
            lines = await transcript.tail(min_entries=want, until_id=until_id)
            entries = self.cache.decode(session_id, lines)
            whole = len(lines) < want or want >= _MAX_LINES
            if whole or any(isinstance(message, UserMessage) for _, message in entries):
                return entries
            want = min(_MAX_LINES, 4 * want)

    def _shown(self, session_id: SessionId, before: Sequence[tuple[str, Message]], turns: int) -> list[Message]:
        if turns <= 0:
            return []
        # the window counts turns before the newest one it is given
        cut = self.window.cut(session_id, before, turns=turns - 1) if turns > 1 else _last_turn(before)
        return paired([message for _, message in cut if usable(message)])

    async def _close_dangling(self, conversation: Conversation, before: list[tuple[str, Message]], *, at: int) -> None:
        """A run that was given up left calls open: close them in the file, once, before anything follows."""
        calls = unanswered([m for _, m in before])
        for call in calls:
            line = line_id(before[-1][0], f"repair:{call.id}")
            result = interrupted(call, at=at)
            await conversation.transcript.append([encode_line(result, line=line, run_id=conversation.run_id, at=at)])
            before.append((line, result))


def _last_turn(entries: Sequence[tuple[str, Message]]) -> list[tuple[str, Message]]:
    start = next((i for i in range(len(entries) - 1, -1, -1) if isinstance(entries[i][1], UserMessage)), None)
    return list(entries[start:]) if start is not None else []

"""From transcript lines to the messages a model is shown: limits, pairs, repair."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from openclaw_core.domain.messages import (
    AssistantMessage,
    Message,
    StopReason,
    TextBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
)
from openclaw_core.sessions.codec import decode

INTERRUPTED = "The tool was interrupted; whether it took effect is unknown. Check before you do it again."
"""Result of a call whose outcome a crash or an abort left open."""


class MessageCache:
    """Decoded lines by id, per transcript, so that a turn does not decode its history again."""

    def __init__(self, *, transcripts: int = 128, lines: int = 1024) -> None:
        self._all: OrderedDict[str, dict[str, Message]] = OrderedDict()
        self._transcripts = transcripts
        self._lines = lines

    def decode(self, session_id: str, lines: Iterable[Mapping[str, Any]]) -> list[tuple[str, Message]]:
        """(line id, message) of all message lines in order; a compaction line replaces what lies before it."""
        known = self._all.pop(session_id, {})
        self._all[session_id] = known
        out: list[tuple[str, Message]] = []
        for line in lines:
            kind = line.get("type")
            if kind == "compaction":
                out = _compacted(line, out)
                continue
            if kind != "message":
                continue
            ident = str(line.get("id", ""))
            message = known.get(ident)
            if message is None:
                inner = line.get("message")
                message = decode(inner) if isinstance(inner, Mapping) else None
                if message is None:
                    continue
                known[ident] = message
            out.append((ident, message))
        if len(known) > self._lines:
            keep = {ident for ident, _ in out[-self._lines :]}
            self._all[session_id] = {k: v for k, v in known.items() if k in keep}
        while len(self._all) > self._transcripts:
            self._all.popitem(last=False)
        return out


def _compacted(line: Mapping[str, Any], before: list[tuple[str, Message]]) -> list[tuple[str, Message]]:
    kept = str(line.get("firstKeptEntryId", ""))
    start = next((i for i, (ident, _) in enumerate(before) if ident == kept), len(before))
    summary = UserMessage(content=(TextBlock(text=f"[Summary of the conversation so far]\n{line.get('summary', '')}"),))
    return [(str(line.get("id", "")), summary), *before[start:]]


def paired(messages: Sequence[Message]) -> list[Message]:
    """Messages with exactly one result directly after each call: missing ones are filled in as
    interrupted, orphans and doubles left out, empty assistant messages left out."""
    out: list[Message] = []
    index = 0
    while index < len(messages):
        message = messages[index]
        index += 1
        if isinstance(message, ToolResultMessage):
            continue  # results are taken with their call below; this one has none
        if isinstance(message, AssistantMessage):
            if not message.content:
                continue
            out.append(message)
            found: dict[str, list[ToolResultMessage]] = {}
            while index < len(messages):
                following = messages[index]
                if not isinstance(following, ToolResultMessage):
                    break
                found.setdefault(following.tool_call_id, []).append(following)
                index += 1
            out += [found[call.id].pop(0) if found.get(call.id) else interrupted(call) for call in message.tool_calls]
            continue
        out.append(message)
    return out


def interrupted(call: ToolCallBlock, *, at: int = 0, text: str = INTERRUPTED) -> ToolResultMessage:
    """The result that closes a call whose outcome is unknown."""
    return ToolResultMessage(
        tool_call_id=call.id, tool_name=call.name, content=(TextBlock(text=text),), is_error=True, timestamp=at
    )


def unanswered(messages: Sequence[Message]) -> list[ToolCallBlock]:
    """Calls of the last assistant message that have no result yet."""
    results: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, ToolResultMessage):
            results.add(message.tool_call_id)
        elif isinstance(message, AssistantMessage):
            return [call for call in message.tool_calls if call.id not in results]
        else:
            return []
    return []


class HistoryWindow:
    """Chooses how far back a request reaches: the last `turns` user turns, in steps, so that the prefix
    stays the same from turn to turn and the provider's cache keeps working."""

    def __init__(self, *, sessions: int = 512) -> None:
        self._anchors: OrderedDict[str, tuple[str, int]] = OrderedDict()
        self._sessions = sessions

    def cut(self, session_id: str, entries: Sequence[tuple[str, Message]], *, turns: int) -> list[tuple[str, Message]]:
        """The entries to show. `turns` counts user messages before the newest one; 0 means none of them."""
        users = [i for i, (_, m) in enumerate(entries) if isinstance(m, UserMessage)]
        if not users:
            return []
        if turns <= 0:
            return list(entries[users[-1] :])
        anchor, chosen_for = self._anchors.get(session_id, ("", turns))
        start = next((i for i in users if entries[i][0] == anchor), None) if chosen_for == turns else None
        shown = len([i for i in users if i >= start]) - 1 if start is not None else len(users) - 1
        if start is None or shown > turns + max(1, turns // 4):
            start = users[-(turns + 1)] if len(users) > turns else users[0]
        self._anchors[session_id] = (entries[start][0], turns)
        self._anchors.move_to_end(session_id)
        while len(self._anchors) > self._sessions:
            self._anchors.popitem(last=False)
        return list(entries[start:])


def usable(message: Message) -> bool:
    """Whether a message of an earlier run belongs into a new request: failed answers do not."""
    if isinstance(message, AssistantMessage) and message.stop_reason is StopReason.ERROR:
        return bool(message.tool_calls)
    return True

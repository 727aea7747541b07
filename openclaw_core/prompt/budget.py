"""How much of the context window a request uses (behaviour.md 1.9, 2.8). No network, no tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openclaw_core.domain.messages import ImageBlock, Message, TextBlock, ThinkingBlock, UserMessage

CHARS_PER_TOKEN = 4
_IMAGE_TOKENS = 1_200
_MESSAGE_TOKENS = 4


def message_tokens(message: Message) -> int:
    """Estimated tokens of one message."""
    total = _MESSAGE_TOKENS
    for block in message.content:
        if isinstance(block, TextBlock):
            total += len(block.text) // CHARS_PER_TOKEN
        elif isinstance(block, ThinkingBlock):
            total += len(block.thinking) // CHARS_PER_TOKEN
        elif isinstance(block, ImageBlock):
            total += _IMAGE_TOKENS
        else:
            total += (len(block.name) + len(str(block.arguments))) // CHARS_PER_TOKEN + _MESSAGE_TOKENS
    return total


def reserve_tokens(window: int, *, reserve: int, floor: int) -> int:
    """Tokens kept free for the answer: never more than half of a small window."""
    return min(max(reserve, floor), window // 2)


def status(
    *, window: int, reserve: int, prompt_chars: int, tools_chars: int, messages: Sequence[Message]
) -> dict[str, Any]:
    """The `contextBudgetStatus` of a run."""
    history = sum(message_tokens(m) for m in messages)
    prompt = (prompt_chars + tools_chars) // CHARS_PER_TOKEN + history
    usable = window - reserve
    return {
        "contextWindow": window,
        "reserveTokens": reserve,
        "usableTokens": usable,
        "estimatedPromptTokens": prompt,
        "historyTokens": history,
        "remainingTokens": max(0, usable - prompt),
        "usedRatio": round(prompt / window, 4) if window else 0.0,
        "shouldCompact": prompt > usable,
    }


def fit(history: list[Message], *, spare: int) -> list[Message]:
    """Drop whole turns from the front of the history until `spare` (tokens, negative = over) is not negative.

    The history begins with a user message before and after; it may become empty.
    """
    if spare >= 0:
        return history
    start = 0
    while start < len(history) and spare < 0:
        end = start + 1
        while end < len(history) and not isinstance(history[end], UserMessage):
            end += 1
        spare += sum(message_tokens(m) for m in history[start:end])
        start = end
    return history[start:]

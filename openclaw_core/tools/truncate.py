"""Cutting tool results to a share of the context window (behaviour.md 2.8)."""

from __future__ import annotations

from openclaw_core.domain.messages import Block, TextBlock

_HARD = ((200_000, 64_000), (100_000, 32_000), (0, 16_000))
_KEEP = 2_000
_TAIL_SHARE, _TAIL_MAX = 0.3, 4_000
_IMPORTANT = ("error", "exception", "traceback", "failed", "total", "summary", "}")


def cap_chars(context_window: int, override: int | None = None) -> int:
    """How many characters one result may keep: 30 % of the window at 4 characters a token, under a hard cap."""
    if override is not None:
        return max(_KEEP, override)
    hard = next(limit for step, limit in _HARD if context_window >= step)
    return max(_KEEP, min(int(context_window * 0.3 * 4), hard))


def truncate_text(text: str, cap: int) -> str:
    """At most about `cap` characters, with a notice; the tail is kept too where it looks important."""
    if len(text) <= cap:
        return text
    tail = ""
    last = text[-2000:].lower()
    if any(word in last for word in _IMPORTANT):
        tail = text[-min(int(cap * _TAIL_SHARE), _TAIL_MAX) :]
    head = text[: cap - len(tail)]
    newline = head.rfind("\n")
    if newline >= len(head) * 0.8:
        head = head[:newline]
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n[… {left_out} characters left out; ask for a smaller part …]\n{tail}".rstrip("\n")


def truncate_blocks(blocks: tuple[Block, ...], cap: int) -> tuple[Block, ...]:
    """Cut the text blocks of a result so that together they stay within `cap`."""
    total = sum(len(b.text) for b in blocks if isinstance(b, TextBlock))
    if total <= cap:
        return blocks
    out: list[Block] = []
    left = cap
    for block in blocks:
        if isinstance(block, TextBlock):
            text = truncate_text(block.text, max(left, 200))
            left = max(0, left - len(text))
            out.append(TextBlock(text=text))
        else:
            out.append(block)
    return tuple(out)

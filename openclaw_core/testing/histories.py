"""Random histories for property tests: everything a crash, a switch of vendors or a strange tool may leave."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from openclaw_core.domain.messages import (
    AssistantMessage,
    Block,
    ImageBlock,
    Message,
    StopReason,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultMessage,
    UserMessage,
)

_ODD = st.sampled_from(["", " ", "\n", "\0", "\ud83d", "\ude42", "\ud83d\ude42", "\u2028", "é🙂", "</x>"])
_TEXT = st.lists(st.one_of(_ODD, st.text(max_size=8)), max_size=3).map("".join)
_IDS = st.one_of(
    st.sampled_from(
        ["a", "b", "call_aaaaaaaaa1", "call_aaaaaaaaa2", "toolu_01AAAAAAAAAAAAAAAAAAAAAA", "fn-é|x", "", "x" * 70]
    ),
    st.text(max_size=12),
)
_NAMES = st.one_of(st.sampled_from(["read", "write", "no such tool", "", "n" * 80]), st.text(max_size=6))
_JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), _TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(_TEXT, inner, max_size=2)),
    max_leaves=4,
)
_APIS = st.sampled_from(["", "anthropic-messages", "openai-completions"])


def _text_block() -> st.SearchStrategy[Block]:
    return st.builds(lambda t: TextBlock(text=t), _TEXT)


def _image_block() -> st.SearchStrategy[Block]:
    return st.builds(
        lambda d, m: ImageBlock(data=d, mime_type=m),
        st.sampled_from(["", "aGk="]),
        st.sampled_from(["image/png", "image/tiff"]),
    )


def _thinking() -> st.SearchStrategy[Block]:
    return st.one_of(
        st.builds(lambda t, s: ThinkingBlock(thinking=t, signature=s), _TEXT, st.sampled_from([None, "", "SIG=="])),
        st.builds(lambda d: ThinkingBlock(thinking="", redacted=d), st.sampled_from(["ZZZ", ""])),
    )


def _call() -> st.SearchStrategy[Block]:
    arguments = st.one_of(st.none(), st.dictionaries(_TEXT, _JSON, max_size=2))
    return st.builds(lambda i, n, a: ToolCallBlock(id=i, name=n, arguments=a), _IDS, _NAMES, arguments)


def messages() -> st.SearchStrategy[Message]:
    """One message of any kind."""
    outside = st.lists(st.one_of(_text_block(), _image_block()), max_size=3).map(tuple)
    inside = st.lists(st.one_of(_text_block(), _thinking(), _call()), max_size=4).map(tuple)
    return st.one_of(
        st.builds(lambda c: UserMessage(content=c), outside),
        st.builds(
            lambda c, s, a: AssistantMessage(content=c, stop_reason=s, api=a),
            inside,
            st.sampled_from(StopReason),
            _APIS,
        ),
        st.builds(
            lambda i, n, c, e: ToolResultMessage(tool_call_id=i, tool_name=n, content=c, is_error=e),
            _IDS,
            _NAMES,
            outside,
            st.booleans(),
        ),
    )


def histories(max_size: int = 10) -> st.SearchStrategy[list[Message]]:
    """Any sequence of messages."""
    return st.lists(messages(), max_size=max_size)

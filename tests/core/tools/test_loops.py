"""Loop detection: warn, block, end; progress starts the count anew."""

from __future__ import annotations

import pytest

from openclaw_core.errors import RunLimit
from openclaw_core.tools.loops import BLOCK_AT, BREAK_AT, WARN_AT, LoopGuard, digest

MARK = digest("read", {"path": "x"})


def test_the_same_call_with_the_same_result() -> None:
    guard = LoopGuard()
    warned = blocked = 0
    with pytest.raises(RunLimit, match="read") as caught:
        for _ in range(100):
            text = guard.before(MARK, "read")
            if text is None:
                warned += bool(guard.after(MARK, "same"))
            else:
                blocked += 1
                assert text.startswith("Blocked")
    assert (warned, blocked) == (BLOCK_AT - WARN_AT + 1, BREAK_AT - BLOCK_AT)
    assert caught.value.code == "tool_loop"


def test_a_changing_result_is_progress() -> None:
    guard = LoopGuard()
    for number in range(200):
        assert guard.before(MARK, "poll") is None
        assert guard.after(MARK, str(number // 5)) == ""


def test_calls_in_turns_are_counted_each() -> None:
    guard = LoopGuard()
    other = digest("read", {"path": "y"})
    with pytest.raises(RunLimit):
        for _ in range(100):
            for mark in (MARK, other):
                if guard.before(mark, "read") is None:
                    guard.after(mark, "same")


def test_tools_that_do_not_exist() -> None:
    guard = LoopGuard()
    for number in range(WARN_AT - 1):
        guard.unknown(f"made_up_{number}")
    with pytest.raises(RunLimit, match="do not exist"):
        guard.unknown("made_up")


def test_fingerprints() -> None:
    assert digest("t", {"a": 1, "b": 2}) == digest("t", {"b": 2, "a": 1})
    assert digest("t", {"a": 1}) != digest("t", {"a": "1"})
    assert digest("t", {}) != digest("u", {})
    assert digest("t", {"a": "\ud83d"})

"""Secrets never reach a log, and what strangers send cannot write lines or colours into one."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_core.observe.logging import configure, get_logger, mask, printable, redact, register_secret, run_context

SECRET = "canary-5d1c1c0f-secret"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    root = logging.getLogger("openclaw")
    before = (root.level, root.propagate, list(root.handlers))
    file = tmp_path / "gateway.log"
    configure(level="error", file=str(file), file_level="info")
    yield file
    for handler in list(root.handlers):
        root.removeHandler(handler)
        handler.close()
    root.setLevel(before[0])
    root.propagate = before[1]
    for handler in before[2]:
        root.addHandler(handler)


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abcdef0123456789abcdef",
        "key sk-abcdef0123456789abcdef",
        "key sk-ant-api03-abcdef0123456789abcdef",
        "xoxb-123456789012-abcdef0123456789abcdef",
        "ghp_abcdef0123456789abcdef",
        "AIzaabcdef0123456789abcdef",
        "https://user:abcdef0123456789abcdef@host/x",
    ],
)
def test_what_looks_like_a_credential_is_masked(text: str) -> None:
    assert "abcdef0123456789abcdef" not in redact(text)
    assert redact(text) != text


def test_known_secrets_are_masked_wherever_they_stand() -> None:
    register_secret(SECRET)
    register_secret("short")
    assert SECRET not in redact(f"a{SECRET}b {SECRET}")
    assert redact("short") == "short"
    assert mask(SECRET) == "canary…cret"
    assert mask("x" * 17) == "***"


@given(st.text(st.characters(exclude_characters=":@/"), max_size=60))
def test_ordinary_text_stays(text: str) -> None:
    if not any(mark in text.lower() for mark in ("bearer", "sk", "xox", "gh", "glpat", "aiza", "canary")):
        assert redact(text) == text


@given(st.text())
def test_printable_text_is_one_line(text: str) -> None:
    shown = printable(text)
    assert len(shown.splitlines()) <= 1
    assert "\x1b" not in shown


def test_the_file_holds_json_lines_with_the_run_and_without_secrets(log: Path) -> None:
    register_secret(SECRET)
    run_context.set({"runId": "run-1", "sessionKey": "agent:main:main"})
    get_logger("test").info(f"hello {SECRET}", key=SECRET, number=3, odd="a\nb\x1b[31m")
    try:
        raise ValueError(SECRET)
    except ValueError:
        get_logger("test").warning("it failed", exc_info=True)
    get_logger("test").debug("not wanted")
    run_context.set(None)
    for handler in logging.getLogger("openclaw").handlers:
        handler.flush()
        handler.close()
    text = log.read_text()
    assert SECRET not in text
    rows = [json.loads(line) for line in text.splitlines()]
    assert [r["message"] for r in rows] == ["hello canary…cret", "it failed"]
    assert rows[0]["runId"] == "run-1"
    assert rows[0]["number"] == 3
    assert "\x1b" not in text


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(ValueError, match="level"):
        configure(level="loud")

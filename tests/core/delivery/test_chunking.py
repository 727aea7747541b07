"""Cutting replies: within the limit in every unit, nothing lost, no character torn, fences closed and reopened."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_core.delivery.chunking import measure, split
from openclaw_core.domain.channels import TextUnit

UNITS = st.sampled_from(list(TextUnit))
PLAIN = st.text(st.characters(exclude_characters="`~", codec="utf-8"), max_size=400)
FAMILY = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"


def solid(text: str) -> str:
    """Everything but blank space."""
    return re.sub(r"\s", "", text)


@given(PLAIN, st.integers(16, 80), UNITS)
def test_plain_text_survives_but_for_blanks_at_the_cuts(text: str, limit: int, unit: TextUnit) -> None:
    parts = split(text, limit, unit)
    assert all(0 < measure(part, unit) <= limit for part in parts)
    assert solid("".join(parts)) == solid(text)


@given(
    st.lists(st.sampled_from(["```py\n", "```\n", "~~~\n", "x = 1\n", "\n", "word ", "y" * 30, FAMILY]), max_size=40),
    st.integers(16, 120),
    UNITS,
)
@settings(max_examples=200)
def test_with_fences_no_part_is_too_long_and_no_word_is_lost(pieces: list[str], limit: int, unit: TextUnit) -> None:
    text = "".join(pieces)
    parts = split(text, limit, unit)
    assert all(measure(part, unit) <= limit for part in parts)
    for char in ("y", "=", "w", "\N{MAN}"):
        assert "".join(parts).count(char) >= text.count(char)
    assert "".join(parts).count("=") == text.count("=")


@pytest.mark.parametrize(
    ("unit", "size"), [(TextUnit.UTF16, 8193), (TextUnit.BYTES, 16385), (TextUnit.CODE_POINTS, 4097)]
)
def test_emoji_are_counted_in_the_units_of_the_platform(unit: TextUnit, size: int) -> None:
    reply = "a" + "\U0001f642" * 4096
    assert measure(reply, unit) == size
    parts = split(reply, 4096, unit)
    assert len(parts) >= -(-size // 4096)
    assert all(measure(part, unit) <= 4096 for part in parts)
    assert "".join(parts) == reply
    for part in parts:
        part.encode("utf-8")


@pytest.mark.parametrize("joined", [FAMILY, "e\u0301", "\N{THUMBS UP SIGN}\U0001f3fd", "\N{HEAVY BLACK HEART}\ufe0f"])
def test_characters_that_are_shown_as_one_stay_together(joined: str) -> None:
    for lead in range(20):
        parts = split("x" * lead + joined * 8, 24, TextUnit.CODE_POINTS)
        assert "".join(parts) == "x" * lead + joined * 8
        for part in parts[1:]:
            assert part.startswith(joined[0]), parts


@pytest.mark.parametrize("size", [*range(1170, 1206), 2390])
def test_a_code_block_at_the_limit(size: int) -> None:
    parts = split("```\n" + "y" * size + "\n```\n\ntail", 1200, TextUnit.UTF16)
    assert all(len(part) <= 1200 for part in parts)
    assert sum(part.count("y") for part in parts) == size
    assert sum(part.count("tail") for part in parts) == 1
    for part in parts:
        assert part.count("```") % 2 == 0, part
        assert solid(part.replace("```", "")), "an empty block"


def test_a_fence_is_closed_and_opened_again_with_its_language() -> None:
    text = "before\n```python\n" + "\n".join(f"line{n} = {n}" for n in range(30)) + "\n```\nafter"
    parts = split(text, 120, TextUnit.UTF16)
    assert len(parts) > 3
    for part in parts[1:-1]:
        assert part.startswith("```python\n")
        assert part.endswith("\n```")
    lines = [line for part in parts for line in part.splitlines() if line.startswith("line")]
    assert lines == [f"line{n} = {n}" for n in range(30)]


def test_paragraphs_lines_and_sentences_are_preferred() -> None:
    assert split("one two.\n\nthree four", 16) == ["one two.", "three four"]
    assert split("one two three\nfour five", 16) == ["one two three", "four five"]
    assert split("Yes it is. No not so", 16) == ["Yes it is.", "No not so"]
    assert split("alpha beta gamma delta", 16) == ["alpha beta", "gamma delta"]


@pytest.mark.parametrize("limit", [-1, 0, 1, 15])
def test_a_limit_that_holds_nothing_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="limit"):
        split("text", limit)


def test_a_huge_limit_and_an_empty_text() -> None:
    assert split("\U0001f642" * 3, 10**9) == ["\U0001f642" * 3]
    assert split("", 100) == []
    assert split(" \n\n ", 100) == []
    assert len(split("z" * 100_000, 4096)) == 25

"""Results are cut with a mark and keep an important end; arguments are checked before a tool sees them."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from openclaw_core.domain.messages import Block, ImageBlock, TextBlock
from openclaw_core.errors import ToolError
from openclaw_core.tools.schema import check, of_model
from openclaw_core.tools.truncate import cap_chars, truncate_blocks, truncate_text


@pytest.mark.parametrize(
    ("window", "cap"), [(1_000, 2_000), (8_000, 9_600), (64_000, 16_000), (128_000, 32_000), (1_000_000, 64_000)]
)
def test_the_share_of_the_window(window: int, cap: int) -> None:
    assert cap_chars(window) == cap
    assert cap_chars(window, 10) == 2_000
    assert cap_chars(window, 50_000) == 50_000


@given(st.text(max_size=3000), st.integers(200, 2500))
def test_cutting_keeps_the_head_and_says_how_much_is_missing(text: str, cap: int) -> None:
    cut = truncate_text(text, cap)
    if len(text) <= cap:
        assert cut == text
        return
    assert len(cut) <= cap + 100
    assert "characters left out" in cut
    assert text.startswith(cut[: cut.index("\n[… ")])


def test_an_important_end_is_kept() -> None:
    text = "line\n" * 5000 + "Traceback: it failed here"
    assert truncate_text(text, 4000).endswith("it failed here")
    assert not truncate_text("line\n" * 5000 + "the very last", 4000).endswith("the very last")


def test_blocks_share_the_room_and_images_stay() -> None:
    image = ImageBlock(data="aGk=", mime_type="image/png")
    blocks: tuple[Block, ...] = (TextBlock(text="a" * 3000), image, TextBlock(text="b" * 3000))
    cut = truncate_blocks(blocks, 3500)
    assert cut[0] == blocks[0]
    assert cut[1] == image
    assert isinstance(cut[2], TextBlock)
    assert len(cut[2].text) < 700
    assert truncate_blocks(blocks, 6000) is blocks


class Arguments(BaseModel):
    """Described."""

    path: str = Field(description="Where")
    title: str = ""
    limit: int | None = None


def test_schemas_carry_no_titles_but_keep_a_property_named_title() -> None:
    schema = of_model(Arguments)
    assert set(schema["properties"]) == {"path", "title", "limit"}
    assert "title" not in schema
    assert "title" not in schema["properties"]["path"]
    assert "description" not in schema
    assert schema["required"] == ["path"]


def test_a_model_names_what_is_wrong() -> None:
    with pytest.raises(ToolError) as caught:
        check("read", {"limit": "many"}, model=Arguments, schema={})
    assert "- path" in caught.value.message
    assert "- limit" in caught.value.message
    assert check("read", {"path": "x"}, model=Arguments, schema={}) == Arguments(path="x")


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "f": {"type": ["number", "null"]}, "b": {"type": "boolean"}, "x": {}},
    "required": ["n"],
}


@pytest.mark.parametrize("good", [{"n": 1}, {"n": 1, "f": None, "b": True, "x": object()}, {"n": 0, "extra": 1}])
def test_a_schema_without_model(good: dict[str, Any]) -> None:
    assert check("t", good, model=None, schema=SCHEMA) is None


@pytest.mark.parametrize("bad", [{}, {"n": "1"}, {"n": True}, {"n": 1, "f": "x"}, {"n": 1, "b": 1}, {"n": None}])
def test_what_a_schema_refuses(bad: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match="Validation failed") as caught:
        check("t", bad, model=None, schema=SCHEMA)
    assert caught.value.code == "invalid_arguments"


@given(
    st.dictionaries(st.text(max_size=4), st.none() | st.integers() | st.text(max_size=3)),
    st.dictionaries(st.text(), st.none() | st.integers() | st.lists(st.none())),
)
def test_a_strange_schema_raises_nothing_else(arguments: dict[str, Any], schema: dict[str, Any]) -> None:
    with contextlib.suppress(ToolError):
        check("t", arguments, model=None, schema=schema)

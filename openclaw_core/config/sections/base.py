"""What all sections share: strict keys, camelCase spelling, durations."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)")
_SIZES = {"b": 1, "kb": 1024, "mb": 1024**2, "gb": 1024**3}


class Section(BaseModel):
    """Base of all sections: keys are camelCase, unknown ones are refused, instances do not change."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, arbitrary_types_allowed=True, defer_build=True
    )


def nested_default() -> Any:
    """The default of a field that holds a section: all defaults of that section.

    Given as data for the parent's validator; an instance would make pydantic build a validator for each
    section by itself, which doubles the time of reading a configuration.
    """
    return Field(default_factory=dict, validate_default=True)


def parse_duration_ms(value: Any) -> Any:
    """``"30m"``, ``"1h30m"`` or ``"7d"`` in milliseconds; plain numbers are milliseconds already.

    Raises ValueError for any other text.
    """
    if not isinstance(value, str):
        return value
    text = value.strip().lower()
    if text.isdigit():
        return int(text)
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError("a duration is a number of milliseconds or text such as 30s, 30m, 24h or 7d")
    return round(sum(float(number) * _UNITS[unit] for number, unit in parts))


def parse_size(value: Any) -> Any:
    """``"2mb"`` in bytes; plain numbers are bytes already. Raises ValueError for any other text."""
    if not isinstance(value, str):
        return value
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(b|kb|mb|gb)?", value.strip().lower())
    if not found:
        raise ValueError("a size is a number of bytes or text such as 512kb or 2mb")
    return round(float(found[1]) * _SIZES[found[2] or "b"])


DurationMs = Annotated[int, BeforeValidator(parse_duration_ms)]
"""Milliseconds, or text with a unit."""
Bytes = Annotated[int, BeforeValidator(parse_size)]
"""Bytes, or text with a unit."""

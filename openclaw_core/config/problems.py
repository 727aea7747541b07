"""Validation errors in a person's words: the dotted path, what is wrong, the closest known key."""

from __future__ import annotations

import difflib
import re
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from openclaw_core.config.environment import join_path
from openclaw_core.errors import ConfigValueError

Location = tuple[int | str, ...]


def config_error(error: ValidationError, model: type[BaseModel], data: Any, *, prefix: str = "") -> ConfigValueError:
    """Turn pydantic's report into ours. No value of the configuration appears in it.

    `prefix` is the dotted path of `data` within the whole configuration.
    """
    found: dict[str, str] = {}
    hint = ""
    for row in error.errors(include_url=False, include_context=False, include_input=False):
        location = clean_location(row["loc"], data)
        path = dotted(location, prefix)
        if row["type"] == "extra_forbidden":
            known = known_keys(model, location[:-1])
            text = f"{path} is not a known setting"
            close = difflib.get_close_matches(str(location[-1]), known, n=1, cutoff=0.6)
            if close:
                suggestion = dotted((*location[:-1], close[0]), prefix)
                text += f"; did you mean {suggestion}?"
                hint = hint or f"Rename it to {suggestion}, or remove it with `openclaw config unset {path}`."
            else:
                hint = hint or f"Remove it with `openclaw config unset {path}`."
        else:
            text = f"{path or 'the configuration'}: {_reason(row['msg'])}"
        found.setdefault(path, text)
    problems = tuple(found.values())
    first = problems[0] if problems[0].endswith("?") else f"{problems[0]}."
    if len(problems) > 1:
        first = f"{problems[0]} (and {len(problems) - 1} more)."
    return ConfigValueError(
        first,
        path=next(iter(found)),
        hint=hint or "Correct it in the file, or with `openclaw config set`.",
        problems=problems,
    )


def _reason(message: str) -> str:
    text = message.removeprefix("Value error, ").removeprefix("Input should be ")
    if text != message and message.startswith("Input should be "):
        return f"should be {text}"
    return text[:1].lower() + text[1:]


def clean_location(location: Sequence[int | str], data: Any) -> Location:
    """The location without pydantic's names of union members and validators, so that it is a path in `data`."""
    out: list[int | str] = []
    node = data
    for position, part in enumerate(location):
        if (isinstance(node, Mapping) and part in node) or _is_item(node, part):
            node = node[part]
        elif isinstance(node, Mapping) and position == len(location) - 1 and re.fullmatch(r"[\w$-]+", str(part)):
            node = None  # a required key that is missing
        else:
            continue
        out.append(part)
    return tuple(out)


def _is_item(node: Any, part: int | str) -> bool:
    return isinstance(node, list) and isinstance(part, int) and part < len(node)


def dotted(location: Iterable[int | str], prefix: str = "") -> str:
    """``agents.list[0].model`` for ("agents", "list", 0, "model")."""
    text = prefix
    for part in location:
        text = f"{text}[{part}]" if isinstance(part, int) else join_path(text, part)
    return text


def known_keys(model: type[BaseModel], location: Location) -> list[str]:
    """The keys that may stand at a place of the configuration, as they are spelled there."""
    models: list[Any] = [model]
    for part in location:
        models = [found for item in models for found in _step(item, part)]
    return sorted(
        {field.alias or name for item in models if _is_model(item) for name, field in item.model_fields.items()}
    )


def _step(annotation: Any, part: int | str) -> list[Any]:
    if _is_model(annotation):
        for name, field in annotation.model_fields.items():
            if part in (field.alias, name):
                return _members(field.annotation)
        return []
    arguments = get_args(annotation)
    if get_origin(annotation) is dict and len(arguments) == 2:
        return _members(arguments[1])
    if get_origin(annotation) is list and arguments and isinstance(part, int):
        return _members(arguments[0])
    return []


def _members(annotation: Any) -> list[Any]:
    if get_origin(annotation) in (Union, types.UnionType):
        return [member for argument in get_args(annotation) for member in _members(argument)]
    return [annotation]


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)

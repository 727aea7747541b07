"""JSON Schema of tools and the check of arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from openclaw_core.errors import ToolError

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (Mapping,),
    "array": (list, tuple),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def of_model(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a pydantic model without titles, which only cost tokens."""
    schema = _untitled(model.model_json_schema())
    assert isinstance(schema, dict)
    schema.pop("description", None)
    return schema


def _untitled(node: Any, *, names: bool = False) -> Any:
    if isinstance(node, dict):
        return {
            k: _untitled(v, names=k == "properties" and not names)
            for k, v in node.items()
            if names or k != "title" or not isinstance(v, str)
        }
    if isinstance(node, list):
        return [_untitled(item) for item in node]
    return node


def check(
    tool: str, arguments: Mapping[str, Any], *, model: type[BaseModel] | None, schema: Mapping[str, Any]
) -> BaseModel | None:
    """Check arguments against the tool's model, or its schema's top level where it has none.

    Raises ToolError whose message tells the model what to change.
    """
    if model is not None:
        try:
            return model.model_validate(dict(arguments))
        except ValidationError as error:
            problems = [f"- {'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors()]
            raise _refusal(tool, problems) from None
    problems = []
    properties = schema.get("properties")
    known: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
    required = schema.get("required")
    for name in required if isinstance(required, list) else []:
        if name not in arguments:
            problems.append(f"- {name}: required")
    for name, value in arguments.items():
        wanted = known.get(name, {}).get("type") if isinstance(known.get(name), Mapping) else None
        allowed = [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, list) else []
        kinds = tuple(t for w in allowed for t in _TYPES.get(w, ()))
        if kinds and (not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds)):
            problems.append(f"- {name}: must be {' or '.join(map(str, allowed))}")
    if problems:
        raise _refusal(tool, problems)
    return None


def _refusal(tool: str, problems: list[str]) -> ToolError:
    return ToolError(f'Validation failed for tool "{tool}":\n' + "\n".join(problems[:10]), code="invalid_arguments")

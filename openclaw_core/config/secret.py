"""Secrets: values that are never shown. Importing this module costs nothing; pydantic is met in the hook only."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openclaw_core.errors import ConfigValueError
from openclaw_core.observe.logging import register_secret

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

HIDDEN = "***"
MAX_FILE = 1_048_576
"""Bytes of a secret file (behaviour.md appendix B, secrets.maxBytes)."""


class Secret:
    """A secret value. `repr` and `str` hide it, `reveal` gives it.

    A secret whose source (an environment variable or a file) is missing is still a Secret: it is false,
    `problem` says why, and `reveal` raises ConfigValueError. So a key of a provider that nobody uses
    stops nothing.
    """

    __slots__ = ("_value", "origin", "problem")

    def __init__(self, value: str, *, origin: str = "", problem: str = "") -> None:
        self._value = value
        self.origin = origin
        """``env:NAME``, ``file:PATH``, or empty for a literal."""
        self.problem = problem
        register_secret(value)

    def reveal(self) -> str:
        """The value itself."""
        if self.problem:
            raise ConfigValueError(self.problem, path=self.origin, hint="Set it, or remove the reference.")
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value) and not self.problem

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and (self._value, self.origin) == (other._value, other.origin)

    def __hash__(self) -> int:
        return hash((self._value, self.origin))

    def __repr__(self) -> str:
        return f"Secret({HIDDEN!r})" if self._value else "Secret('')"

    def __str__(self) -> str:
        return HIDDEN if self._value else ""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Validation from text, ``env:NAME``, ``file:PATH`` or ``{source, id}``; output is hidden."""
        from pydantic_core import core_schema

        def validate(value: Any, info: core_schema.ValidationInfo) -> Secret:
            context = info.context or {}
            return from_config(value, environ=context.get("environ"), base=context.get("base"))

        return core_schema.with_info_plain_validator_function(
            validate, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """A string or a reference object."""
        reference = {
            "type": "object",
            "properties": {
                "source": {"enum": ["env", "file"]},
                "provider": {"type": "string"},
                "id": {"type": "string"},
            },
            "required": ["source", "id"],
            "additionalProperties": False,
        }
        return {"anyOf": [{"type": "string"}, reference]}


def from_config(value: Any, *, environ: Mapping[str, str] | None = None, base: Path | None = None) -> Secret:
    """Read a secret from its form in the configuration. Raises ValueError for any other form.

    `base` is the folder that relative file references start from.
    """
    if isinstance(value, Secret):
        return value
    if isinstance(value, str):
        source, _, ident = value.partition(":")
        if source not in ("env", "file") or not ident or ident.startswith("//"):
            return Secret(value)
    elif isinstance(value, Mapping) and set(value) <= {"source", "provider", "id"} and isinstance(value.get("id"), str):
        source, ident = str(value.get("source")), value["id"]
    else:
        raise ValueError('a secret is text, "env:NAME", "file:PATH" or {source: "env" or "file", id}')
    if source == "env":
        found = (os.environ if environ is None else environ).get(ident, "")
        return Secret(
            found, origin=f"env:{ident}", problem="" if found else f"The environment variable {ident} is not set."
        )
    if source == "file":
        return _from_file(ident, base)
    raise ValueError(f'secrets from "{source}" are not supported; use "env" or "file"')


def _from_file(name: str, base: Path | None) -> Secret:
    path = (base or Path()) / Path(name).expanduser()
    origin = f"file:{name}"
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            data = file.read(MAX_FILE + 1)
        text = data.decode("utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        return Secret("", origin=origin, problem=f"The secret file {name} cannot be read: {error}.")
    if len(data) > MAX_FILE:
        return Secret("", origin=origin, problem=f"The secret file {name} is larger than {MAX_FILE} bytes.")
    return Secret(text, origin=origin, problem="" if text else f"The secret file {name} is empty.")

"""Arguments of the six tools. Their schemas are sent with every model request, so they are kept short."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, WithJsonSchema


def _terse(schema: dict[str, Any]) -> None:
    """Drop what a model does not need: titles, empty defaults, the class docstring."""
    schema.pop("title", None)
    schema.pop("description", None)
    for field in schema.get("properties", {}).values():
        field.pop("title", None)
        if field.get("default") in ("", [], 0, False):
            del field["default"]


class _Args(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_terse)


Path = Annotated[str, Field(max_length=8192)]


class ReadArgs(_Args):
    """Arguments of `read`."""

    path: Path
    offset: int = Field(default=1, description="first line, from 1")
    limit: int = Field(default=2000, description="lines")


class WriteArgs(_Args):
    """Arguments of `write`."""

    path: Path
    content: str


class Replacement(_Args):
    """One replacement of `edit`."""

    old_text: str = Field(validation_alias=AliasChoices("oldText", "old_string", "old_text"))
    new_text: str = Field(validation_alias=AliasChoices("newText", "new_string", "new_text"))


_EDITS = {
    "type": "array",
    "description": "several replacements, each found in the original",
    "items": {
        "type": "object",
        "properties": {"oldText": {"type": "string"}, "newText": {"type": "string"}},
        "required": ["oldText", "newText"],
    },
}


class EditArgs(_Args):
    """Arguments of `edit`: one pair of texts, or several in `edits`."""

    path: Path
    old_text: str = Field(default="", alias="oldText")
    new_text: str = Field(default="", alias="newText")
    edits: Annotated[list[Replacement], WithJsonSchema(_EDITS)] = Field(default_factory=list, max_length=200)

    def replacements(self) -> list[Replacement]:
        """All replacements in the order given."""
        single = "old_text" in self.model_fields_set or "new_text" in self.model_fields_set
        first = [Replacement(oldText=self.old_text, newText=self.new_text)] if single else []
        return first + self.edits


class LsArgs(_Args):
    """Arguments of `ls`."""

    path: Path = ""
    limit: int = 500


class FindArgs(_Args):
    """Arguments of `find`."""

    pattern: str = Field(max_length=1000)
    path: Path = ""
    limit: int = 1000


class GrepArgs(_Args):
    """Arguments of `grep`."""

    pattern: str = Field(max_length=1000)
    path: Path = Field(default="", description="file or directory")
    glob: str = Field(default="", max_length=1000, description="only these files")
    ignore_case: bool = Field(default=False, alias="ignoreCase")
    literal: bool = False
    context: int = Field(default=0, description="lines around a match")
    limit: int = Field(default=100, description="matches")

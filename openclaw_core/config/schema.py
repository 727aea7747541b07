"""The configuration for others: its JSON schema, and its values without secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from openclaw_core.config.model import Config
from openclaw_core.config.secret import HIDDEN, Secret

_TELLING = re.compile(
    r"(?i)(?:^|_|-)(?:password|passwd|passphrase|secret|token|credential|credentials)s?$"
    r"|(?:password|passphrase|secret|token|apikey|api_key|privatekey|private_key|credentials?|authorization|cookie)s?$"
)
_NOT_SECRET = re.compile(r"(?i)(?:max|context|reserve|keep|soft|input|output|total|floor|threshold|window).*tokens?$")


def json_schema() -> dict[str, Any]:
    """The JSON schema of ``openclaw.json`` (draft 2020-12), for editors."""
    schema = Config.model_json_schema(by_alias=True, mode="validation")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "openclaw.json"
    schema["properties"]["$schema"] = {"type": "string"}
    return schema


def plain(config: Config, *, defaults: bool = True) -> dict[str, Any]:
    """The whole configuration as plain data in the file's spelling, secrets hidden, also those in sections
    that only plugins understand. `defaults` includes what nobody set."""
    data = config.model_dump(by_alias=True, mode="json", exclude_unset=not defaults)
    return dict(redacted(data))


def redacted(value: Any, key: str = "") -> Any:
    """Plain data with every value hidden whose key tells that it is a secret; everything below such a key
    is hidden too."""
    if isinstance(value, Secret):
        return str(value)
    if key and _TELLING.search(key) and not _NOT_SECRET.search(key):
        return _hidden(value)
    if isinstance(value, Mapping):
        hide = key in ("headers", "env") and value
        return {name: _hidden(item) if hide else redacted(item, str(name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(item, key) for item in value]
    return value


def _hidden(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _hidden(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden(item) for item in value]
    return HIDDEN if isinstance(value, str | Secret) and value else (value if not value else HIDDEN)

"""``${NAME}`` in string values of the configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from openclaw_core.errors import ConfigValueError

_REFERENCE = re.compile(r"\$(\$?)\{([A-Z_][A-Z0-9_]*)\}")


def substitute(
    value: Any, environ: Mapping[str, str], path: str = "", *, missing: list[tuple[str, str]] | None = None
) -> Any:
    """Replace ``${NAME}`` in all string values (never in keys) of a tree; ``$${NAME}`` gives ``${NAME}``.

    Only upper-case names count as references, so shell snippets and templates stay as they are. A variable
    that is missing or empty is added to `missing` with the dotted path of the value, which then stays as
    written; without `missing` ConfigValueError is raised.
    """
    if isinstance(value, str):
        return _replace(value, environ, path, missing) if "${" in value else value
    if isinstance(value, dict):
        return {
            key: substitute(item, environ, join_path(path, str(key)), missing=missing) for key, item in value.items()
        }
    if isinstance(value, list):
        return [substitute(item, environ, f"{path}[{n}]", missing=missing) for n, item in enumerate(value)]
    return value


def _replace(text: str, environ: Mapping[str, str], path: str, missing: list[tuple[str, str]] | None) -> str:
    def one(match: re.Match[str]) -> str:
        name = match.group(2)
        if match.group(1):
            return f"${{{name}}}"
        found = environ.get(name)
        if found:
            return found
        if missing is not None:
            missing.append((path, name))
            return match.group(0)
        raise ConfigValueError(
            f"{path or 'The configuration'} refers to the environment variable {name}, which is not set.",
            path=path,
            hint=f"Set {name}, or write $${{{name}}} for the literal text.",
        )

    return _REFERENCE.sub(one, text)


def config_environ(data: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, str]:
    """The process environment, completed by the `env` section of the configuration where a name is unset.

    Both spellings count: ``env.NAME`` and ``env.vars.NAME``; only string values do.
    """
    section = data.get("env")
    extra: dict[str, str] = {}
    if isinstance(section, dict):
        for source in (section, section.get("vars")):
            if isinstance(source, dict):
                extra.update({name: text for name, text in source.items() if isinstance(text, str)})
    return {**extra, **{name: text for name, text in environ.items() if text or name not in extra}}


def join_path(path: str, key: str) -> str:
    """Append a key to a dotted path; keys that are not plain words are bracketed."""
    if not re.fullmatch(r"[A-Za-z0-9_$-]+", key):
        return f"{path}[{json.dumps(key, ensure_ascii=False)}]"
    return f"{path}.{key}" if path else key

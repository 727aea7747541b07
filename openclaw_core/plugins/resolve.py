"""Import strings to objects."""

from __future__ import annotations

import importlib
from typing import Any

from openclaw_core.errors import PluginLoadError


def resolve(text: str, *, kind: str = "", plugin_id: str = "", distribution: str = "") -> Any:
    """The object behind ``package.module:attribute`` (dots in the attribute reach into it).

    Raises PluginLoadError naming the distribution, the plugin and the string, whatever the import raises
    (SystemExit too); only KeyboardInterrupt passes.
    """
    module, _, attribute = text.partition(":")
    try:
        if not module or not attribute:
            raise ValueError("it is not of the form package.module:attribute")
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # foreign code may raise anything, even SystemExit
        raise PluginLoadError(
            f"{kind or 'plugin'} {plugin_id or '?'} of {distribution or 'an unknown distribution'} cannot load "
            f"{text}: {describe(error)}.",
            kind=kind,
            plugin_id=plugin_id,
            distribution=distribution,
            hint=f"Install what it needs, or run `openclaw plugins disable {plugin_id}`.",
        ) from error
    return found


def describe(error: BaseException) -> str:
    """An exception in one line, with its type."""
    if isinstance(error, SystemExit):
        return f"it called sys.exit({error.code!r})"
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__

"""A plugin's own section of the configuration, read by the plugin's own model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openclaw_core.errors import ConfigValueError, PluginLoadError
from openclaw_core.plugins.catalog import Installed
from openclaw_core.plugins.resolve import describe


def validate_section(
    model: Any, data: Any, *, path: str, plugin: Installed, secrets: Mapping[str, Any] | None = None
) -> Any:
    """Validate `data` with the pydantic model of `plugin`. `secrets` says where references to secrets are
    looked up: ``environ`` and ``base``.

    Raises ConfigValueError with the dotted path of the first problem, PluginLoadError when the model
    itself fails.
    """
    from pydantic import BaseModel, ValidationError

    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise PluginLoadError(
            f"The configuration model of {plugin.kind} {plugin.id} ({plugin.distribution}) is not a pydantic model.",
            kind=plugin.kind,
            plugin_id=plugin.id,
            distribution=plugin.distribution,
        )
    try:
        return model.model_validate(data, context=dict(secrets or {}))
    except ValidationError as error:
        from openclaw_core.config.problems import config_error

        raise config_error(error, model, data, prefix=path) from None
    except ConfigValueError:
        raise
    except Exception as error:  # a validator of foreign code may raise anything
        raise PluginLoadError(
            f"The configuration model of {plugin.kind} {plugin.id} ({plugin.distribution}) failed: {describe(error)}.",
            kind=plugin.kind,
            plugin_id=plugin.id,
            distribution=plugin.distribution,
        ) from error

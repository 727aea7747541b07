"""Registers the embedded runtime."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import RuntimeSpec, hookimpl


def _claims(_provider: str, _model: str) -> int | None:
    """It can run every model, and yields to every runtime that wants one more."""
    return 0


@hookimpl
def openclaw_runtimes() -> Iterable[RuntimeSpec]:
    """The model loop in process."""
    return [
        RuntimeSpec(
            id="embedded",
            summary="The model loop in process",
            factory="openclaw_runtime_embedded.runtime:create",
            claims=_claims,
        )
    ]

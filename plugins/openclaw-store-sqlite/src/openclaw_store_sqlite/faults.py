"""Fault points of the store: free of cost unless the test switch is on."""

from __future__ import annotations

import os

from openclaw_core.sdk import fault_point, get_logger

FAULTS = bool(os.environ.get("OPENCLAW_TEST_FAULTS"))
"""Whether fault points do anything in this process."""

_log = get_logger("store")

before = fault_point
"""A point at which a write may still fail."""


def after(name: str) -> None:
    """A point after a durable write: the process may be killed here, but the write cannot fail any more."""
    try:
        fault_point(name)
    except OSError as error:
        _log.debug("fault after a finished write has no meaning", point=name, error=str(error))

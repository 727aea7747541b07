"""What plugins may see of the running gateway."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayView:
    """Facts about the gateway that just became ready."""

    version: str
    host: str
    port: int
    state_dir: str

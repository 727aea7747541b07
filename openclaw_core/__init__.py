"""The core of OpenClaw: contracts, the way of a message, and nothing concrete."""

from __future__ import annotations

__version__ = "0.1.0"

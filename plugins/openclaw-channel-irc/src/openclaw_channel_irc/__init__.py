"""IRC: direct messages and channel mentions."""

from __future__ import annotations

__version__ = "0.1.0"

"""Models behind a LiteLLM proxy."""

from __future__ import annotations

__version__ = "0.1.0"

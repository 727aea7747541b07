"""Models of many vendors through OpenRouter."""

from __future__ import annotations

__version__ = "0.1.0"

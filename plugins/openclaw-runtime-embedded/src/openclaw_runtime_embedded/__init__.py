"""The model loop in process: prompt, model, tools, model."""

from __future__ import annotations

__version__ = "0.1.0"

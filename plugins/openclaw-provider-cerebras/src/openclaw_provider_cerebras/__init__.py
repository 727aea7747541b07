"""Fast inference of open models on Cerebras."""

from __future__ import annotations

__version__ = "0.1.0"

"""A demonstration without a model, a key or the network."""

from __future__ import annotations

__version__ = "0.1.0"

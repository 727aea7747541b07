"""OpenAI models, and any server that speaks an OpenAI wire format."""

from __future__ import annotations

__version__ = "0.1.0"

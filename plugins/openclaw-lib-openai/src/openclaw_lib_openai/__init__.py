"""The OpenAI wire formats (Chat Completions and Responses) that many providers speak."""

from __future__ import annotations

__version__ = "0.1.0"

"""Qwen models of Alibaba Cloud Model Studio."""

from __future__ import annotations

__version__ = "0.1.0"

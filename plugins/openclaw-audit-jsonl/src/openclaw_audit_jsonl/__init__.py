"""Audit events as JSON lines in daily files."""

from __future__ import annotations

__version__ = "0.1.0"

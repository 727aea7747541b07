"""Tools to read, write, edit, list and search files of the workspace."""

from __future__ import annotations

__version__ = "0.1.0"

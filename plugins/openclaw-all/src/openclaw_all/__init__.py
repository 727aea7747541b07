"""Everything: the core and every plugin of this project."""

from __future__ import annotations

__version__ = "0.1.0"

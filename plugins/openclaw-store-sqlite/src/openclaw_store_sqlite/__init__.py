"""Journal, ledgers and session index in SQLite, transcripts as JSONL files."""

from __future__ import annotations

__version__ = "0.1.0"

"""Loop detection: the same call with the same outcome, again and again (behaviour.md 8.11)."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from openclaw_core.errors import RunLimit

WARN_AT = 10
BLOCK_AT = 20
BREAK_AT = 30


def digest(name: str, arguments: Mapping[str, Any]) -> str:
    """Fingerprint of a call: name and key-sorted arguments."""
    text = json.dumps([name, arguments], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(slots=True)
class LoopGuard:
    """Counts calls without progress within one run. A call whose result changes has made progress."""

    warn_at: int = WARN_AT
    block_at: int = BLOCK_AT
    break_at: int = BREAK_AT
    _results: dict[str, str] = field(default_factory=dict)
    _repeats: Counter[str] = field(default_factory=Counter)
    _unknown: int = 0

    def before(self, call_digest: str, name: str) -> str | None:
        """None to go on, or the text that replaces the result of a blocked call.

        Raises RunLimit when the loop must end.
        """
        count = self._repeats[call_digest]
        if count >= self.break_at:
            raise RunLimit(
                f"The run was ended: the tool '{name}' was called {count} times with the same arguments and result.",
                code="tool_loop",
                hint="Ask again with more detail, or start a new session with /new.",
            )
        if count >= self.block_at:
            self._repeats[call_digest] += 1
            return (
                f"Blocked: this exact call was made {count} times with the same result. Do something else, or answer."
            )
        return None

    def after(self, call_digest: str, result_text: str) -> str:
        """Record a result; returns a warning to append to it, or an empty text."""
        mark = hashlib.sha256(result_text.encode("utf-8", "surrogatepass")).hexdigest()
        if self._results.get(call_digest) == mark:
            self._repeats[call_digest] += 1
        else:
            self._repeats[call_digest] = 1
        self._results[call_digest] = mark
        count = self._repeats[call_digest]
        if count >= self.warn_at:
            return f"\n\n[Note: this call was made {count} times with the same result.]"
        return ""

    def unknown(self, name: str) -> None:
        """Count a call of a tool that does not exist; raises RunLimit at the bound."""
        self._unknown += 1
        if self._unknown >= self.warn_at:
            raise RunLimit(
                f"The run was ended: the model called tools that do not exist {self._unknown} times (last '{name}').",
                code="tool_loop",
                hint="Try another model, or start a new session with /new.",
            )

"""The gateway's own methods. Importing this package registers them."""

from __future__ import annotations

from openclaw_core.gateway.methods import agent, chat, lists, state

__all__ = ["agent", "chat", "lists", "state"]

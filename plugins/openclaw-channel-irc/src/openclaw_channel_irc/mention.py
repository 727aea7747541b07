"""Whether a channel message speaks to us."""

from __future__ import annotations

import re

from openclaw_channel_irc.names import fold

_NICK_CHARACTER = r"[A-Za-z0-9\[\]\\`_^{|}-]"


def mentions(text: str, nick: str, casemapping: str = "rfc1459") -> bool:
    """Whether `nick` stands in `text` as a word of its own (``nick:``, ``nick,``, ``@nick``, ...)."""
    pattern = rf"(?<!{_NICK_CHARACTER}){re.escape(fold(nick, casemapping))}(?!{_NICK_CHARACTER})"
    return bool(nick) and re.search(pattern, fold(text, casemapping)) is not None


def without_address(text: str, nick: str, casemapping: str = "rfc1459") -> str:
    """`text` without a leading ``nick:``, ``nick,`` or ``@nick``; unchanged where nothing would remain."""
    name = re.escape(fold(nick, casemapping))
    pattern = rf"\s*(?:{name}[:,]|@{name}[:,]?(?!{_NICK_CHARACTER}))\s*"
    found = re.match(pattern, fold(text, casemapping)) if nick else None
    rest = text[found.end() :] if found else text
    return rest if rest.strip() else text

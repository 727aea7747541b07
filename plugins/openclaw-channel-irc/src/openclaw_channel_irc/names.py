"""Names of IRC: nicks, channels and how a server compares them."""

from __future__ import annotations

import re
import string

_NICK = re.compile(r"[A-Za-z\[\]\\`_^{|}][A-Za-z0-9\[\]\\`_^{|}-]{0,63}")
_ASCII = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
# RFC 1459 section 2.2: {}|^ are the lower case of []\~ (the strict mapping leaves ~ alone).
_STRICT = _ASCII | str.maketrans("[]\\", "{}|")
_RFC1459 = _STRICT | {ord("~"): "^"}


def fold(name: str, casemapping: str = "rfc1459") -> str:
    """The lower-case form under the server's CASEMAPPING; letters outside of ASCII stay as they are."""
    if casemapping == "ascii":
        return name.translate(_ASCII)
    if casemapping in ("strict-rfc1459", "rfc1459-strict"):
        return name.translate(_STRICT)
    return name.translate(_RFC1459)


def is_nick(text: str) -> bool:
    """Whether a server could take this as a nick."""
    return _NICK.fullmatch(text) is not None


def is_target(text: str) -> bool:
    """Whether a line can be sent to this name: one recipient, nothing that ends the parameter."""
    return 0 < len(text.encode("utf-8", "replace")) <= 200 and text[0] != ":" and not set(text) & set(" ,\r\n\0\x07")


def nick_of(source: str | None) -> str:
    """The nick of a message's source ``nick!user@host``; empty for none."""
    return (source or "").partition("!")[0].partition("@")[0]

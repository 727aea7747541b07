"""Addresses as people write them into environment variables."""

from __future__ import annotations

from urllib.parse import urlsplit

_ANY = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104  # read from a server's setting, never listened on
"""Where a server listens everywhere, a client goes to this machine."""


def complete_address(text: str, default: str) -> str:
    """`text` with what it leaves out (scheme, port, path) taken from `default`; empty for no text.

    ``OLLAMA_HOST=192.168.1.5`` becomes ``http://192.168.1.5:11434/v1``.
    """
    text = text.strip().rstrip("/")
    if not text:
        return ""
    known = urlsplit(default)
    schemeless = "://" not in text
    wanted = urlsplit(f"{known.scheme or 'http'}://{text}" if schemeless else text)
    host, colon, port = wanted.netloc.rpartition(":")
    if not colon or "]" in port:  # no port; an IPv6 address holds colons of its own
        host, port = wanted.netloc, ""
    if not port and schemeless and known.port:
        port = str(known.port)
    host = _ANY.get(host, host)
    return f"{wanted.scheme}://{host}{':' + port if port else ''}{wanted.path or known.path}"

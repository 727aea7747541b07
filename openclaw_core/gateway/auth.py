"""Credentials of gateway clients: the token, its storage, comparison and lock-out (behaviour.md 10.3)."""

from __future__ import annotations

import errno
import hashlib
import hmac
import ipaddress
import os
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from openclaw_core.aio.clock import Clock
from openclaw_core.config.model import Config
from openclaw_core.errors import ConfigValueError, StoreError, StoreFull
from openclaw_core.observe.logging import register_secret

TOKEN_FILE = "gateway.token"  # noqa: S105  # a file name


def load_token(config: Config, state_dir: Path, *, create: bool) -> str:
    """The shared token: configured, or from ``<state>/gateway.token``, generated there (0600) when absent.

    Returns an empty text when there is none and `create` is False, or when auth is switched off.
    """
    auth = config.gateway.auth
    if auth.token is not None and auth.token:
        return auth.token.reveal()
    if auth.mode == "none":
        return ""
    path = state_dir / TOKEN_FILE
    try:
        text = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        text = ""
    except OSError as error:
        raise ConfigValueError(
            f"The gateway token cannot be read: {error}.",
            path="gateway.auth.token",
            hint="Check the file's owner and mode.",
        ) from error
    if not text and create:
        text = secrets.token_urlsafe(32)
        _store(path, text)
    register_secret(text)
    return text


def _store(path: Path, text: str) -> None:
    """Write the token whole or not at all, readable by its owner only."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "w", encoding="ascii") as file:
            file.write(text + "\n")
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        kind = StoreFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else StoreError
        raise kind(f"The gateway token cannot be stored: {error.strerror}.") from error


def same(given: str, wanted: str) -> bool:
    """Compare in constant time, whatever the lengths and characters."""
    left = hashlib.sha256(given.encode("utf-8", "surrogatepass")).digest()
    right = hashlib.sha256(wanted.encode("utf-8", "surrogatepass")).digest()
    return hmac.compare_digest(left, right)


def canonical(address: str) -> str:
    """One name for one client: mapped IPv6 folded, IPv6 by /64, loopback of both families alike."""
    try:
        ip = ipaddress.ip_address(address.split("%", 1)[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        mapped = ip.ipv4_mapped
        if mapped is not None:
            ip = mapped
    if ip.is_loopback:
        return "loopback"
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((ip, 64), strict=False).network_address)
    return str(ip)


@dataclass(slots=True)
class _Bucket:
    failures: list[float] = field(default_factory=list)
    locked_until: float = 0.0


class AuthLimiter:
    """At most `attempts` wrong credentials per window and client, then a lock-out; bounded in size."""

    def __init__(self, clock: Clock, *, attempts: int, window_s: float, lockout_s: float) -> None:
        self._clock = clock
        self._attempts = attempts
        self._window = window_s
        self._lockout = lockout_s
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def locked(self, client: str) -> float:
        """Seconds until this client may try again; 0 when it may now."""
        bucket = self._buckets.get(client)
        return max(0.0, bucket.locked_until - self._clock.monotonic()) if bucket else 0.0

    def failed(self, client: str) -> None:
        """Count a wrong credential."""
        now = self._clock.monotonic()
        bucket = self._buckets.setdefault(client, _Bucket())
        self._buckets.move_to_end(client)
        bucket.failures = [t for t in bucket.failures if now - t < self._window] + [now]
        if len(bucket.failures) >= self._attempts:
            bucket.failures.clear()
            bucket.locked_until = now + self._lockout
        while len(self._buckets) > 10_000:
            self._buckets.popitem(last=False)

"""Auth profiles: several keys of one provider, their order and their health, kept over restarts (behaviour.md 7.2, 7.3)."""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openclaw_core.errors import ConfigFileError, ErrorKind, InvalidRequest
from openclaw_core.models.breaker import KeyHealth
from openclaw_core.observe.logging import get_logger, register_secret

_log = get_logger("profiles")

FILE = "auth-profiles.json"
_ID = re.compile(r"[a-z0-9][a-z0-9_.-]*:[A-Za-z0-9@._+-]{1,128}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One key or token of a provider."""

    id: str
    provider: str
    kind: str
    key: str = field(repr=False)


class ProfileStore:
    """The profiles of one agent. Every change is written at once (0600, by rename, under a file lock)."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._stamp: tuple[int, int] | None = None
        self._data: dict[str, Any] = {}

    # ---- reading -----------------------------------------------------------------------------------

    def profiles(self, provider: str = "") -> list[Profile]:
        """All profiles, or those of one provider."""
        out: list[Profile] = []
        for ident, raw in self._section("profiles").items():
            if not isinstance(raw, Mapping) or (provider and raw.get("provider") != provider):
                continue
            key = raw.get("key") or raw.get("token") or raw.get("access")
            if isinstance(key, str) and key:
                register_secret(key)
                kind = str(raw.get("type", "api_key"))
                out.append(Profile(id=ident, provider=str(raw.get("provider", "")), kind=kind, key=key))
        return out

    def health(self, ident: str) -> KeyHealth:
        """What is known about a profile."""
        raw = self._section("usageStats").get(ident)
        return KeyHealth.of(raw) if isinstance(raw, Mapping) else KeyHealth()

    def order(self, provider: str) -> list[str]:
        """The stored order of a provider; empty when there is none."""
        raw = self._section("order").get(provider)
        return [str(i) for i in raw] if isinstance(raw, list) else []

    def ranked(self, provider: str, *, now: int, configured: Sequence[str] = ()) -> list[Profile]:
        """Profiles in the order of use: explicit order first, else tokens before keys and the one unused for
        longest first; resting ones last, the one that is free soonest first."""
        found = {p.id: p for p in self.profiles(provider)}
        explicit = [i for i in (self.order(provider) or configured) if i in found]
        rank = {"oauth": 0, "token": 1}
        rest = sorted(
            (i for i in found if i not in explicit),
            key=lambda i: (rank.get(found[i].kind, 2), self.health(i).last_used, i),
        )
        order = explicit or rest
        free = [i for i in order if self.health(i).usable(now)]
        resting = sorted((i for i in order if i not in free), key=lambda i: self.health(i).resting_until())
        return [found[i] for i in [*free, *resting]]

    def unusable(self, *, now: int) -> list[dict[str, Any]]:
        """Profiles that rest (the `auth.unusableProfiles` of `models status --json`)."""
        out: list[dict[str, Any]] = []
        for profile in self.profiles():
            health = self.health(profile.id)
            if health.usable(now):
                continue
            disabled = health.disabled_until > now
            until = health.resting_until()
            out.append(
                {
                    "profileId": profile.id,
                    "kind": "disabled" if disabled else "cooldown",
                    "reason": health.disabled_reason if disabled else health.cooldown_reason,
                    "until": until,
                    "remainingMs": until - now,
                }
            )
        return out

    # ---- changing ----------------------------------------------------------------------------------

    def put(self, profile: Profile) -> None:
        """Store a key under its id; the same id replaces the key and forgives its past. Raises InvalidRequest."""
        if not _ID.fullmatch(profile.id) or not profile.id.startswith(f"{profile.provider}:"):
            raise InvalidRequest(
                f"'{profile.id}' is not a profile id.",
                hint=f"Use {profile.provider}:NAME, for example {profile.provider}:default.",
            )
        if not profile.key.strip() or not profile.key.isprintable():
            raise InvalidRequest("The key is empty or holds control characters.", hint="Paste it again, on one line.")
        register_secret(profile.key)
        with self._change() as data:
            name = "token" if profile.kind == "token" else "key"
            data.setdefault("profiles", {})[profile.id] = {
                "type": profile.kind,
                "provider": profile.provider,
                name: profile.key,
            }
            data.setdefault("usageStats", {}).pop(profile.id, None)

    def set_order(self, provider: str, ids: Sequence[str]) -> None:
        """Store the order of a provider; an empty list clears it. Raises InvalidRequest for unknown ids."""
        known = {p.id for p in self.profiles(provider)}
        unknown = [i for i in ids if i not in known]
        if unknown:
            raise InvalidRequest(
                f"There is no profile '{unknown[0]}' of {provider}.", hint="See `openclaw models auth list`."
            )
        with self._change() as data:
            order = data.setdefault("order", {})
            if ids:
                order[provider] = list(ids)
            else:
                order.pop(provider, None)

    def failed(self, ident: str, kind: ErrorKind, *, now: int) -> KeyHealth:
        """Note a failure; returns how the key stands."""
        before = self.health(ident)
        after = before.failed(kind, now)
        if after is not before:
            self._put_health(ident, after)
        return after

    def worked(self, ident: str, *, now: int) -> None:
        """Note a success. Written only when it changes more than the time of use, or that by a minute."""
        before = self.health(ident)
        if before.error_count or now - before.last_used > 60_000:
            self._put_health(ident, before.worked(now))

    def _put_health(self, ident: str, health: KeyHealth) -> None:
        with self._change() as data:
            data.setdefault("usageStats", {})[ident] = health.as_dict()

    # ---- the file ----------------------------------------------------------------------------------

    def _section(self, name: str) -> dict[str, Any]:
        self._read()
        found = self._data.get(name)
        return found if isinstance(found, dict) else {}

    def _read(self) -> None:
        try:
            info = self._path.stat()
        except FileNotFoundError:
            self._stamp, self._data = None, {}
            return
        stamp = (info.st_mtime_ns, info.st_size)
        if stamp == self._stamp:
            return
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigFileError(
                f"The auth profiles cannot be read: {error}.", hint=f"Repair or move away {self._path.name}."
            ) from error
        self._stamp, self._data = stamp, data if isinstance(data, dict) else {}

    @contextmanager
    def _change(self) -> Iterator[dict[str, Any]]:
        """Read, change, write by rename, while other processes wait."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._stamp = None
            self._read()
            data = json.loads(json.dumps(self._data))
            data.setdefault("version", 1)
            yield data
            temporary = self._path.with_name(f".{self._path.name}.{secrets.token_hex(4)}")
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "w", encoding="utf-8") as file:
                json.dump(data, file, indent=2)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._path)
            self._stamp = None
        finally:
            os.close(lock)

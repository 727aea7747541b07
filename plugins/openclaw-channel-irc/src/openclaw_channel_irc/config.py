"""Configuration ``channels.irc``."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.alias_generators import to_camel

from openclaw_channel_irc.names import is_nick, is_target
from openclaw_core.sdk import Secret

_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class IrcAccount(BaseModel):
    """One connection. Every key may stand at ``channels.irc`` and be replaced in ``accounts.<id>``."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)

    enabled: bool = True
    server: str = Field(
        default="",
        max_length=253,
        validation_alias=AliasChoices("server", "host"),
        description="host name or address of the server",
    )
    port: int = Field(default=0, ge=0, le=65535, description="0: 6697 encrypted, else 6667")
    tls: bool | None = Field(
        default=None,
        description="encrypted connection with a checked certificate; default: yes, unless the server is this machine",
    )
    tls_verify: bool = Field(default=True, description="false accepts any certificate; for tests only")
    nick: str = ""
    username: str = Field(default="", description="shown in the mask; default: the nick")
    realname: str = Field(default="OpenClaw", max_length=100)
    password: Secret | None = Field(default=None, description="server password")
    sasl_username: str = Field(default="", description="services account; SASL PLAIN is used when set")
    sasl_password: Secret | None = None
    channels: tuple[str, ...] = Field(default=(), description="channels to join, '#name' or '#name key'")
    line_burst: int = Field(default=4, ge=1, le=100, description="lines sent at once before pacing begins")
    line_interval_ms: int = Field(default=2000, ge=0, le=60_000, description="then one line each so many ms")

    dm_policy: Literal["pairing", "allowlist", "open", "disabled"] = "pairing"
    allow_from: tuple[str | int, ...] = ()
    group_policy: Literal["allowlist", "open", "disabled"] = "allowlist"
    group_allow_from: tuple[str | int, ...] = ()
    groups: dict[str, Any] = Field(default_factory=dict)
    text_chunk_limit: int = Field(default=400, ge=50, le=65_536, description="bytes of one part of a reply")

    @field_validator("nick", "username")
    @classmethod
    def _name(cls, value: str) -> str:
        if value and not is_nick(value):
            raise ValueError("must be letters, digits and -[]\\`_^{|}, not begin with a digit or -, at most 64")
        return value

    @field_validator("channels")
    @classmethod
    def _joinable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for entry in value:
            name, _, key = entry.partition(" ")
            if name[:1] not in "#&+!" or not is_target(name) or (key and not is_target(key)):
                raise ValueError(f"{entry!r} is no channel; write '#name' or '#name key'")
        return value

    @property
    def real_port(self) -> int:
        """The port to connect to."""
        return self.port or (6697 if self.encrypted else 6667)

    @property
    def encrypted(self) -> bool:
        """Whether to use TLS."""
        return self.server not in _THIS_MACHINE if self.tls is None else self.tls


class IrcConfig(IrcAccount):
    """The whole section. Without ``accounts`` it is one account named ``default``; an account takes
    every value that it does not set from the section."""

    accounts: dict[str, dict[str, Any]] = Field(default_factory=dict)
    default_account: str = ""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for name, account in self.resolved().items():
            where = f"accounts.{name}: " if self.accounts else ""
            if account.enabled and not account.server:
                raise ValueError(f"{where}server is missing")
            if account.enabled and not account.nick:
                raise ValueError(f"{where}nick is missing")
            if bool(account.sasl_username) != bool(account.sasl_password):
                raise ValueError(f"{where}saslUsername and saslPassword belong together")
        return self

    def resolved(self) -> dict[str, IrcAccount]:
        """The accounts by id, values of the section filled in."""
        shared = {name: getattr(self, name) for name in IrcAccount.model_fields if name in self.model_fields_set}
        if not self.accounts:
            return {"default": IrcAccount.model_validate(shared)}
        aliases = {field.alias or name: name for name, field in IrcAccount.model_fields.items()} | {"host": "server"}
        return {
            name: IrcAccount.model_validate(shared | {aliases.get(key, key): value for key, value in own.items()})
            for name, own in self.accounts.items()
        }

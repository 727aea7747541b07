"""Every error the product raises on purpose. This module imports nothing of ours.

OpenClawError
├── ConfigError
│   ├── ConfigFileError          the file cannot be read or parsed
│   └── ConfigValueError         one key is wrong; carries its path
├── PluginError                  carries kind, id and distribution
│   ├── PluginNotFound
│   ├── PluginLoadError
│   ├── PluginContractError
│   ├── PluginConflict
│   └── PluginApiMismatch
├── ProviderError                carries an ErrorKind
├── ChannelError
│   ├── ChannelDisconnected
│   ├── ChannelAuthError
│   └── DeliveryFailed           says whether the text may have arrived
├── ToolError                    its text is shown to the model
│   └── ToolRefused              a policy said no
├── StoreError
│   ├── StoreVersionError        state of another version, untouched
│   ├── StoreFull                no space left; nothing was written
│   └── FenceLost                another owner took the run over
├── SessionBusy                  names the holder
├── SessionCorrupt
├── SpawnRefused
├── RunAborted
├── RunFailed
├── RunLimit                     a loop was ended by a bound
├── InvalidRequest
├── Unauthorized
├── NotFound
└── GatewayUnavailable
    └── GatewayLocked            another gateway holds the state directory
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class ErrorKind(StrEnum):
    """Why a model request failed. What each kind allows is in `ErrorKind.flags`."""

    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    AUTH = "auth"
    AUTH_PERMANENT = "auth_permanent"
    BILLING = "billing"
    TIMEOUT = "timeout"
    MODEL_NOT_FOUND = "model_not_found"
    SESSION_EXPIRED = "session_expired"
    CONTEXT_OVERFLOW = "context_overflow"
    FORMAT = "format"
    UNKNOWN = "unknown"

    @property
    def retry(self) -> bool:
        """The same request may be tried again on the same profile."""
        return "retry" in _FLAGS[self]

    @property
    def rotate_profile(self) -> bool:
        """Another key of the same provider may help."""
        return "rotate" in _FLAGS[self]

    @property
    def fallback_model(self) -> bool:
        """Another model may help."""
        return "fallback" in _FLAGS[self]

    @property
    def compact(self) -> bool:
        """A shorter context may help."""
        return "compact" in _FLAGS[self]


# The fault tolerance of DESIGN section 8 is this table.
_FLAGS: dict[ErrorKind, frozenset[str]] = {
    ErrorKind.RATE_LIMIT: frozenset({"retry", "rotate", "fallback"}),
    ErrorKind.OVERLOADED: frozenset({"retry", "rotate", "fallback"}),
    ErrorKind.AUTH: frozenset({"rotate", "fallback"}),
    ErrorKind.AUTH_PERMANENT: frozenset({"rotate", "fallback"}),
    ErrorKind.BILLING: frozenset({"rotate", "fallback"}),
    ErrorKind.TIMEOUT: frozenset({"retry", "rotate", "fallback"}),
    ErrorKind.MODEL_NOT_FOUND: frozenset({"fallback"}),
    ErrorKind.SESSION_EXPIRED: frozenset({"retry"}),
    ErrorKind.CONTEXT_OVERFLOW: frozenset({"compact"}),
    ErrorKind.FORMAT: frozenset({"fallback"}),
    ErrorKind.UNKNOWN: frozenset({"retry", "fallback"}),
}


class OpenClawError(Exception):
    """Base of all errors a person can meet.

    `code` is stable and machine readable, `message` says in one sentence what happened,
    `hint` says in one sentence what to do, `details` holds JSON-able facts without secrets.
    """

    code = "internal"
    default_hint = ""

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        code: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or self.default_hint
        if code is not None:
            self.code = code
        self.details: dict[str, Any] = dict(details or {})

    def as_dict(self) -> dict[str, Any]:
        """The JSON form used by the CLI, the RPC and the run result."""
        out: dict[str, Any] = {"code": self.code, "message": self.message, "hint": self.hint}
        if self.details:
            out["details"] = self.details
        return out


class ConfigError(OpenClawError):
    """The configuration cannot be used."""

    code = "config_invalid"


class ConfigFileError(ConfigError):
    """The configuration file cannot be read or parsed."""

    code = "config_unreadable"


class ConfigValueError(ConfigError):
    """One key of the configuration is wrong; `path` is its dotted path."""

    code = "config_value"

    def __init__(self, message: str, *, path: str = "", hint: str = "", problems: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint=hint, details={"path": path, "problems": list(problems)})
        self.path = path
        self.problems = problems


class PluginError(OpenClawError):
    """A plugin misbehaved; `kind`, `plugin_id` and `distribution` say which."""

    code = "plugin_error"

    def __init__(
        self, message: str, *, kind: str = "", plugin_id: str = "", distribution: str = "", hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind
        self.plugin_id = plugin_id
        self.distribution = distribution


class PluginNotFound(PluginError):
    """No installed plugin has this id."""

    code = "plugin_not_found"


class PluginLoadError(PluginError):
    """The plugin's module, attribute or factory failed to load."""

    code = "plugin_load"


class PluginContractError(PluginError):
    """The plugin broke a rule of its hook or protocol."""

    code = "plugin_contract"


class PluginConflict(PluginError):
    """Two plugins claim one id or one tool name."""

    code = "plugin_conflict"


class PluginApiMismatch(PluginError):
    """The plugin was written for another hook generation."""

    code = "plugin_api"


class ProviderError(OpenClawError):
    """A model request failed. `retry_after` is in seconds where the vendor gave one."""

    def __init__(
        self,
        message: str,
        *,
        kind: ErrorKind = ErrorKind.UNKNOWN,
        status: int | None = None,
        vendor_code: str = "",
        retry_after: float | None = None,
        output_shown: bool = False,
        hint: str = "",
    ) -> None:
        super().__init__(message, code=f"model_{kind.value}" if kind is not ErrorKind.MODEL_NOT_FOUND else kind.value)
        self.kind = kind
        self.status = status
        self.vendor_code = vendor_code
        self.retry_after = retry_after
        self.output_shown = output_shown
        self.hint = hint or _PROVIDER_HINTS.get(kind, "")


_PROVIDER_HINTS: dict[ErrorKind, str] = {
    ErrorKind.RATE_LIMIT: "Wait a little, or configure a second key or a fallback model.",
    ErrorKind.OVERLOADED: "The provider is busy; try again, or configure a fallback model.",
    ErrorKind.AUTH: "Check the API key of this provider with `openclaw models status`.",
    ErrorKind.AUTH_PERMANENT: "The key was revoked; configure a new one.",
    ErrorKind.BILLING: "Check the balance of the provider account.",
    ErrorKind.TIMEOUT: "The provider did not answer in time; try again.",
    ErrorKind.MODEL_NOT_FOUND: "See the names with `openclaw models list`.",
    ErrorKind.SESSION_EXPIRED: "Start a new session with /new.",
    ErrorKind.CONTEXT_OVERFLOW: "The conversation is too long for this model; start a new session with /new.",
    ErrorKind.FORMAT: "The provider refused the request; see `openclaw trace --last`.",
    ErrorKind.UNKNOWN: "See `openclaw trace --last` for what happened.",
}


class ChannelError(OpenClawError):
    """A channel failed."""

    code = "channel_error"


class ChannelDisconnected(ChannelError):
    """The connection to the platform was lost."""

    code = "channel_disconnected"


class ChannelAuthError(ChannelError):
    """The platform refused the credentials; retrying does not help."""

    code = "channel_auth"


class DeliveryFailed(ChannelError):
    """A message could not be sent.

    `retryable`: sending again may help. `maybe_sent`: the platform may have taken it.
    `retry_after` in seconds.
    """

    code = "delivery_failed"

    def __init__(
        self, message: str, *, retryable: bool = True, maybe_sent: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.maybe_sent = maybe_sent
        self.retry_after = retry_after


class ToolError(OpenClawError):
    """A tool failed; the message is shown to the model."""

    code = "tool_error"


class ToolRefused(ToolError):
    """A policy refused the tool call."""

    code = "tool_refused"


class StoreError(OpenClawError):
    """State cannot be read or written."""

    code = "store_error"


class StoreVersionError(StoreError):
    """The state belongs to another version and was not touched."""

    code = "store_version"


class StoreFull(StoreError):
    """No space left; nothing was half written."""

    code = "disk_full"
    default_hint = "Free some disk space; the gateway continues by itself."


class FenceLost(StoreError):
    """This run was taken over by another owner; its writes are refused."""

    code = "run_fenced"


class SessionBusy(OpenClawError):
    """Another process works on the session. Never a model failure."""

    code = "session_busy"
    default_hint = "Wait until the other run ends, or use another session key."


class SessionCorrupt(OpenClawError):
    """A transcript cannot be used."""

    code = "session_corrupt"


class SpawnRefused(OpenClawError):
    """A child session was refused."""

    code = "spawn_refused"


class RunAborted(OpenClawError):
    """Somebody stopped the run."""

    code = "aborted"
    default_hint = "The session is intact; send the next message whenever you like."


class RunFailed(OpenClawError):
    """The run ended without an answer."""

    code = "run_failed"


class RunLimit(RunFailed):
    """A bound ended the run: model requests, tool loop, time."""

    code = "retry_limit"


class InvalidRequest(OpenClawError):
    """The caller's parameters are wrong."""

    code = "invalid_request"


class Unauthorized(OpenClawError):
    """The credential is missing, wrong, or lacks the scope."""

    code = "unauthorized"


class NotFound(OpenClawError):
    """What was asked for does not exist."""

    code = "not_found"


class GatewayUnavailable(OpenClawError):
    """No gateway answers, or it is starting or stopping."""

    code = "gateway_unavailable"
    default_hint = "Start one with `openclaw gateway run`, or use --local."


class GatewayLocked(GatewayUnavailable):
    """Another gateway holds the state directory."""

    code = "gateway_locked"
    default_hint = "Stop the other gateway, or choose another OPENCLAW_STATE_DIR."

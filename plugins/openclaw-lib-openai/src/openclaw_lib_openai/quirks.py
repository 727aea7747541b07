"""What one vendor's server wants differently, as data.

A provider plugin states its quirks in the `compat` of its spec, a catalogue entry in its own, a person in the
configuration; later ones win key by key. README.md of this distribution lists the keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal
from urllib.parse import urlsplit

from openclaw_core.sdk import IdRule, ModelInfo

MaxTokensField = Literal["max_tokens", "max_completion_tokens"]
SystemRole = Literal["system", "developer", "user"]
ThinkingFormat = Literal["openai", "openrouter", "deepseek", "qwen", "qwen-chat-template", "none"]
ReasoningBack = Literal["never", "tools", "all"]
EmptyContent = Literal["null", "empty", "omit"]
ToolChoice = Literal["any", "auto", "never"]

OPENAI_HOST = "api.openai.com"

ID_RULES: Mapping[str, IdRule] = {
    "openai": IdRule(max_length=40),
    "alnum9": IdRule(max_length=9, exact=True),
    "open": IdRule(max_length=64, also=".:"),
}
"""`tool_id` -> rule: 40 characters (OpenAI), exactly nine (Mistral), or also the ``functions.name:0`` that Kimi
models make and know again."""

COMPAT_KEYS = frozenset(
    [
        "always_thinks",
        "body",
        "by_model",
        "cache_control",
        "deployment",
        "drop_params",
        "efforts",
        "empty_content",
        "key_header",
        "levels",
        "max_tokens_field",
        "parallel_tool_calls",
        "path",
        "query",
        "reasoning_back",
        "reasoning_field",
        "reasoning_off",
        "requires_assistant_after_tool_result",
        "requires_mistral_tool_ids",
        "requires_tool_result_name",
        "schema_drop",
        "schema_inline",
        "schema_plain_types",
        "schema_typed",
        "supports_reasoning_effort",
        "supports_usage_in_streaming",
        "system_role",
        "think_tags",
        "thinking_extra",
        "thinking_format",
        "thinking_on",
        "tool_choice",
        "tool_id",
    ]
)
"""Every key of `compat` that is read here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaRule:
    """Which JSON Schema a server takes for tool arguments."""

    inline: bool = False
    """`schema_inline`: put what a ``$ref`` names in its place; ``$defs``, ``$schema`` and ``$id`` vanish."""
    plain_types: bool = False
    """`schema_plain_types`: one type instead of a list of types; ``const`` becomes a one-word ``enum``."""
    typed: bool = False
    """`schema_typed`: every node has a type, and beside ``anyOf`` it stands in the branches (Moonshot)."""
    drop: frozenset[str] = frozenset()
    """`schema_drop`: keywords to leave out."""

    @property
    def touches(self) -> bool:
        """Some schema has to be rewritten."""
        return self.inline or self.plain_types or self.typed or bool(self.drop)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirks:
    """How to talk to one model of one server. Made from the `compat` entry of the model, where each key
    may be written in snake_case or camelCase; the key is named where it differs from the field."""

    max_tokens_field: MaxTokensField = "max_tokens"
    """Name of the output limit in Chat Completions."""
    ids: IdRule = ID_RULES["openai"]
    """`tool_id`: a key of ID_RULES."""
    stream_usage: bool = True
    """`supports_usage_in_streaming`: ask for the usage chunk."""
    system_role: SystemRole = "system"
    """Role of the one message that holds the system prompt; ``user``: in front of the first message."""
    tool_result_name: bool = False
    """`requires_tool_result_name`: results carry the tool's name."""
    assistant_after_tool: bool = False
    """`requires_assistant_after_tool_result`: a person's message may not follow a result directly."""
    empty_content: EmptyContent = "null"
    """Content of an answer that only calls tools."""
    tool_choice: ToolChoice = "any"
    """``auto``: only auto and none are sent; ``never``: the field is not."""
    parallel_tool_calls: bool | None = None
    """Sent where set, unless a person's params say otherwise."""
    drop_params: frozenset[str] = frozenset()
    """Parameters of a person that this server refuses."""
    schema: SchemaRule = field(default_factory=SchemaRule)
    cache_control: bool = False
    """`cache_control` ``"anthropic"``: mark the prompt prefix and the last message for Claude's cache."""
    thinking_format: ThinkingFormat = "openai"
    """How a thinking level is written into the body (thinking.py)."""
    thinking_on: str = "enabled"
    """The word for "think" in the format ``deepseek``."""
    thinking_extra: Mapping[str, Any] = field(default_factory=dict)
    """Further members of ``thinking`` in the format ``deepseek``."""
    always_thinks: bool = False
    """Thinking cannot be switched off: the lowest level stands for ``off``."""
    reasoning_effort: bool = False
    """`supports_reasoning_effort`: send the thinking level; default: the model is a reasoning model."""
    reasoning_off: str = ""
    """The effort that means "do not think" (``none``, ``minimal``); empty: send nothing."""
    efforts: frozenset[str] = frozenset()
    """Levels known beyond low, medium and high."""
    levels: Mapping[str, str] | None = None
    """Exactly these levels are known, each with the vendor's word for it."""
    reasoning_field: str = "reasoning_content"
    """Where the model's reasoning goes when it is sent back; ``tags`` puts it into the content."""
    reasoning_back: ReasoningBack = "never"
    """Which of the model's own answers carry their reasoning again: those with tool calls, all, or none."""
    think_tags: bool = False
    """Reasoning arrives as ``<think>...</think>`` at the beginning of the content."""
    body: Mapping[str, Any] = field(default_factory=dict)
    """Constant members of each request."""
    images: bool = False
    """The model takes images."""
    path: str = ""
    """Path below the base URL instead of the format's own; ``{model}`` is the model's id."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Query parameters of the address."""
    key_header: str = ""
    """Header for the bare key instead of ``Authorization: Bearer``."""


def quirks_for(provider_id: str, base_url: str, model: ModelInfo) -> Quirks:
    """The quirks of a model: its `compat` with the entries of `by_model` whose pattern fits below it, else
    what is known of the vendor."""
    compat = _Compat(model)
    host = urlsplit(base_url).hostname or ""
    openai = provider_id == "openai" or host == OPENAI_HOST
    mistral = provider_id == "mistral" or host.endswith("mistral.ai")
    return Quirks(
        max_tokens_field=compat.one_of(
            "max_tokens_field", MaxTokensField, "max_completion_tokens" if openai else "max_tokens"
        ),
        ids=compat.ids(mistral),
        stream_usage=compat.flag("supports_usage_in_streaming", True),
        system_role=compat.one_of("system_role", SystemRole, "system"),
        tool_result_name=compat.flag("requires_tool_result_name", False),
        assistant_after_tool=compat.flag("requires_assistant_after_tool_result", mistral),
        empty_content=compat.one_of("empty_content", EmptyContent, "null"),
        tool_choice=compat.one_of("tool_choice", ToolChoice, "any"),
        parallel_tool_calls=compat.maybe_flag("parallel_tool_calls"),
        drop_params=frozenset(compat.words("drop_params")),
        schema=SchemaRule(
            inline=compat.flag("schema_inline", False),
            plain_types=compat.flag("schema_plain_types", False),
            typed=compat.flag("schema_typed", False),
            drop=frozenset(compat.words("schema_drop")),
        ),
        cache_control=compat.get("cache_control") == "anthropic",
        thinking_format=compat.one_of("thinking_format", ThinkingFormat, "openai"),
        thinking_on=str(compat.get("thinking_on") or "enabled"),
        thinking_extra=compat.mapping("thinking_extra"),
        always_thinks=compat.flag("always_thinks", False),
        reasoning_effort=compat.flag("supports_reasoning_effort", model.reasoning),
        reasoning_off=str(compat.get("reasoning_off") or ""),
        efforts=frozenset(compat.words("efforts")),
        levels=compat.levels(),
        reasoning_field=str(compat.get("reasoning_field") or "reasoning_content"),
        reasoning_back=compat.one_of("reasoning_back", ReasoningBack, "never"),
        think_tags=compat.flag("think_tags", False),
        body=compat.mapping("body"),
        images="image" in model.input,
        path=str(compat.get("path") or "").replace("{model}", str(compat.get("deployment") or model.id)),
        query={k: str(v) for k, v in compat.mapping("query").items()},
        key_header=str(compat.get("key_header") or ""),
    )


class _Compat:
    """Reads the entries of one model; a value of the wrong kind counts as absent."""

    def __init__(self, model: ModelInfo) -> None:
        self._data: dict[str, Any] = {}
        own = {_snake(k): v for k, v in model.compat.items()}
        patterns = own.pop("by_model", None)
        for pattern, more in patterns.items() if isinstance(patterns, Mapping) else ():
            if fnmatchcase(model.id.lower(), str(pattern).lower()) and isinstance(more, Mapping):
                self._data |= {_snake(k): v for k, v in more.items()}
        # what stands for all models of the provider is weaker than a pattern, what a model says itself is not:
        # both come merged, so a pattern only adds keys
        self._data |= own

    def get(self, name: str) -> Any:
        return self._data.get(name)

    def flag(self, name: str, default: bool) -> bool:
        value = self.get(name)
        return value if isinstance(value, bool) else default

    def maybe_flag(self, name: str) -> bool | None:
        value = self.get(name)
        return value if isinstance(value, bool) else None

    def words(self, name: str) -> Iterable[str]:
        value = self.get(name)
        return [str(w) for w in value] if isinstance(value, list | tuple | set | frozenset) else ()

    def mapping(self, name: str) -> Mapping[str, Any]:
        value = self.get(name)
        return value if isinstance(value, Mapping) else {}

    def one_of(self, name: str, kind: Any, default: Any) -> Any:
        value = self.get(name)
        return value if isinstance(value, str) and value in kind.__args__ else default

    def ids(self, mistral: bool) -> IdRule:
        if self.get("requires_mistral_tool_ids") is True:
            return ID_RULES["alnum9"]
        rule = self.get("tool_id") or ("alnum9" if mistral else "openai")
        return ID_RULES.get(str(rule), ID_RULES["openai"])

    def levels(self) -> Mapping[str, str] | None:
        value = self.get("levels")
        named = value if isinstance(value, Mapping) else {w: w for w in self.words("levels")}
        return {str(k): str(v) for k, v in named.items()} or None


def _snake(name: str) -> str:
    """camelCase -> snake_case."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)

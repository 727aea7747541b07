"""How each vendor's server really streams: one answer that thinks, speaks and calls two tools, in that vendor's style."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from openclaw_core.testing.fakes.wire import WireReply

THOUGHT, TEXT = "Let me see: 你好", "Looking 🙂 now."
CALLS = [("read", {"path": "a.md"}), ("read", {"path": "b.md"})]
ARGUMENTS = [json.dumps(a) for _, a in CALLS]


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": choices,
        **more,
    }


def usage(**more: Any) -> dict[str, Any]:
    return {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120, **more}


CACHED = {"prompt_tokens_details": {"cached_tokens": 60}}


def fragments(ids: Sequence[str], *, whole: bool = False, index: bool = True) -> list[dict[str, Any]]:
    """Tool calls in pieces (or each at once)."""
    out = []
    for n, (name, _) in enumerate(CALLS):
        number = {"index": n} if index else {}
        if whole:
            call = {**number, "id": ids[n], "type": "function", "function": {"name": name, "arguments": ARGUMENTS[n]}}
            out.append(chunk({"tool_calls": [call]}))
            continue
        head = {**number, "id": ids[n], "type": "function", "function": {"name": name, "arguments": ""}}
        out.append(chunk({"tool_calls": [head]}))
        for piece in (ARGUMENTS[n][:5], ARGUMENTS[n][5:]):
            out.append(chunk({"tool_calls": [{**number, "function": {"arguments": piece}}]}))
    return out


def thinking(field: str) -> list[dict[str, Any]]:
    return [chunk({"role": "assistant", "content": None, field: THOUGHT[:4]}), chunk({field: THOUGHT[4:]})]


def spoken() -> list[dict[str, Any]]:
    return [chunk({"content": TEXT[:3]}), chunk({"content": TEXT[3:]})]


END = [chunk({}, "tool_calls")]
OPENAI_IDS = ("call_abc123", "call_def456")
KIMI_IDS = ("functions.read:0", "functions.read:1")
NINE_IDS = ("D681PevKs", "aB3dE6gH9")


def _tagged() -> list[dict[str, Any]]:
    whole = f"<think>{THOUGHT}</think>\n\n{TEXT}"
    return [chunk({"content": whole[n : n + 5]}) for n in range(0, len(whole), 5)]


def _details() -> list[dict[str, Any]]:
    def piece(text: str, **more: Any) -> dict[str, Any]:
        return {"type": "reasoning.text", "text": text, "index": 0, "format": "anthropic-claude-v1", **more}

    return [
        chunk(
            {"role": "assistant", "content": "", "reasoning": THOUGHT[:4], "reasoning_details": [piece(THOUGHT[:4])]}
        ),
        chunk({"content": "", "reasoning": THOUGHT[4:], "reasoning_details": [piece(THOUGHT[4:])]}),
        chunk({"content": "", "reasoning_details": [piece("", signature="SIG==")]}),
    ]


_MAGISTRAL = [
    chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": part}]}]})
    for part in (THOUGHT[:4], THOUGHT[4:])
]
_AZURE_FILTER = {"id": "", "object": "", "created": 0, "model": "", "choices": [], "prompt_filter_results": [{}]}
_TOGETHER_END = chunk({"content": "", "tool_calls": []}, "tool_calls", usage=usage())

STREAMS: dict[str, list[dict[str, Any]]] = {
    "deepseek": [
        *thinking("reasoning_content"),
        *spoken(),
        *fragments(OPENAI_IDS),
        chunk({"content": "", "reasoning_content": None}, "tool_calls", usage=usage(prompt_cache_hit_tokens=60)),
    ],
    "mistral": [
        *_MAGISTRAL,
        *spoken(),
        *fragments(NINE_IDS, whole=True, index=False),
        chunk({"content": ""}, "tool_calls", usage=usage(**CACHED)),
    ],
    "groq": [
        *thinking("reasoning"),
        *spoken(),
        *fragments(OPENAI_IDS, whole=True),
        chunk({}, "tool_calls", x_groq={"id": "req_1", "usage": usage(**CACHED)}),
        chunk(usage=usage(**CACHED)),
    ],
    "xai": [
        *thinking("reasoning_content"),
        *spoken(),
        *fragments(OPENAI_IDS, whole=True),
        *END,
        chunk(usage=usage(**CACHED)),
    ],
    "openrouter": [*_details(), *spoken(), *fragments(OPENAI_IDS), *END, chunk({"content": ""}, usage=usage(**CACHED))],
    "together": [*thinking("reasoning"), *spoken(), *fragments(OPENAI_IDS), _TOGETHER_END],
    "fireworks": [
        *thinking("reasoning_content"),
        *spoken(),
        *fragments(OPENAI_IDS),
        chunk({}, "tool_calls", usage=usage(**CACHED)),
    ],
    "cerebras": [
        *thinking("reasoning"),
        *spoken(),
        *fragments(OPENAI_IDS, whole=True),
        chunk({}, "tool_calls", usage=usage(), time_info={"queue_time": 0.1}),
    ],
    "moonshot": [
        *thinking("reasoning_content"),
        *spoken(),
        *fragments(KIMI_IDS),
        {**chunk(), "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls", "usage": usage(**CACHED)}]},
    ],
    "qwen": [
        *thinking("reasoning_content"),
        *spoken(),
        *fragments(OPENAI_IDS),
        chunk({"content": "", "reasoning_content": None}, "tool_calls"),
        chunk(usage=usage(**CACHED)),
    ],
    "zai": [
        *thinking("reasoning_content"),
        *spoken(),
        *fragments(OPENAI_IDS),
        chunk({"role": "assistant", "content": ""}, "tool_calls", usage=usage(**CACHED)),
    ],
    "minimax": [
        *_tagged(),
        *fragments(OPENAI_IDS),
        chunk({}, "tool_calls", base_resp={"status_code": 0, "status_msg": ""}, usage=usage()),
    ],
    "nvidia": [*thinking("reasoning_content"), *spoken(), *fragments(KIMI_IDS, whole=True), *END],
    "huggingface": [*thinking("reasoning"), *spoken(), *fragments(OPENAI_IDS), *END, chunk(usage=usage())],
    "azure-openai": [
        _AZURE_FILTER,
        chunk({"role": "assistant", "content": "", "refusal": None}, content_filter_results={}),
        *spoken(),
        *fragments(OPENAI_IDS),
        *END,
        chunk(usage=usage(**CACHED)),
    ],
    "ollama": [*thinking("reasoning"), *spoken(), *fragments(OPENAI_IDS, whole=True), *END, chunk(usage=usage())],
    "lmstudio": [*_tagged(), *fragments(("123456789", "987654321")), *END, chunk(usage=usage())],
    "vllm": [*thinking("reasoning_content"), *spoken(), *fragments(OPENAI_IDS), *END, chunk(usage=usage())],
    "litellm": [*thinking("reasoning_content"), *spoken(), *fragments(OPENAI_IDS), *END, chunk(usage=usage(**CACHED))],
}
"""By provider id."""

NO_THOUGHT = frozenset({"azure-openai"})
NO_USAGE = frozenset({"nvidia"})


def reply(provider: str) -> WireReply:
    """The stream as bytes: keep-alives and line ends as the vendor sends them."""
    lines = [f"data: {json.dumps(c, ensure_ascii=False)}\n\n".encode() for c in STREAMS[provider]]
    lines.append(b"data: [DONE]\n\n")
    if provider == "openrouter":
        lines[:0] = [b": OPENROUTER PROCESSING\n\n"] * 2
    elif provider == "deepseek":
        lines[:0] = [b": keep-alive\n\n"]
    elif provider in ("minimax", "zai"):
        lines = [line.replace(b"\n", b"\r\n") for line in lines]
    elif provider == "qwen":
        lines = [line.replace(b"data: ", b"data:") for line in lines]
    elif provider == "ollama":  # a proxy that cuts inside characters
        joined = b"".join(lines)
        lines = [joined[n : n + 7] for n in range(0, len(joined), 7)]
    return WireReply(pieces=lines)

"""What a run comes to: payloads, meta, error, and the session fields that follow (behaviour.md 1.9)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from openclaw_core.domain.journal import RunStatus
from openclaw_core.domain.messages import AssistantMessage, StopReason, Usage
from openclaw_core.domain.turns import Turn
from openclaw_core.errors import OpenClawError, ProviderError

SILENT = "NO_REPLY"
_MEDIA = re.compile(r"^\s*MEDIA:\s*\S.*$", re.MULTILINE)
_REASONING = re.compile(r"<think>.*?</think>\s*|</?final>", re.DOTALL)
_DIRECTIVE = re.compile(r"\[\[(?:reply_to_current|reply_to:[^\]]*|audio_as_voice)\]\]\s*")


@dataclass(slots=True, kw_only=True)
class RunFacts:
    """What accumulates while a run goes on."""

    answers: list[AssistantMessage] = field(default_factory=list)
    tool_calls: int = 0
    tool_failures: int = 0
    tools: list[str] = field(default_factory=list)
    media: list[str] = field(default_factory=list)
    attempts: list[Mapping[str, Any]] = field(default_factory=list)
    budget: Mapping[str, Any] = field(default_factory=dict)
    prompt_report: Mapping[str, Any] = field(default_factory=dict)
    transcript_path: str = ""

    @property
    def usage(self) -> Usage:
        """Sum over all requests: for billing."""
        total = Usage()
        for answer in self.answers:
            total = total + answer.usage
        return total

    @property
    def last(self) -> AssistantMessage | None:
        """The latest answer."""
        return self.answers[-1] if self.answers else None


def visible_text(text: str) -> str:
    """The text as a person sees it: no reasoning tags, directives or media lines; silence is empty."""
    shown = _DIRECTIVE.sub("", _MEDIA.sub("", _REASONING.sub("", text))).strip()
    if shown.upper() == SILENT:
        return ""
    if shown.upper().endswith("\n" + SILENT):
        shown = shown[: -len(SILENT)].rstrip()
    return shown


def payloads(facts: RunFacts) -> list[dict[str, Any]]:
    """The reply: one payload of text with the media that tools produced."""
    text = visible_text(facts.last.text) if facts.last is not None else ""
    media = list(dict.fromkeys(facts.media))
    if not text and not media:
        return []
    out: dict[str, Any] = {"text": text, "mediaUrl": media[0] if media else None}
    if len(media) > 1:
        out["mediaUrls"] = media
    return [out]


def usage_dict(usage: Usage) -> dict[str, Any]:
    """Token counts in the original's words."""
    return {
        "input": usage.input,
        "output": usage.output,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write,
        "total": usage.total,
        "costUsd": usage.cost,
    }


def meta(
    turn: Turn, facts: RunFacts, *, status: RunStatus, duration_ms: int, error: OpenClawError | None
) -> dict[str, Any]:
    """The `meta` object of a result."""
    last = facts.last
    raw = last.text if last is not None else ""
    stop = last.stop_reason.value if last is not None else StopReason.ERROR.value
    if status is RunStatus.ABORTED:
        stop = StopReason.ABORTED.value
    elif error is not None:
        stop = StopReason.ERROR.value
    last_usage = last.usage if last is not None else Usage()
    winner = last if last is not None else None
    out: dict[str, Any] = {
        "durationMs": duration_ms,
        "agentMeta": {
            "sessionId": turn.session_id,
            "sessionKey": turn.session_key,
            "sessionFile": facts.transcript_path,
            "provider": winner.provider if winner else turn.model.provider,
            "model": winner.model if winner else turn.model.id,
            "contextTokens": turn.model.context_window,
            "agentHarnessId": str(turn.meta.get("runtime", "embedded")),
            "usage": usage_dict(facts.usage),
            "lastCallUsage": usage_dict(last_usage),
            "promptTokens": last_usage.prompt,
            "compactionCount": 0,
            "contextBudgetStatus": facts.budget,
        },
        "aborted": status is RunStatus.ABORTED,
        "systemPromptReport": facts.prompt_report,
        "finalAssistantVisibleText": visible_text(raw),
        "finalAssistantRawText": raw,
        "replayInvalid": False,
        "livenessState": "working" if status is RunStatus.OK else status.value,
        "stopReason": stop,
        "executionTrace": {
            "winnerProvider": winner.provider if winner else None,
            "winnerModel": winner.model if winner else None,
            "attempts": facts.attempts,
            "fallbackUsed": bool(winner and f"{winner.provider}/{winner.model}" != turn.model.ref),
            "runner": str(turn.meta.get("runtime", "embedded")),
        },
        "requestShaping": {"thinking": turn.thinking},
        "completion": {"stopReason": stop, "finishReason": stop},
    }
    if facts.tool_calls:
        out["toolSummary"] = {
            "calls": facts.tool_calls,
            "tools": list(dict.fromkeys(facts.tools)),
            "failures": facts.tool_failures,
        }
    if error is not None:
        out["error"] = {"kind": error.kind.value if isinstance(error, ProviderError) else error.code, **error.as_dict()}
    return out


def result(payload: Sequence[Mapping[str, Any]], meta_: Mapping[str, Any]) -> dict[str, Any]:
    """The inner result object: `{payloads, meta}`."""
    return {"payloads": list(payload), "meta": dict(meta_)}


def session_fields(turn: Turn, facts: RunFacts, *, status: RunStatus, started_at: int, ended_at: int) -> dict[str, Any]:
    """What the session index learns from a run (observed.md 2)."""
    words = {RunStatus.OK: "done", RunStatus.TIMEOUT: "timeout"}
    last = facts.last
    usage = last.usage if last else Usage()
    out: dict[str, Any] = {
        "status": words.get(status, "failed"),
        "abortedLastRun": status is RunStatus.ABORTED,
        "startedAt": started_at,
        "endedAt": ended_at,
        "runtimeMs": ended_at - started_at,
        "contextTokens": turn.model.context_window,
        "agentHarnessId": str(turn.meta.get("runtime", "embedded")),
        "contextBudgetStatus": facts.budget,
    }
    if last is not None:
        out.update(
            model=last.model,
            modelProvider=last.provider,
            inputTokens=usage.input,
            outputTokens=usage.output,
            totalTokens=usage.prompt + usage.output,
            totalTokensFresh=True,
            cacheRead=usage.cache_read,
            cacheWrite=usage.cache_write,
        )
    return out

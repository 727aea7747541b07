"""Keys of the original that this version reads past, with the reason. They warn; they never stop a start."""

from __future__ import annotations

from typing import Any

LATER = "this version does not have it yet"
OTHER = "plugins are Python packages here"

UNSUPPORTED: dict[str, str] = {
    "$schema": "",
    "meta": "",
    "ui": LATER,
    "wizard": "",
    "update": "updates come through the package manager",
    "cli": LATER,
    "hooks": LATER,
    "cron": LATER,
    "commands": LATER,
    "browser": LATER,
    "auth": LATER,
    "approvals": LATER,
    "acp": LATER,
    "bindings": LATER,
    "broadcast": LATER,
    "accessGroups": LATER,
    "audio": LATER,
    "media": LATER,
    "talk": LATER,
    "tts": LATER,
    "canvasHost": LATER,
    "nodeHost": LATER,
    "discovery": LATER,
    "diagnostics": LATER,
    "memory": LATER,
    "mcp": LATER,
    "proxy": LATER,
    "secrets": "secrets come from env: and file: references",
    "web": LATER,
    "env.shellEnv": "the login shell is not read",
    "gateway.tls": LATER,
    "gateway.tailscale": LATER,
    "gateway.remote": LATER,
    "gateway.nodes": LATER,
    "gateway.push": LATER,
    "gateway.webchat": LATER,
    "gateway.channelHealthCheckMinutes": LATER,
    "gateway.channelMaxRestartsPerHour": LATER,
    "gateway.channelStaleEventThresholdMinutes": LATER,
    "gateway.allowRealIpFallback": "forwarded addresses count only from trusted proxies",
    "gateway.auth.allowTailscale": LATER,
    "gateway.controlUi.allowInsecureAuth": "the check cannot be switched off",
    "gateway.controlUi.dangerouslyDisableDeviceAuth": "the check cannot be switched off",
    "gateway.controlUi.dangerouslyAllowHostHeaderOriginFallback": "the check cannot be switched off",
    "gateway.controlUi.root": LATER,
    "agents.defaults.heartbeat": LATER,
    "agents.defaults.sandbox": LATER,
    "agents.defaults.cliBackends": LATER,
    "agents.defaults.memorySearch": LATER,
    "agents.defaults.pdfModel": LATER,
    "agents.defaults.pdfMaxBytesMb": LATER,
    "agents.defaults.pdfMaxPages": LATER,
    "agents.defaults.imageGenerationModel": LATER,
    "agents.defaults.videoGenerationModel": LATER,
    "agents.defaults.musicGenerationModel": LATER,
    "agents.defaults.elevatedDefault": LATER,
    "agents.defaults.envelopeTimezone": LATER,
    "agents.defaults.envelopeTimestamp": LATER,
    "agents.defaults.envelopeElapsed": LATER,
    "agents.defaults.agentRuntime": LATER,
    "agents.defaults.startupContext": LATER,
    "agents.defaults.fastModeDefault": LATER,
    "agents.*.heartbeat": LATER,
    "agents.*.sandbox": LATER,
    "agents.*.memorySearch": LATER,
    "agents.*.fastModeDefault": LATER,
    "agents.*.humanDelay": LATER,
    "models.pricing": "no price list is fetched",
    "models.bedrockDiscovery": LATER,
    "session.sendPolicyDefault": LATER,
    "session.parentForkMaxTokens": LATER,
    "messages.tts": LATER,
    "messages.suppressToolErrors": LATER,
    "tools.message": LATER,
    "tools.links": LATER,
    "tools.experimental": LATER,
    "tools.toolsBySender": LATER,
    "plugins.bundledDiscovery": OTHER,
    "logging.maxFileBytes": LATER,
}
"""Dotted path (``agents.*`` is any one agent) to the reason; an empty reason is dropped without a word:
bookkeeping of the original that changes nothing."""


def drop_unsupported(data: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """The tree without keys of `UNSUPPORTED`, and (path, reason) of each one that needs a warning."""
    out = dict(data)
    found: list[tuple[str, str]] = []
    for pattern, reason in UNSUPPORTED.items():
        for path in _matches(out, pattern.split(".")):
            _remove(out, path)
            if reason:
                found.append((_dotted(path), reason))
    return out, found


def _matches(tree: dict[str, Any], parts: list[str]) -> list[tuple[str | int, ...]]:
    if parts[:2] == ["agents", "*"]:
        agents = tree.get("agents")
        if not isinstance(agents, dict):
            return []
        listed, named = agents.get("list"), agents.get("entries")
        bases: list[tuple[str | int, ...]] = []
        if isinstance(listed, list):
            bases += [("agents", "list", n) for n, entry in enumerate(listed) if isinstance(entry, dict)]
        if isinstance(named, dict):
            bases += [("agents", "entries", n) for n, entry in named.items() if isinstance(entry, dict)]
        return [(*base, *parts[2:]) for base in bases if parts[2] in _get(tree, base)]
    node: Any = tree
    for part in parts:
        if not isinstance(node, dict) or part not in node:
            return []
        node = node[part]
    return [tuple(parts)]


def _get(tree: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        tree = tree[part]
    return tree


def _remove(tree: dict[str, Any], path: tuple[str | int, ...]) -> None:
    # Copies each container on the way, so that the caller's tree stays as it was read.
    node: Any = tree
    for part in path[:-1]:
        node[part] = list(node[part]) if isinstance(node[part], list) else dict(node[part])
        node = node[part]
    del node[path[-1]]


def _dotted(path: tuple[str | int, ...]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text

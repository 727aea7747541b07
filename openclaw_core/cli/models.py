"""`openclaw models`: what can be used and why not."""

from __future__ import annotations

import asyncio

import click

from openclaw_core.cli import output
from openclaw_core.cli.state import CliState
from openclaw_core.models.http import SharedHttp
from openclaw_core.models.registry import ModelRegistry


@click.group("models")
def command() -> None:
    """Show models and providers."""


def _registry(state: CliState) -> ModelRegistry:
    loaded, plugins = state.load(), state.plugins("provider")
    return ModelRegistry(
        loaded.config,
        plugins.providers,
        resolve=lambda plugin_id, text: plugins.resolve(plugin_id, text, kind="provider"),
        http=SharedHttp(),
        environ=loaded.environ,
    )


@command.command("list")
@click.option("--all", "every", is_flag=True, help="Also models of providers that cannot be used now.")
@click.option("--provider", default="", help="Only one provider.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def list_(state: CliState, every: bool, provider: str, as_json: bool) -> int:
    """List the models that can be used."""
    rows = [
        row
        for row in _registry(state).rows()
        if (every or row.available) and (not provider or row.model.provider == provider)
    ]
    if as_json:
        output.emit_json({"count": len(rows), "models": [row.as_dict() for row in rows]})
        return 0
    output.table(
        ("MODEL", "INPUT", "WINDOW", "TAGS", "NOTE"),
        [(r.model.ref, "+".join(r.model.input), r.model.context_window, ",".join(r.tags), r.reason) for r in rows],
        empty="No model can be used. See `openclaw models list --all`.",
    )
    return 0


@command.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def status(state: CliState, as_json: bool) -> int:
    """Show the model in use and, for each provider, whether it can be used."""
    registry = _registry(state)
    providers = [
        {"id": ident, "plugin": plugin, "keyFrom": origin or None, "usable": not reason, "reason": reason or None}
        for ident, plugin, origin, reason in registry.providers()
    ]
    default = registry.default_ref()
    fallbacks = state.load().config.agents.defaults.model.fallbacks
    asyncio.run(registry.aclose())
    if as_json:
        output.emit_json({"defaultModel": default or None, "fallbacks": fallbacks, "providers": providers})
        return 0
    output.fields([("model", default or "none"), ("fallbacks", ", ".join(fallbacks) or "none")])
    output.line()
    output.table(
        ("PROVIDER", "USABLE", "KEY FROM", "NOTE"),
        [(p["id"], "yes" if p["usable"] else "no", p["keyFrom"], p["reason"]) for p in providers],
        empty="No provider is installed.",
    )
    if default.startswith("demo/"):
        output.line()
        output.line("This is a demonstration without a model. To use a real one, set an API key, for example")
        output.line("  export ANTHROPIC_API_KEY=...    or    export OPENAI_API_KEY=...")
        output.line("or enter any server that speaks the OpenAI format: see docs/how-to/models.md.")
    return 0

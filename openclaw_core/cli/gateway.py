"""`openclaw gateway`: run it, call it, look at it."""

from __future__ import annotations

import json
from typing import Any

import click

from openclaw_core import __version__
from openclaw_core.cli import output
from openclaw_core.cli.entry import started
from openclaw_core.cli.reach import GatewayClient, find_gateway, need_gateway
from openclaw_core.cli.state import CliState
from openclaw_core.errors import InvalidRequest, OpenClawError

_URL = click.option("--url", default="", help="Address of a gateway (default: the one of this state directory).")
_TOKEN = click.option("--token", default="", help="Token for --url.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("gateway")
def command() -> None:
    """Run the gateway and talk to it."""


@command.command("run")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 takes a free one.")
@click.option("--bind", type=click.Choice(["loopback", "lan", "custom", "auto"]), help="Where to listen.")
@click.option("--token", help="Token that clients must show.")
@click.option("--verbose", is_flag=True, help="Log more on standard error.")
@click.option("--allow-unconfigured", is_flag=True, hidden=True, help="Accepted for compatibility.")
@click.option("--json", "as_json", is_flag=True, help="Announce readiness as one JSON line.")
@click.pass_obj
def run(
    state: CliState,
    port: int | None,
    bind: str | None,
    token: str | None,
    verbose: bool,
    allow_unconfigured: bool,
    as_json: bool,
) -> int:
    """Run the gateway in the foreground until Ctrl-C or SIGTERM."""
    import asyncio
    from functools import partial

    from openclaw_core.cli.logfile import log_to_file
    from openclaw_core.gateway.app import GatewayApp
    from openclaw_core.gateway.lifecycle import Address, run_gateway
    from openclaw_core.gateway.reload import follow_config

    del allow_unconfigured
    flags = {"gateway.port": port, "gateway.bind": bind, "gateway.auth.token": token}
    state.overrides |= {path: value for path, value in flags.items() if value is not None}
    loaded = state.load()
    if verbose and not state.log_level:
        state.log_level = "info"
    state.paths.ensure()
    log_to_file(state, loaded)

    def announce(address: Address, app: GatewayApp) -> None:
        started()
        if as_json:
            output.emit_json_line({"ready": True, "url": address.url, "host": address.host, "port": address.port})
        else:
            _announce(address, app)

    follow = partial(follow_config, overrides=state.overrides)
    asyncio.run(run_gateway(state.paths, loaded, announce=announce, reloads=follow))
    return 0


def _announce(address: Any, app: Any) -> None:
    model = app.engine.models.default_ref() or "none: see `openclaw models list`"
    if model.startswith("demo/"):
        model += " (a demonstration without a model; see `openclaw models status`)"
    output.line(f"OpenClaw {__version__} gateway is ready at {address.url}")
    output.fields(
        [
            ("  model", model),
            ("  talk", "openclaw chat"),
            ("  one turn", 'openclaw agent --message "hello"'),
            ("  health", f"curl http://{address.host}:{address.port}/healthz"),
            ("  state", app.engine.paths.state_dir),
            ("  stop", "Ctrl-C"),
        ]
    )
    for problem in app.failing():
        output.warn(problem)


@command.command("call")
@click.argument("method")
@click.option("--params", default="{}", help="Parameters as JSON.")
@click.option("--timeout", default=30.0, show_default=True, metavar="SECONDS", help="How long to wait.")
@click.option("--expect-final", is_flag=True, help="Wait for the second answer of methods that give two.")
@_URL
@_TOKEN
@_JSON
@click.pass_obj
def call(
    state: CliState, method: str, params: str, timeout: float, expect_final: bool, url: str, token: str, as_json: bool
) -> int:
    """Call a method of the running gateway and print its payload."""
    try:
        data = json.loads(params)
    except ValueError as error:
        raise InvalidRequest(f"--params is not JSON: {error}.", hint="Example: --params '{\"limit\": 5}'") from error
    if not isinstance(data, dict):
        raise InvalidRequest("--params must be a JSON object.", hint="Example: --params '{\"limit\": 5}'")
    with GatewayClient(need_gateway(state, url=url, token=token)) as client:
        payload = client.call(method, data, timeout_s=timeout, final=expect_final)
    output.emit_json(payload)
    return 0


@command.command("health")
@_URL
@_TOKEN
@_JSON
@click.pass_obj
def health(state: CliState, url: str, token: str, as_json: bool) -> int:
    """Show how the running gateway is."""
    with GatewayClient(need_gateway(state, url=url, token=token)) as client:
        payload = client.call("health", {})
    if as_json:
        output.emit_json(payload)
        return 0
    output.line("ok" if payload["ok"] and not payload["degraded"] else "degraded")
    for problem in payload["degraded"]:
        output.line(f"- {problem}")
    return 0


@command.command("status")
@_URL
@_TOKEN
@_JSON
@click.pass_obj
def status(state: CliState, url: str, token: str, as_json: bool) -> int:
    """Say whether a gateway runs here and whether it can be used."""
    found: dict[str, Any] = {"running": False, "reachable": False, "url": None, "error": None}
    reach = find_gateway(state, url=url, token=token)
    if reach is not None:
        found |= {"running": True, "url": reach.url}
        try:
            with GatewayClient(reach, timeout_s=5.0) as client:
                found |= {"reachable": True, "server": client.hello["server"], "protocol": client.hello["protocol"]}
                found["uptimeMs"] = client.hello["snapshot"]["uptimeMs"]
        except OpenClawError as error:
            found["error"] = error.message
    if as_json:
        output.emit_json(found)
    elif not found["running"]:
        output.line("No gateway is running. Start one: openclaw gateway run")
    elif found["reachable"]:
        output.line(f"A gateway is running at {found['url']} (up {found['uptimeMs'] // 1000} s).")
    else:
        output.line(f"A gateway holds this state directory, but cannot be used: {found['error']}")
    return 0 if found["reachable"] or not found["running"] else 1

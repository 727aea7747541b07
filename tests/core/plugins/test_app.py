"""Loading and calling: a plugin that misbehaves costs only itself."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openclaw_core.config.loader import load_config
from openclaw_core.config.paths import StatePaths
from openclaw_core.contracts.tool import ToolEnv
from openclaw_core.errors import ConfigValueError, PluginLoadError, PluginNotFound
from openclaw_core.hooks.views import GatewayView
from openclaw_core.plugin import ToolPolicyRequest, TurnView
from openclaw_core.plugins.app import AppPlugins, load_plugins
from openclaw_core.plugins.catalog import scan
from openclaw_core.plugins.resolve import resolve
from openclaw_core.testing.plugin_env import PluginEnv

GOOD = """
    from openclaw_core.plugin import ToolSpec, hookimpl

    @hookimpl
    def openclaw_tools(env):
        return [ToolSpec(name="{name}", description="d", factory="json:loads")]
"""
HEAD = "from openclaw_core.plugin import *\nfrom openclaw_core.plugin import hookimpl\n"

Boot = Callable[..., AppPlugins]


@pytest.fixture
def add(plugin_env: PluginEnv) -> Callable[..., None]:
    """Add a distribution with one plugin module; `kind` is the entry-point group's last word."""

    def make(name: str, source: str = "", *, kind: str = "tools", **more: Any) -> None:
        module = name.replace("-", "_")
        plugin_env.add(
            name,
            entry_points={f"openclaw.{kind}": {name: f"{module}.plugin"}},
            modules={f"{module}.plugin": source or GOOD.format(name=f"{module}_tool")},
            **more,
        )

    return make


@pytest.fixture
def boot(plugin_env: PluginEnv, openclaw_paths: StatePaths) -> Boot:
    """Load every distribution of the test, all enabled, over a configuration."""

    def make(config: dict[str, Any] | None = None, **more: Any) -> AppPlugins:
        catalog = scan(path=[str(plugin_env.folder)])
        data = config or {}
        data.setdefault("plugins", {}).setdefault("allow", sorted(catalog.ids()) or ["none"])
        openclaw_paths.config_file.write_text(json.dumps(data))
        return load_plugins(load_config(openclaw_paths, environ={}), openclaw_paths, catalog=catalog, **more)

    return make


@pytest.fixture
def env(tmp_path: Path) -> ToolEnv:
    return ToolEnv(agent_id="main", workspace=tmp_path, state_dir=tmp_path)


def names(app: AppPlugins, env: ToolEnv) -> list[str]:
    return [spec.name for _, spec in app.tools(env)]


def reason(app: AppPlugins, plugin: str, kind: str = "tools") -> str:
    row = app.report.rows[f"{kind}:{plugin}"]
    assert row.state == "error", row
    return row.reason


BROKEN = {
    "raises": ("raise ImportError('no such thing')", "ImportError: no such thing"),
    "asserts": ("assert False, 'never'", "AssertionError"),
    "exits": ("import sys; sys.exit(3)", "sys.exit(3)"),
    "syntax": ("def (", "SyntaxError"),
    "interrupts": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "missing": ("import a_module_that_nobody_has", "ModuleNotFoundError"),
    "argument": (HEAD + "@hookimpl\ndef openclaw_tools(env, agent): return []", "does not match its specification"),
    "unknown": (HEAD + "@hookimpl\ndef openclaw_toolz(env): return []", "a hook that this version does not have"),
    "wrapper": (HEAD + "@hookimpl(wrapper=True)\ndef openclaw_tools(env): return (yield)", "hook wrapper"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_plugin_is_left_out_and_named(
    add: Callable[..., None], boot: Boot, env: ToolEnv, name: str, openclaw_paths: StatePaths
) -> None:
    source, said = BROKEN[name]
    add(name, source)
    add("good")
    app = boot()
    assert names(app, env) == ["good_tool"]
    assert said in reason(app, name)
    assert app.report.rows["tools:good"].state == "active"
    remembered = json.loads((openclaw_paths.plugins_dir / "errors.json").read_text())
    assert said in remembered["errors"][f"tools:{name}"]["reason"]


CALLS = {
    "half": (
        "    yield ToolSpec(name='t1', description='d', factory='json:loads')\n    raise ValueError('half way')",
        "half way",
    ),
    "exit": ("    import sys; sys.exit(9)", "sys.exit(9)"),
    "text": ("    return 'tools'", "str"),
    "type": ("    return [1]", "returned int where ToolSpec is needed"),
    "newer": ("    return [ToolSpec(name='t1', description='d', factory='x:y', api=99)]", "generation 99"),
    "endless": (
        "    import itertools\n"
        "    return (ToolSpec(name=f't{n}', description='d', factory='x:y') for n in itertools.count())",
        "more than",
    ),
    "taken": (
        "    return [ToolSpec(name=n, description='d', factory='x:y') for n in ('t1', 'good_tool')]",
        "good_tool",
    ),
    "word": ("    return [ToolSpec(name='two words', description='d', factory='x:y')]", "not a plain word"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_failing_hook_loses_all_that_it_returned(
    add: Callable[..., None], boot: Boot, env: ToolEnv, name: str
) -> None:
    body, said = CALLS[name]
    add("z" + name, f"{HEAD}@hookimpl\ndef openclaw_tools(env):\n{body}\n")
    add("good")
    app = boot()
    assert names(app, env) == ["good_tool"]
    assert said in reason(app, "z" + name)
    assert names(app, env) == ["good_tool"]


def test_none_is_empty(add: Callable[..., None], boot: Boot, env: ToolEnv) -> None:
    add("none", f"{HEAD}@hookimpl\ndef openclaw_tools(env):\n    return None\n")
    app = boot()
    assert (names(app, env), app.report.errors()) == ([], [])


def test_a_plugin_that_fails_later_disappears_from_all_lists(
    add: Callable[..., None], boot: Boot, env: ToolEnv
) -> None:
    add(
        "later",
        f"{HEAD}@hookimpl\ndef openclaw_commands():\n    return [CommandSpec(name='c', summary='s', command='x:y')]\n"
        "@hookimpl\ndef openclaw_tools(env):\n    raise RuntimeError('now')\n",
    )
    app = boot()
    assert [spec.name for _, spec in app.commands] == ["c"]
    assert names(app, env) == []
    assert app.commands == []
    assert "now" in reason(app, "later")


def test_a_sleeping_import_costs_only_itself(
    add: Callable[..., None], boot: Boot, env: ToolEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The import waits for an event that only this test sets, so nothing here depends on how fast the machine is.
    import builtins
    import threading

    gate = threading.Event()
    monkeypatch.setattr(builtins, "openclaw_test_gate", gate, raising=False)
    add("sleeper", "import builtins; builtins.openclaw_test_gate.wait(60)")
    add("second", "import builtins; builtins.openclaw_test_gate.wait(60)")
    add("good")
    try:
        started = time.monotonic()
        app = boot(import_seconds=0.3)
        assert time.monotonic() - started < 20
        assert names(app, env) == ["good_tool"]
        assert "took longer than" in reason(app, "sleeper")
        assert "took longer than" in reason(app, "second")
        # The next run does not wait for it again, until somebody asks for that.
        again = boot(import_seconds=3600.0)
        assert "took longer than" in reason(again, "sleeper")
        assert names(again, env) == ["good_tool"]
    finally:
        gate.set()
    assert boot(retry=True).report.errors() == []


def test_a_plugin_that_works_again_is_active_again(
    add: Callable[..., None], boot: Boot, plugin_env: PluginEnv, openclaw_paths: StatePaths
) -> None:
    add("px", "raise ImportError('boom')")
    assert "boom" in reason(boot(), "px")
    path = plugin_env.write("px.plugin", GOOD.format(name="t"))
    import os

    os.utime(path, (1, 1))
    app = boot()
    assert app.report.rows["tools:px"].state == "active"
    assert json.loads((openclaw_paths.plugins_dir / "errors.json").read_text())["errors"] == {}


def test_what_a_stranger_prints_at_import_is_not_lost_in_our_output(
    add: Callable[..., None], boot: Boot, env: ToolEnv
) -> None:
    add("printer", "print('hello')\n" + "\n".join(line[4:] for line in GOOD.format(name="p").splitlines()))
    assert names(boot(), env) == ["p"]


def test_only_the_wanted_kinds_are_imported(add: Callable[..., None], boot: Boot) -> None:
    add("one")
    add("two", kind="providers")
    boot(kinds=["tools"])
    assert "one.plugin" in sys.modules
    assert "two.plugin" not in sys.modules


def test_one_module_of_several_kinds_is_one_plugin(plugin_env: PluginEnv, boot: Boot, env: ToolEnv) -> None:
    plugin_env.add(
        "multi",
        entry_points={"openclaw.tools": {"multi": "multi.plugin"}, "openclaw.extensions": {"multi": "multi.plugin"}},
        modules={"multi.plugin": GOOD.format(name="t")},
    )
    app = boot()
    assert names(app, env) == ["t"]
    assert {row.state for row in app.report.ordered()} == {"active"}


@pytest.mark.parametrize(
    ("kind", "hook", "spec"),
    [
        ("channels", "openclaw_channels", "ChannelSpec(id='{id}', summary='s', factory='x:y', config_model='x:y')"),
        ("runtimes", "openclaw_runtimes", "RuntimeSpec(id='{id}', summary='s', factory='x:y', claims=None)"),
        (
            "audit_sinks",
            "openclaw_audit_sinks",
            "AuditSinkSpec(id='{id}', summary='s', factory='x:y', default_on=True)",
        ),
    ],
)
@pytest.mark.parametrize("ident", ["px", "other"])
def test_ids_of_channels_runtimes_and_sinks_are_entry_point_names(
    add: Callable[..., None], boot: Boot, kind: str, hook: str, spec: str, ident: str
) -> None:
    add("px", f"{HEAD}@hookimpl\ndef {hook}():\n    return [{spec.format(id=ident)}]\n", kind=kind)
    app = boot({"channels": {"px": {}}})
    found = getattr(app, kind)
    if ident == "px":
        assert [name for name, _ in found] == ["px"]
    else:
        assert found == []
        assert "not the name of an entry point" in reason(app, "px", kind.removesuffix("s"))


# ---- gates, sections, listeners ---------------------------------------------------------------------

REQUEST = ToolPolicyRequest(tool="exec", agent_id="main", session_key="k", channel="cli")


def policy(body: str) -> str:
    return f"{HEAD}@hookimpl\ndef openclaw_tool_policy(request):\n    {body}\n"


def test_any_deny_wins(add: Callable[..., None], boot: Boot) -> None:
    add("yes", policy("return Verdict(allow=True)"))
    add("none", policy("return None"))
    assert boot().tool_policy(REQUEST).allow
    add("no", policy("return Verdict(allow=request.tool != 'exec', reason='not exec')"))
    app = boot()
    verdict = app.tool_policy(REQUEST)
    assert not verdict.allow
    assert "no: not exec" in verdict.reason


@pytest.mark.parametrize("body", ["raise ValueError('x')", "import sys; sys.exit()", "return 5", "return True"])
def test_a_failing_gate_stays_shut(add: Callable[..., None], boot: Boot, body: str) -> None:
    add("gate", policy(body))
    add("yes", policy("return Verdict(allow=True)"))
    app = boot()
    for _ in range(3):
        assert not app.tool_policy(REQUEST).allow
    assert any("gate" in finding["text"] for finding in app.report.diagnostics)


def test_a_required_plugin_that_is_missing_blocks_tools(add: Callable[..., None], boot: Boot) -> None:
    add("good")
    config = {"plugins": {"entries": {"guard": {"required": True}}}}
    assert "guard" in boot(json.loads(json.dumps(config))).tool_policy(REQUEST).reason
    add("guard", "raise ImportError('x')")
    assert not boot(json.loads(json.dumps(config))).tool_policy(REQUEST).allow
    add("guard2", policy("return None"))
    assert boot({"plugins": {"entries": {"guard2": {"required": True}}}}).tool_policy(REQUEST).allow


def test_a_failing_prompt_section_is_left_out_each_time(add: Callable[..., None], boot: Boot) -> None:
    section = "PromptSection(id='{0}', title='t', text='x', order={1})"
    hook = HEAD + "@hookimpl\ndef openclaw_prompt_sections(turn):\n    {0}\n"
    add("late", hook.format(f"return [{section.format('late', 9)}]"))
    add("early", hook.format(f"return [{section.format('early', 1)}]"))
    add("bad", hook.format("raise ValueError(turn.model)"))
    turn = TurnView(agent_id="main", session_key="k", channel="c", provider="p", model="m", workspace="/w")
    app = boot()
    for _ in range(2):
        assert [spec.id for _, spec in app.prompt_sections(turn)] == ["early", "late"]


def test_a_plugin_that_is_loaded_later_hears_that_the_gateway_is_ready(
    add: Callable[..., None], boot: Boot, plugin_env: PluginEnv
) -> None:
    body = HEAD + "HEARD = []\n@hookimpl\ndef openclaw_gateway_ready(gateway):\n    HEARD.append(gateway.port)\n"
    add("early", body)
    add("failing", HEAD + "@hookimpl\ndef openclaw_gateway_ready(gateway):\n    raise ValueError('x')\n")
    add("late", body, kind="extensions")
    app = boot(kinds=["tools"])
    app.gateway_ready(GatewayView(version="1", host="h", port=7, state_dir="/s"))
    assert sys.modules["early.plugin"].HEARD == [7]
    app.load(app.catalog.plugins)
    assert sys.modules["late.plugin"].HEARD == [7]
    assert sys.modules["early.plugin"].HEARD == [7]


def test_unloading_takes_a_plugin_out_of_all_lists(add: Callable[..., None], boot: Boot, env: ToolEnv) -> None:
    add("one")
    add("two")
    app = boot()
    app.unload("tools:one")
    assert names(app, env) == ["two_tool"]
    app.load(app.catalog.plugins)
    assert sorted(names(app, env)) == ["one_tool", "two_tool"]


# ---- configuration and building ---------------------------------------------------------------------

CHANNEL = (
    HEAD
    + "@hookimpl\ndef openclaw_channels():\n"
    + "    return [ChannelSpec(id='{id}', summary='s', factory='{id}.work:make', config_model='{id}.work:Model')]\n"
)
WORK = """
    from pydantic import BaseModel, ConfigDict

    from openclaw_core.sdk import Secret

    class Model(BaseModel):
        model_config = ConfigDict(extra="forbid")
        host: str
        password: Secret | None = None

    def make(env):
        return env
"""


def test_a_broken_section_costs_only_its_channel(add: Callable[..., None], boot: Boot, plugin_env: PluginEnv) -> None:
    for name in ("good", "bad"):
        add(name, CHANNEL.format(id=name), kind="channels")
        plugin_env.write(f"{name}.work", WORK)
    app = boot({"channels": {"good": {"host": "h", "password": "env:X"}, "bad": {"hots": "h"}}})
    specs = dict(app.channels)
    section = app.config_for("good", specs["good"])
    assert section.host == "h"
    with pytest.raises(ConfigValueError) as caught:
        app.config_for("bad", specs["bad"])
    assert "channels.bad.hots is not a known setting; did you mean channels.bad.host?" in caught.value.problems


def test_import_strings_name_everything_when_they_fail(add: Callable[..., None], boot: Boot) -> None:
    add("good")
    app = boot()
    assert app.resolve("good", "json:loads") is json.loads
    with pytest.raises(PluginLoadError) as caught:
        app.resolve("good", "json:nope")
    assert all(word in caught.value.message for word in ("good", "json:nope", "AttributeError"))
    assert caught.value.distribution == "good"
    with pytest.raises(PluginNotFound):
        app.resolve("nobody", "json:loads")


@pytest.mark.parametrize("text", ["json", "json:", ":x", "no_such_module_here:x", "json:loads.nope", "a b:c", ""])
def test_bad_import_strings(text: str) -> None:
    with pytest.raises(PluginLoadError):
        resolve(text, plugin_id="p", distribution="d")


def test_the_store_is_named_when_it_is_missing(boot: Boot) -> None:
    with pytest.raises(PluginNotFound, match="sqlite"):
        boot().store()


def test_audit_sinks_are_chosen(add: Callable[..., None], boot: Boot) -> None:
    spec = "AuditSinkSpec(id='{0}', summary='s', factory='x:y', default_on={1})"
    sink = f"{HEAD}@hookimpl\ndef openclaw_audit_sinks():\n    return [{spec}]\n"
    add("a", sink.format("a", True), kind="audit_sinks")
    add("b", sink.format("b", False), kind="audit_sinks")
    assert [name for name, _ in boot().audit_sinks] == ["a"]
    assert [name for name, _ in boot({"logging": {"audit": {"sinks": ["b"]}}}).audit_sinks] == ["b"]
    assert [name for name, _ in boot({"plugins": {"entries": {"b": {"enabled": True}}}}).audit_sinks] == ["a", "b"]


def test_uninstalled_plugins_leave_inert_references(
    add: Callable[..., None], boot: Boot, plugin_env: PluginEnv
) -> None:
    add("px")
    add("good")
    plugin_env.remove("px")
    raw = {
        "plugins": {
            "allow": ["px", "good"],
            "entries": {"px": {"enabled": True, "config": {"a": 1}}},
            "slots": {"memory": "px"},
        },
        "channels": {"px": {"token": "x"}},
        "agents": {"defaults": {"model": {"primary": "px/m", "fallbacks": ["px/n"]}}},
    }
    app = boot(raw)
    keys = {finding.get("key") for finding in app.report.diagnostics}
    assert {"plugins.allow[0]", "plugins.entries.px", "channels.px"} <= keys
    assert app.report.rows["tools:good"].state == "active"

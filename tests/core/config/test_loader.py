"""The model, its layers, its errors, secrets, what is ignored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from openclaw_core.config.loader import load_config
from openclaw_core.config.model import parse_config
from openclaw_core.config.paths import StatePaths
from openclaw_core.config.schema import json_schema, plain, redacted
from openclaw_core.config.secret import Secret
from openclaw_core.config.sections.base import parse_duration_ms, parse_size
from openclaw_core.config.unsupported import UNSUPPORTED, drop_unsupported
from openclaw_core.errors import ConfigValueError, InvalidRequest
from openclaw_core.observe.logging import redact


def put(paths: StatePaths, value: Any) -> None:
    paths.config_file.write_text(value if isinstance(value, str) else json.dumps(value))


def test_defaults_are_the_numbers_of_the_specification() -> None:
    config = parse_config({})
    assert config.gateway.port == 18789
    assert config.gateway.auth.rate_limit.max_attempts == 10
    assert config.gateway.reload.debounce_ms == 300
    defaults = config.agents.defaults
    assert (defaults.timeout_seconds, defaults.context_tokens) == (600, 200_000)
    assert (defaults.bootstrap_max_chars, defaults.bootstrap_total_max_chars) == (20_000, 60_000)
    assert (defaults.compaction.reserve_tokens, defaults.compaction.reserve_tokens_floor) == (16_384, 20_000)
    retries = defaults.run_retries
    assert (retries.base, retries.per_profile, retries.min, retries.max) == (24, 8, 32, 160)
    assert defaults.max_concurrent >= 8
    assert (config.messages.queue.mode, config.messages.queue.debounce_ms, config.messages.queue.cap) == (
        "collect",
        1000,
        20,
    )
    assert config.session.write_lock.acquire_timeout_ms == 60_000
    assert config.session.maintenance.prune_after == 30 * 86_400_000
    loop = config.tools.loop_detection
    assert (loop.warning_threshold, loop.critical_threshold, loop.global_circuit_breaker_threshold) == (10, 20, 30)


def test_the_configuration_of_the_observed_original_is_valid() -> None:
    config = parse_config(
        {
            "gateway": {
                "mode": "local",
                "port": 1,
                "bind": "loopback",
                "auth": {"mode": "token", "token": "t"},
                "http": {"endpoints": {"chatCompletions": {"enabled": True}}},
            },
            "models": {
                "mode": "merge",
                "providers": {
                    "mock": {
                        "baseUrl": "http://127.0.0.1:1",
                        "apiKey": "k",
                        "api": "openai-completions",
                        "models": [
                            {
                                "id": "mock-model",
                                "name": "Mock",
                                "reasoning": False,
                                "input": ["text"],
                                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
                                "contextWindow": 64000,
                                "maxTokens": 4096,
                            }
                        ],
                    }
                },
            },
            "agents": {"defaults": {"workspace": "/w", "model": {"primary": "mock/mock-model"}}},
        }
    )
    assert config.models.providers["mock"].models[0].context_window == 64000
    assert config.gateway.http.endpoints.chat_completions.enabled


# ---- layers -----------------------------------------------------------------------------------------


def test_flags_win_over_environment_over_file(openclaw_paths: StatePaths) -> None:
    put(openclaw_paths, {"gateway": {"port": 1, "auth": {"token": "file"}}})
    env = {"OPENCLAW_GATEWAY_PORT": "2", "OPENCLAW_GATEWAY_TOKEN": "env"}
    assert load_config(openclaw_paths, environ={}).config.gateway.port == 1
    loaded = load_config(openclaw_paths, environ=env)
    assert loaded.config.gateway.port == 2
    token = loaded.config.gateway.auth.token
    assert token is not None
    assert token.reveal() == "env"
    assert load_config(openclaw_paths, environ=env, overrides={"gateway.port": 3}).config.gateway.port == 3


def test_no_file_means_defaults(openclaw_paths: StatePaths) -> None:
    loaded = load_config(openclaw_paths, environ={})
    assert (loaded.exists, loaded.source_digest, loaded.config) == (False, "", parse_config({}))
    assert not openclaw_paths.config_file.exists()


def test_paths_flag_over_environment_over_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    env = {"OPENCLAW_STATE_DIR": str(tmp_path / "env"), "OPENCLAW_CONFIG_PATH": str(tmp_path / "c.json")}
    assert StatePaths.resolve(environ={}).state_dir == tmp_path / ".openclaw"
    assert StatePaths.resolve(environ=env).state_dir == tmp_path / "env"
    assert StatePaths.resolve(environ=env).config_file == tmp_path / "c.json"
    assert StatePaths.resolve(environ=env, state_dir="~/flag").state_dir == tmp_path / "flag"
    assert StatePaths.resolve(environ=env, profile="work").state_dir == tmp_path / ".openclaw-work"
    assert StatePaths.resolve(environ={}).workspace == tmp_path / ".openclaw" / "workspace"
    with pytest.raises(InvalidRequest):
        StatePaths.resolve(profile="../x")


def test_the_state_directory_is_private(tmp_path: Path) -> None:
    paths = StatePaths.resolve(state_dir=tmp_path / "a" / "b")
    paths.ensure()
    assert paths.state_dir.stat().st_mode & 0o777 == 0o700


# ---- errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "path", "said"),
    [
        ({"gateway": {"prt": 1}}, "gateway.prt", "did you mean gateway.port?"),
        ({"agents": {"foo": {}}}, "agents.foo", "not a known setting"),
        ({"gatway": {}}, "gatway", "did you mean gateway?"),
        (
            {"agents": {"list": [{"id": "a"}, {"id": "b", "modle": "x"}]}},
            "agents.list[1].modle",
            "agents.list[1].model",
        ),
        ({"agents": {"entries": {"a": {"modle": "x"}}}}, "agents.entries.a.modle", "agents.entries.a.model"),
        ({"models": {"providers": {"p": {"baseurl": "x"}}}}, "models.providers.p.baseurl", "baseUrl"),
        ({"models": {"providers": {"p q": {"apikey": "x"}}}}, 'models.providers["p q"].apikey', "apiKey"),
        ({"agents": {"defaults": {"max_concurrent": 3}}}, "agents.defaults.max_concurrent", "maxConcurrent"),
        ({"gateway": {"port": "x"}}, "gateway.port", "integer"),
        ({"gateway": {"port": 70000}}, "gateway.port", "65535"),
        ({"gateway": 5}, "gateway", "should be"),
        ({"session": {"dmScope": "x"}}, "session.dmScope", "per-peer"),
        ({"models": {"providers": {"p": {"models": [{}]}}}}, "models.providers.p.models[0].id", "required"),
        ({"tools": {"allow": ["a"], "alsoAllow": ["b"]}}, "tools", "alsoAllow"),
        ({"agents": {"list": [{"id": "a"}, {"id": "a"}]}}, "agents", "twice"),
    ],
)
def test_an_error_names_the_key_and_what_is_wrong(data: Any, path: str, said: str) -> None:
    with pytest.raises(ConfigValueError) as caught:
        parse_config(data)
    assert caught.value.path == path
    assert path in caught.value.message
    assert said in caught.value.message
    assert caught.value.hint


def test_an_error_never_shows_a_value() -> None:
    with pytest.raises(ConfigValueError) as caught:
        parse_config({"gateway": {"auth": {"token": ["hunter2hunter2"]}, "port": "hunter2hunter2"}})
    assert "hunter2" not in json.dumps(caught.value.as_dict())


def test_all_problems_are_listed() -> None:
    with pytest.raises(ConfigValueError) as caught:
        parse_config({"gateway": {"port": "x", "prt": 1}, "bogus": 1})
    assert len(caught.value.problems) == 3
    assert "(and 2 more)" in caught.value.message


# ---- agents -----------------------------------------------------------------------------------------


def test_both_spellings_of_agents_are_one_map() -> None:
    config = parse_config({"agents": {"list": [{"id": "a"}], "entries": {"b": {"default": True, "model": "p/m"}}}})
    agents = config.agents.by_id()
    assert set(agents) == {"a", "b"}
    model = agents["b"].model
    assert model is not None
    assert (model.primary, model.fallbacks) == ("p/m", [])
    assert config.agents.default_id() == "b"


@pytest.mark.parametrize(
    ("agents", "default"),
    [({}, "main"), ({"list": [{"id": "x"}]}, "x"), ({"list": [{"id": "x"}, {"id": "main"}]}, "main")],
)
def test_the_default_agent(agents: Any, default: str) -> None:
    assert parse_config({"agents": agents}).agents.default_id() == default


# ---- what the original has and we do not ------------------------------------------------------------


def test_keys_of_the_original_warn_and_do_not_stop(openclaw_paths: StatePaths) -> None:
    put(
        openclaw_paths,
        {
            "cron": {"enabled": True},
            "meta": {"lastTouchedVersion": "x"},
            "agents": {"defaults": {"heartbeat": {"every": "30m"}}, "list": [{"id": "main", "sandbox": {}}]},
            "gateway": {"tls": {"enabled": False}},
        },
    )
    loaded = load_config(openclaw_paths, environ={})
    assert {w.path for w in loaded.warnings} == {
        "cron",
        "agents.defaults.heartbeat",
        "agents.list[0].sandbox",
        "gateway.tls",
    }


def test_nothing_of_the_model_is_in_the_table_of_unsupported_keys() -> None:
    known = set(json_schema()["properties"])
    for path in UNSUPPORTED:
        if "." not in path and path != "$schema":
            assert path not in known


def test_dropping_leaves_the_original_tree_alone() -> None:
    tree = {"agents": {"list": [{"id": "a", "heartbeat": {}}]}, "gateway": {"tls": {}, "port": 1}}
    before = json.dumps(tree)
    dropped, found = drop_unsupported(tree)
    assert json.dumps(tree) == before
    assert dropped == {"agents": {"list": [{"id": "a"}]}, "gateway": {"port": 1}}
    assert len(found) == 2


def test_a_channel_is_kept_as_written() -> None:
    config = parse_config({"channels": {"irc": {"anything": [1]}, "px": 5, "off": {"enabled": False}}})
    assert config.channels.configured() == {"irc": {"anything": [1]}, "px": 5, "off": {"enabled": False}}
    assert set(config.channels.active()) == {"irc", "px"}


# ---- secrets ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "written",
    ["env:KEY", {"source": "env", "id": "KEY"}, {"source": "env", "provider": "default", "id": "KEY"}, "file:key.txt"],
)
def test_secrets_come_from_the_environment_or_a_file(openclaw_paths: StatePaths, written: Any) -> None:
    (openclaw_paths.state_dir / "key.txt").write_text("value-of-the-key\n")
    put(openclaw_paths, {"models": {"providers": {"p": {"apiKey": written}}}})
    loaded = load_config(openclaw_paths, environ={"KEY": "value-of-the-key"})
    key = loaded.config.models.providers["p"].api_key
    assert key is not None
    assert key
    assert key.reveal() == "value-of-the-key"
    assert "value-of-the-key" not in repr(loaded) + str(key) + f"{key}" + json.dumps(plain(loaded.config))
    assert "value-of-the-key" not in redact("it says value-of-the-key here")


@pytest.mark.parametrize("written", ["env:NOPE", "file:nope.txt"])
def test_a_missing_source_matters_only_to_who_uses_it(openclaw_paths: StatePaths, written: str) -> None:
    put(openclaw_paths, {"models": {"providers": {"p": {"apiKey": written}}}})
    key = load_config(openclaw_paths, environ={}).config.models.providers["p"].api_key
    assert key is not None
    assert not key
    with pytest.raises(ConfigValueError):
        key.reveal()


@pytest.mark.parametrize("value", [5, ["x"], {"source": "exec", "id": "x"}, {"id": "x", "more": 1}])
def test_other_forms_of_a_secret_are_refused(value: Any) -> None:
    with pytest.raises(ConfigValueError, match=r"gateway\.auth\.token"):
        parse_config({"gateway": {"auth": {"token": value}}})


def test_a_url_is_a_literal_secret() -> None:
    assert Secret("x") != Secret("y")
    config = parse_config({"gateway": {"auth": {"token": "file://x"}}})
    assert config.gateway.auth.token == Secret("file://x")


def test_hiding_goes_by_the_name_of_the_key() -> None:
    shown = redacted(
        {
            "channels": {"irc": {"botToken": "a", "password": "b", "nick": "n", "accounts": {"x": {"apiKey": "c"}}}},
            "maxTokens": 5,
            "reserveTokensFloor": 7,
            "token": "",
            "secretRefs": "kept",
            "headers": {"X-Anything": "d"},
            "clientSecret": {"source": "env", "id": "X"},
        }
    )
    irc = shown["channels"]["irc"]
    assert (irc["botToken"], irc["password"], irc["nick"], irc["accounts"]["x"]["apiKey"]) == ("***", "***", "n", "***")
    assert (shown["maxTokens"], shown["reserveTokensFloor"], shown["token"]) == (5, 7, "")
    assert shown["headers"] == {"X-Anything": "***"}
    assert "X" not in shown["clientSecret"].values()


# ---- units and schema -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ms"),
    [("30s", 30_000), ("1h30m", 5_400_000), ("7d", 604_800_000), ("250ms", 250), ("1.5m", 90_000), (5, 5)],
)
def test_durations(text: Any, ms: int) -> None:
    assert parse_duration_ms(text) == ms


@pytest.mark.parametrize("text", ["", "x", "5 parsecs", "-3s", "3s x"])
def test_bad_durations(text: str) -> None:
    with pytest.raises(ValueError):
        parse_duration_ms(text)


def test_sizes() -> None:
    assert (parse_size("2mb"), parse_size("512 KB"), parse_size(7)) == (2_097_152, 524_288, 7)


def test_the_schema_describes_the_file() -> None:
    schema = json_schema()
    assert schema["additionalProperties"] is False
    assert "maxConcurrent" in schema["$defs"]["AgentDefaults"]["properties"]
    assert json.loads(json.dumps(schema)) == schema

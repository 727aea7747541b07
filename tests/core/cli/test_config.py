"""`openclaw config` and the files people really have."""

from __future__ import annotations

import json
from typing import Any

import pytest

HAND_MADE = (
    b"\xef\xbb\xbf{\r\n  // note\r\n  /* b */\r\n"
    b"  'models': {providers: {p: {baseUrl: \"https://h.example//x/*y*/\", apiKey: '$${NOT}', timeoutSeconds: 1e3,},},},\r\n"
    b'  gateway: {auth: {token: "${GW_TOK}"}, port: 18789,}, // tail\r\n  agents: {$include: "agents.json5"},\r\n}\r\n'
)


@pytest.mark.parametrize("environ", [{}, {"GW_TOK": "the-token-itself"}])
def test_a_hand_made_file(cli: Any, environ: dict[str, str]) -> None:
    cli.config.write_bytes(HAND_MADE)
    (cli.state / "agents.json5").write_text("{defaults: {workspace: 'w'}}")
    url = cli("config", "get", "models.providers.p.baseUrl", **environ)
    assert url.out == "https://h.example//x/*y*/\n"
    assert cli("config", "validate", **environ).status == (0 if environ else 1)
    assert cli.config.read_bytes() == HAND_MADE
    assert cli("config", "set", "gateway.port", "18999", **environ).out == "gateway.port is set.\n"
    expected = HAND_MADE.replace(b"18789", b"18999")
    assert cli.config.read_bytes() == expected
    assert "already" in cli("config", "set", "gateway.port", "18999", **environ).out
    for arguments in (["get", "gateway"], ["file"], ["schema"], ["validate"]):
        result = cli("config", *arguments, **environ)
        assert "the-token-itself" not in result.out + result.err
    assert cli.config.read_bytes() == expected
    assert sorted(p.name for p in cli.state.iterdir()) == ["agents.json5", "openclaw.json"]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("5", 5),
        ("true", True),
        ("null", None),
        ("'x'", "x"),
        ("{a: [1,]}", {"a": [1]}),
        ("plain text", "plain text"),
        ("a:b", "a:b"),
    ],
)
def test_values_are_json5_or_text(cli: Any, written: str, value: Any) -> None:
    cli("config", "set", "agents.defaults.params.x", written)
    assert json.loads(cli.config.read_text())["agents"]["defaults"]["params"]["x"] == value


def test_strict_json_refuses_text(cli: Any) -> None:
    assert cli("config", "set", "gateway.bind", "lan", "--strict-json").status == 1
    assert not cli.config.exists()
    assert cli("config", "set", "gateway.bind", '"lan"', "--strict-json").status == 0


def test_get_falls_back_to_the_default(cli: Any) -> None:
    assert cli("config", "get", "gateway.port").out == "18789\n"
    assert cli("config", "get", "agents.defaults.compaction.reserveTokens", "--json").json == 16384
    result = cli("config", "get", "gateway.prot", "--json")
    assert (result.status, result.json["error"]["code"]) == (1, "not_found")


def test_secrets_are_hidden(cli: Any) -> None:
    cli.config.write_text('{gateway: {auth: {token: "tok-12345678"}}, channels: {irc: {password: "pw-12345678"}}}')
    for path in ("gateway", "gateway.auth.token", "channels", "channels.irc.password"):
        result = cli("config", "get", path)
        assert "12345678" not in result.out
        assert "***" in result.out


BAD = {
    "unknown key": ("{agents: {foo: 1}}", "agents.foo"),
    "wrong type": ('{gateway: {port: "x"}}', "gateway.port"),
    "syntax": ("{\n\n\n\n\n\n  gateway: {port 1}}", "line 7"),
    "empty": ("", "empty"),
    "list": ("[]", "a list"),
}


@pytest.mark.parametrize("name", BAD)
def test_an_invalid_file_is_named_and_never_touched(cli: Any, name: str) -> None:
    text, said = BAD[name]
    cli.config.write_text(text)
    for arguments in (
        ["config", "validate"],
        ["config", "get", "gateway.port"],
        ["config", "set", "gateway.port", "1"],
        ["config", "unset", "gateway.port"],
        ["doctor"],
    ):
        result = cli(*arguments)
        assert result.status == 1, arguments
        assert said in result.out + result.err
        assert cli.config.read_text() == text
    assert cli("plugins", "list").status == 0
    assert cli("plugins", "disable", "files").status == 0
    assert cli("config", "--help").status == 0
    assert cli.config.read_text() == text


def test_all_problems_are_shown(cli: Any) -> None:
    cli.config.write_text("{gateway: {prt: 1, bnd: 2}}")
    err = cli("config", "validate").err
    assert "gateway.prt" in err
    assert "gateway.bnd" in err


def test_warnings_name_keys_of_the_original_and_missing_plugins(cli: Any) -> None:
    cli.config.write_text("{cron: {}, plugins: {allow: ['px'], entries: {px: {}}}, channels: {px: {}}}")
    result = cli("config", "validate", "--json")
    assert result.status == 0
    assert {w["path"] for w in result.json["warnings"]} == {
        "cron",
        "plugins.allow[0]",
        "plugins.entries.px",
        "channels.px",
    }
    assert "cron is ignored" in result.err

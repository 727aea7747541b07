"""`config set` on a person's file: checked, atomic, or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from openclaw_core.config.editor import ConfigEditor
from openclaw_core.config.loader import load_config
from openclaw_core.config.paths import StatePaths
from openclaw_core.errors import ConfigError, ConfigFileError, ConfigValueError, NotFound

PORT = ("gateway", "port")

HAND_MADE = (
    b"\xef\xbb\xbf{\r\n  // note\r\n  /* b */\r\n"
    b"  'models': {providers: {p: {baseUrl: \"https://h.example//x/*y*/\", apiKey: '$${NOT}', timeoutSeconds: 1e3,},},},\r\n"
    b'  gateway: {auth: {token: "${GW_TOK}"}, port: 18789,}, // tail\r\n  agents: {$include: "agents.json5"},\r\n}\r\n'
)


@pytest.fixture
def hand_made(openclaw_paths: StatePaths) -> StatePaths:
    openclaw_paths.config_file.write_bytes(HAND_MADE)
    (openclaw_paths.state_dir / "agents.json5").write_text("{defaults: {workspace: 'x'}} // mine")
    return openclaw_paths


def editor(paths: StatePaths, **environ: str) -> ConfigEditor:
    return ConfigEditor(paths, environ)


def test_only_the_port_differs(hand_made: StatePaths) -> None:
    result = editor(hand_made).set(PORT, 18999)
    assert (result.changed, result.warnings) == (True, ())
    assert hand_made.config_file.read_bytes() == HAND_MADE.replace(b"18789", b"18999")
    assert not list(hand_made.state_dir.glob("*.bak"))
    config = load_config(hand_made, environ={"GW_TOK": "from-the-environment"}).config
    provider = config.models.providers["p"]
    assert provider.base_url == "https://h.example//x/*y*/"
    assert provider.api_key is not None
    assert provider.api_key.reveal() == "${NOT}"
    assert b"from-the-environment" not in hand_made.config_file.read_bytes()


@pytest.mark.parametrize(
    ("place", "value"), [(PORT, 18789), (PORT, 18789.0), (("agents", "defaults", "workspace"), "x")]
)
def test_an_equal_value_changes_no_byte(hand_made: StatePaths, place: Any, value: Any) -> None:
    before = hand_made.config_file.stat()
    assert not editor(hand_made).set(place, value).changed
    after = hand_made.config_file.stat()
    assert hand_made.config_file.read_bytes() == HAND_MADE
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_true_is_not_one(openclaw_paths: StatePaths) -> None:
    openclaw_paths.config_file.write_text('{"agents": {"defaults": {"params": {"x": 1}}}}')
    assert editor(openclaw_paths).set(("agents", "defaults", "params", "x"), True).changed


def test_a_sibling_overrides_an_included_value(hand_made: StatePaths) -> None:
    assert editor(hand_made).set(("agents", "defaults", "workspace"), "y").changed
    loaded = load_config(hand_made, environ={"GW_TOK": "x"})
    assert loaded.config.agents.defaults.workspace == "y"
    assert (hand_made.state_dir / "agents.json5").read_text() == "{defaults: {workspace: 'x'}} // mine"


def test_the_first_setting_makes_a_private_file(tmp_path: Path) -> None:
    paths = StatePaths.resolve(state_dir=tmp_path / "new" / "state", environ={})
    assert editor(paths).set(PORT, 1).changed
    assert json.loads(paths.config_file.read_text()) == {"gateway": {"port": 1}}
    assert paths.config_file.stat().st_mode & 0o777 == 0o600
    assert paths.state_dir.stat().st_mode & 0o777 == 0o700


def test_mode_and_link_are_kept(openclaw_paths: StatePaths, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "openclaw.json"
    real.parent.mkdir()
    real.write_text("{}")
    real.chmod(0o640)
    openclaw_paths.config_file.symlink_to(real)
    editor(openclaw_paths).set(PORT, 5)
    assert openclaw_paths.config_file.is_symlink()
    assert json.loads(real.read_text()) == {"gateway": {"port": 5}}
    assert real.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"a": 1,\n\n\n\n\n\n oops',
        b'{"agents": {"foo": 1}}',
        b'{"gateway": {"port": "x"}}',
        b"\xff",
        b"null",
    ],
)
def test_an_invalid_file_is_refused_and_untouched(openclaw_paths: StatePaths, content: bytes) -> None:
    openclaw_paths.config_file.write_bytes(content)
    for change in (lambda e: e.set(PORT, 1), lambda e: e.unset(PORT)):
        with pytest.raises(ConfigError):
            change(editor(openclaw_paths))
    assert openclaw_paths.config_file.read_bytes() == content
    assert os.listdir(openclaw_paths.state_dir) == ["openclaw.json"]


@pytest.mark.parametrize(("place", "value"), [(PORT, "x"), (("gateway", "prt"), 1), (("gateway", "port", "x"), 1)])
def test_a_result_that_would_be_invalid_is_not_written(hand_made: StatePaths, place: Any, value: Any) -> None:
    with pytest.raises(ConfigValueError):
        editor(hand_made).set(place, value)
    assert hand_made.config_file.read_bytes() == HAND_MADE


def test_removing(hand_made: StatePaths) -> None:
    assert editor(hand_made).unset(PORT).changed
    assert hand_made.config_file.read_bytes() == HAND_MADE.replace(b" port: 18789,", b" ")
    with pytest.raises(NotFound):
        editor(hand_made).unset(PORT)
    with pytest.raises(NotFound):
        editor(hand_made).unset(("agents", "defaults", "workspace"))


def test_a_reference_to_a_missing_variable_is_not_in_the_way(openclaw_paths: StatePaths) -> None:
    openclaw_paths.config_file.write_text('{"gateway": {"port": "${PORT}"}, "logging": {"level": "info"}}')
    editor(openclaw_paths).set(("logging", "level"), "debug")
    assert '"${PORT}"' in openclaw_paths.config_file.read_text()
    with pytest.raises(ConfigValueError):
        editor(openclaw_paths, PORT="abc").set(("logging", "level"), "info")


def test_what_cannot_be_changed_in_place_is_backed_up(openclaw_paths: StatePaths) -> None:
    # Two equal keys on the way: the text has no single place to remove, the data has.
    old = b"{gateway: {port: 1}, /* c */ gateway: {port: 2, port: 3}}"
    openclaw_paths.config_file.write_bytes(old)
    result = editor(openclaw_paths).unset(("gateway", "port"))
    data = load_config(openclaw_paths, environ={})
    assert data.config.gateway.port == 18789
    if result.warnings:
        assert openclaw_paths.config_file.with_name("openclaw.json.bak").read_bytes() == old


def test_a_file_that_cannot_be_replaced_stays_whole(openclaw_paths: StatePaths) -> None:
    # The temporary file beside it cannot be made: its name would be too long. Holds for root too.
    paths = StatePaths.resolve(
        environ={"OPENCLAW_CONFIG_PATH": str(openclaw_paths.state_dir / ("c" * 250)), "OPENCLAW_STATE_DIR": "/nowhere"}
    )
    paths.config_file.write_text("{}")
    with pytest.raises(ConfigFileError, match="it is unchanged"):
        editor(paths).set(PORT, 1)
    assert paths.config_file.read_text() == "{}"
    assert len(os.listdir(openclaw_paths.state_dir)) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere; run the tests as a user for this one")
def test_a_read_only_folder_is_a_clear_error(hand_made: StatePaths) -> None:
    hand_made.state_dir.chmod(0o500)
    try:
        with pytest.raises(ConfigFileError, match="cannot be written"):
            editor(hand_made).set(PORT, 1)
    finally:
        hand_made.state_dir.chmod(0o700)
    assert hand_made.config_file.read_bytes() == HAND_MADE

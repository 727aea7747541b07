"""Which plugins are on: configuration, consent, environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from openclaw_core.plugins.catalog import Catalog, Installed
from openclaw_core.plugins.policy import PluginPolicy
from openclaw_core.plugins.records import Consent, Failure, PluginRecords
from openclaw_core.plugins.references import stale_references


def plugin(name: str = "px", kind: str = "tools", *, bundled: bool = False, version: str = "1.0") -> Installed:
    return Installed(
        kind=kind, id=name, value=f"{name}.plugin", distribution=f"dist-{name}", version=version, bundled=bundled
    )


@pytest.fixture
def records(tmp_path: Path) -> PluginRecords:
    return PluginRecords(tmp_path / "plugins")


def state(item: Installed, records: PluginRecords, raw: Any = None, **environ: str) -> str:
    return PluginPolicy(raw or {}, records, environ).decide(item).state


def consent(version: str = "1.0", distribution: str = "dist-px") -> Consent:
    return Consent(distribution=distribution, version=version, digest="")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({}, "available"),
        ({"plugins": {"entries": {"px": {"enabled": True}}}}, "active"),
        ({"plugins": {"entries": {"px": {"config": {}}}}}, "available"),
        ({"plugins": {"allow": ["px"]}}, "active"),
        ({"plugins": {"allow": ["tools:px"]}}, "active"),
        ({"plugins": {"allow": ["other"]}}, "disabled"),
        ({"plugins": {"allow": ["px"], "deny": ["px"]}}, "disabled"),
        ({"plugins": {"entries": {"px": {"enabled": True}}, "deny": ["px"]}}, "disabled"),
        ({"plugins": {"entries": {"px": {"enabled": False}}}}, "disabled"),
        ({"plugins": {"enabled": False, "entries": {"px": {"enabled": True}}}}, "disabled"),
    ],
)
def test_a_stranger_needs_consent(records: PluginRecords, raw: Any, expected: str) -> None:
    assert state(plugin(), records, raw) == expected


def test_consent_by_command(records: PluginRecords) -> None:
    records.enable("tools:px", consent())
    assert state(plugin(), records) == "active"
    assert state(plugin(), records, {"plugins": {"deny": ["px"]}}) == "disabled"
    assert state(plugin(), records, {"plugins": {"allow": ["other"]}}) == "disabled"
    assert state(plugin(), records, OPENCLAW_DISABLE="px,other") == "disabled"
    assert state(plugin(), records, OPENCLAW_PLUGINS="other") == "disabled"
    assert state(plugin(), records, OPENCLAW_PLUGINS="px") == "active"
    records.disable("tools:px", at=1)
    assert state(plugin(), records) == "disabled"
    assert state(plugin(), PluginRecords(records.folder)) == "disabled"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({}, "active"),
        ({"plugins": {"enabled": False}}, "active"),
        ({"plugins": {"allow": ["other"]}}, "active"),
        ({"plugins": {"deny": ["px"]}}, "disabled"),
        ({"plugins": {"entries": {"px": {"enabled": False}}}}, "disabled"),
    ],
)
def test_a_bundled_plugin_is_on_unless_switched_off(records: PluginRecords, raw: Any, expected: str) -> None:
    assert state(plugin(bundled=True), records, raw) == expected


def test_the_file_has_the_last_word_over_the_command(records: PluginRecords) -> None:
    records.disable("tools:px", at=1)
    assert state(plugin(bundled=True), records) == "disabled"
    assert state(plugin(bundled=True), records, {"plugins": {"entries": {"px": {"enabled": True}}}}) == "active"


@pytest.mark.parametrize(
    ("channels", "expected"),
    [({}, "available"), ({"px": {}}, "active"), ({"px": {"enabled": False}}, "available"), ({"px": 5}, "active")],
)
def test_a_channel_is_on_when_it_is_configured(records: PluginRecords, channels: Any, expected: str) -> None:
    assert state(plugin(kind="channel", bundled=True), records, {"channels": channels}) == expected


def test_one_store_is_used(records: PluginRecords) -> None:
    sqlite, other = plugin("sqlite", "store", bundled=True), plugin("other", "store", bundled=True)
    assert (state(sqlite, records), state(other, records)) == ("active", "available")
    raw = {"plugins": {"slots": {"store": "other"}}}
    assert (state(sqlite, records, raw), state(other, records, raw)) == ("available", "active")


@pytest.mark.parametrize(
    "raw", [{"plugins": 5}, {"plugins": {"allow": 1, "deny": {}, "entries": []}}, {"channels": []}]
)
def test_a_broken_configuration_is_read_as_far_as_it_goes(records: PluginRecords, raw: Any) -> None:
    assert state(plugin(bundled=True), records, raw) == "active"


@pytest.mark.parametrize(
    ("seen", "said"),
    [(consent("0.9"), "0.9 to 1.0"), (consent(distribution="was-other"), "was-other"), (consent(), "")],
)
def test_drift_is_said(records: PluginRecords, seen: Consent, said: str) -> None:
    records.enable("tools:px", seen)
    decision = PluginPolicy({}, records, {}).decide(plugin())
    assert decision.state == "active"
    assert said in decision.reason
    assert decision.drift == bool(said)


def test_a_failure_counts_for_its_version_only(records: PluginRecords) -> None:
    records.note_failure("tools:px", Failure(distribution="dist-px", version="1.0", reason="boom"))
    again = PluginRecords(records.folder)
    found = again.failure("tools:px", distribution="dist-px", version="1.0")
    assert found is not None
    assert found.reason == "boom"
    assert again.failure("tools:px", distribution="dist-px", version="1.1") is None
    again.clear_failure("tools:px")
    assert PluginRecords(records.folder).failure("tools:px", distribution="dist-px", version="1.0") is None
    assert (records.folder / "errors.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"enabled": [], "errors": 5}', '{"errors": {"tools:px": {"x": 1}}}']
)
def test_damaged_records_count_as_empty(tmp_path: Path, content: str) -> None:
    for name in ("enabled.json", "errors.json"):
        (tmp_path / name).write_text(content)
    records = PluginRecords(tmp_path)
    assert records.consent("tools:px") is None
    assert records.failure("tools:px", distribution="", version="") is None


def test_names_that_nothing_answers_to_are_named() -> None:
    catalog = Catalog(plugins=(plugin("irc", "channel", bundled=True), plugin("sqlite", "store", bundled=True)))
    raw = {
        "plugins": {
            "allow": ["irc", "px"],
            "deny": ["py"],
            "entries": {"px": {}, "irc": {}},
            "slots": {"memory": "px", "store": "sqlit", "x": "none"},
        },
        "channels": {"irc": {}, "px": {}, "sqlite": {}, "defaults": {}, "modelByChannel": {}},
    }
    found = dict(stale_references(raw, catalog))
    assert set(found) == {
        "plugins.allow[1]",
        "plugins.deny[0]",
        "plugins.entries.px",
        "plugins.slots.store",
        "channels.px",
        "channels.sqlite",
    }
    assert "did you mean sqlite?" in found["plugins.slots.store"]

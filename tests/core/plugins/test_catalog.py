"""Discovery: what is installed, who owns an id, what broken metadata costs."""

from __future__ import annotations

import subprocess
import sys

from openclaw_core.plugins.catalog import Catalog, bundled_distributions, normalize, scan
from openclaw_core.testing.plugin_env import PluginEnv

TOOLS = "openclaw.tools"


def scan_only(env: PluginEnv, *ours: str) -> Catalog:
    return scan(path=[str(env.folder)], bundled=frozenset(ours))


def test_every_kind_is_found(plugin_env: PluginEnv) -> None:
    groups = {
        "openclaw.channels": "channel",
        "openclaw.providers": "provider",
        "openclaw.tools": "tools",
        "openclaw.skills": "skills",
        "openclaw.runtimes": "runtime",
        "openclaw.stores": "store",
        "openclaw.audit_sinks": "audit_sink",
        "openclaw.extensions": "extension",
    }
    plugin_env.add("good", entry_points={group: {"x": "good.plugin"} for group in groups})
    plugin_env.add("other", entry_points={"console_scripts": {"x": "other:main"}})
    found = scan_only(plugin_env)
    assert {p.kind for p in found.plugins} == set(groups.values())
    assert {(p.id, p.distribution, p.version, p.bundled) for p in found.plugins} == {("x", "good", "1.0", False)}


def test_nothing_is_imported(plugin_env: PluginEnv) -> None:
    plugin_env.add("bomb", entry_points={TOOLS: {"x": "bomb.plugin"}}, modules={"bomb.plugin": "raise SystemExit(3)"})
    assert scan_only(plugin_env).get("tools", "x") is not None
    assert "bomb" not in sys.modules


def test_a_duplicate_is_one_row_that_names_both(plugin_env: PluginEnv) -> None:
    for name in ("zeta", "Alpha", "mid"):
        plugin_env.add(name, entry_points={TOOLS: {"x": f"{name}.plugin"}})
    (found,) = scan_only(plugin_env).plugins
    assert (found.distribution, found.others) == ("Alpha", ("mid", "zeta"))


def test_a_stranger_never_replaces_a_bundled_plugin(plugin_env: PluginEnv) -> None:
    plugin_env.add("aaa", entry_points={TOOLS: {"files": "aaa.plugin"}})
    plugin_env.add("openclaw-tools-files", entry_points={TOOLS: {"files": "ours.plugin"}})
    (found,) = scan_only(plugin_env, "openclaw-tools-files").plugins
    assert (found.distribution, found.bundled, found.others) == ("openclaw-tools-files", True, ("aaa",))


def test_broken_metadata_costs_only_its_distribution(plugin_env: PluginEnv) -> None:
    plugin_env.add("noversion", entry_points={TOOLS: {"nv": "noversion.plugin"}}, version=None)
    plugin_env.add("noname", entry_points={TOOLS: {"nn": "noname.plugin"}}, named=False)
    plugin_env.add("binary", entry_points={TOOLS: {"b": "b"}})
    next(plugin_env.folder.glob("binary-*/")).joinpath("entry_points.txt").write_bytes(b"[openclaw.tools]\nx = \xff\n")
    plugin_env.add("nometa", entry_points={TOOLS: {"nm": "nometa.plugin"}})
    next(plugin_env.folder.glob("nometa-*/")).joinpath("METADATA").unlink()
    plugin_env.add("syntax", entry_points={TOOLS: {"s": "s"}})
    next(plugin_env.folder.glob("syntax-*/")).joinpath("entry_points.txt").write_text("[openclaw.tools\nnonsense")
    plugin_env.add("good", entry_points={TOOLS: {"good": "good.plugin"}})
    found = scan_only(plugin_env)
    rows = {p.id: (p.distribution, p.version) for p in found.plugins}
    assert rows["good"] == ("good", "1.0")
    assert rows["nv"] == ("noversion", "")
    assert rows["nn"][0] == "noname"
    assert rows["nm"][0] == "nometa"
    assert any("noversion" in problem for problem in found.problems)


def test_the_first_distribution_of_a_name_on_the_path_counts(plugin_env: PluginEnv) -> None:
    second = PluginEnv(plugin_env.folder.parent / "second")
    plugin_env.add("same", entry_points={TOOLS: {"x": "one.plugin"}}, version="1")
    second.add("same", entry_points={TOOLS: {"x": "two.plugin"}}, version="2")
    (found,) = scan(path=[str(plugin_env.folder), str(second.folder)]).plugins
    assert (found.version, found.others) == ("1", ())


def test_distributions_on_pythonpath_are_found(plugin_env: PluginEnv) -> None:
    plugin_env.add("stranger", entry_points={TOOLS: {"stranger": "stranger.plugin"}})
    code = "from openclaw_core.plugins.catalog import scan; print(scan().get('tools', 'stranger').distribution)"
    result = subprocess.run(
        [sys.executable, "-c", code], env=plugin_env.environ(), capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout.strip() == "stranger"


def test_bundled_names_are_normal_spellings() -> None:
    names = bundled_distributions()
    assert "openclaw-store-sqlite" in names
    assert all(name == normalize(name) for name in names)

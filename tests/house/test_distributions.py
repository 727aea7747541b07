"""Rules that every distribution of this repository keeps."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = sorted(p.parent for p in ROOT.glob("plugins/*/pyproject.toml"))
KINDS = [
    "channel",
    "provider",
    "tools",
    "runtime",
    "store",
    "audit",
    "lib",
    "extension",
    "skills",
    "metrics",
    "memory",
    "all",
]
GROUPS = ["channels", "providers", "tools", "skills", "runtimes", "audit_sinks", "stores", "extensions"]


def project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_names_bounds_and_files(folder: Path) -> None:
    data = project(folder)
    table = data["project"]
    package = folder.name.replace("-", "_")
    assert table["name"] == folder.name
    assert re.fullmatch(rf"openclaw-({'|'.join(KINDS)})(-[a-z0-9-]+)?", folder.name)
    assert (folder / "src" / package / "__init__.py").is_file()
    assert (folder / "src" / package / "py.typed").is_file()
    assert not (folder / "src" / "__init__.py").exists()
    assert len((folder / "README.md").read_text()) > 60
    assert table["license"] == "MIT"
    assert table["requires-python"] == ">=3.11"
    assert "openclaw-core>=0.1,<0.2" in table["dependencies"]
    assert "test" in data["dependency-groups"]
    for group, entries in table.get("entry-points", {}).items():
        assert group.removeprefix("openclaw.") in GROUPS
        assert set(entries.values()) == {f"{package}.plugin"}


@pytest.mark.parametrize("folder", [f for f in FOLDERS if f.name != "openclaw-all"], ids=lambda f: f.name)
def test_no_sibling_is_needed_but_libraries(folder: Path) -> None:
    for requirement in project(folder)["project"]["dependencies"]:
        name = re.split(r"[<>=\[ ;]", requirement)[0]
        assert not name.startswith("openclaw-") or name == "openclaw-core" or name.startswith("openclaw-lib-")
        assert name != "openclaw", "that distribution belongs to somebody else"
        assert "<" in requirement or name.startswith("openclaw-lib-"), f"{requirement}: cap the major version"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_plugin_py_is_light(folder: Path) -> None:
    file = folder / "src" / folder.name.replace("-", "_") / "plugin.py"
    if not file.exists():
        assert folder.name == "openclaw-all" or folder.name.startswith("openclaw-lib-")
        return
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and not _type_checking_only(file, node):
            first = node.module.split(".")[0]
            assert node.module == "openclaw_core.plugin" or first in sys.stdlib_module_names, node.module
        if isinstance(node, ast.Import):
            assert all(alias.name.split(".")[0] in sys.stdlib_module_names for alias in node.names)


def _type_checking_only(file: Path, wanted: ast.ImportFrom) -> bool:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return any(getattr(child, "lineno", 0) == wanted.lineno for child in ast.walk(node))
    return False


def test_generated_lists_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, "tools/sync_plugins.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_no_requirement_file_names_an_address() -> None:
    for file in [*ROOT.glob("requirements/*"), *ROOT.glob("**/pyproject.toml")]:
        if ".venv" in file.parts or "node_modules" in file.parts:
            continue
        text = file.read_text()
        assert "://" not in text.replace("http://127.0.0.1", ""), file
        assert "--index" not in text, file


def test_core_dependencies_are_the_agreed_ones() -> None:
    wanted = "pluggy stevedore importlib-metadata click pydantic httpx pyjson5 json-five PyYAML rich starlette uvicorn websockets"
    found = [re.split(r"[<>=\[ ;]", r)[0] for r in project(ROOT)["project"]["dependencies"]]
    assert sorted(found) == sorted(wanted.split())


SOURCES = [*ROOT.glob("openclaw_core/**/*.py"), *ROOT.glob("plugins/*/src/**/*.py")]


@pytest.mark.parametrize("file", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_stay_small_and_tasks_have_owners(file: Path) -> None:
    text = file.read_text()
    assert text.count("\n") <= 400, "split it: one noun a file"
    if not {"aio", "testing"} & set(file.parts):
        assert not re.search(r"\basyncio\.(create_task|ensure_future|gather)\(|\.create_task\(", text)
    assert not re.search(r"#\s*type:\s*ignore(\[[^\]]*\])?\s*$", text, re.MULTILINE), "say why"
    assert not re.search(r"#\s*noqa(:\s*[A-Z0-9, ]+)?\s*$", text, re.MULTILINE), "say why"
    assert file.stem not in ("utils", "helpers", "common", "misc")

"""Write the lists that follow from the folders: requirements, the meta distribution, the plugin page, the import contracts.

`python tools/sync_plugins.py` writes them, `--check` fails when one of them is out of date.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
META = "openclaw-all"
DEV_TOOLS = (
    "uv",
    "pytest>=8.4",
    "pytest-asyncio>=1.1",
    "pytest-timeout>=2.3",
    "pytest-xdist>=3.6",
    "hypothesis>=6.130",
    "mypy>=1.15",
    "ruff>=0.11",
    "import-linter>=2.2",
    "types-PyYAML",
    "pre-commit>=4",
)


def projects() -> list[tuple[str, dict[str, object]]]:
    """(folder, [project] table) of every distribution besides core, by folder name."""
    out: list[tuple[str, dict[str, object]]] = []
    for file in sorted(ROOT.glob("plugins/*/pyproject.toml")):
        out.append((f"plugins/{file.parent.name}", tomllib.loads(file.read_text())["project"]))
    skills = ROOT / "skills" / "pyproject.toml"
    if skills.exists():
        out.append(("skills", tomllib.loads(skills.read_text())["project"]))
    return out


def dev_in() -> str:
    """requirements/dev.in: everything editable, and the tools."""
    lines = ["# written by tools/sync_plugins.py", "-e ."]
    lines += [f"-e ./{folder}" for folder, _ in projects()]
    return "\n".join([*lines, *DEV_TOOLS]) + "\n"


def bundled() -> str:
    """openclaw_core/plugins/bundled.txt: the distributions this project publishes."""
    names = sorted(str(p["name"]) for _, p in projects() if p["name"] != META)
    return "# written by tools/sync_plugins.py: distributions that this project publishes\n" + "\n".join(names) + "\n"


def directory_page() -> str:
    """docs/reference/plugins.md: one line a distribution."""
    rows = [f"| `{p['name']}` | {p['description']} |" for _, p in projects()]
    head = "# Plugins of this project\n\nWritten by `tools/sync_plugins.py`.\n\n| distribution | what it adds |\n|---|---|\n"
    return head + "\n".join(rows) + "\n"


def meta_pyproject(text: str) -> str:
    """The dependency list of the meta distribution, between its two marker lines."""
    names = sorted(str(p["name"]) for _, p in projects() if p["name"] != META)
    deps = "".join(f'  "{n}>=0.1,<0.2",\n' for n in names)
    head, rest = text.split("  # begin generated\n", 1)
    _, tail = rest.split("  # end generated\n", 1)
    return f"{head}  # begin generated\n{deps}  # end generated\n{tail}"


def import_contracts(text: str) -> str:
    """pyproject.toml of the workspace: the packages in the import-linter lists, between marker lines."""
    packages = sorted(str(p["name"]).replace("-", "_") for folder, p in projects() if folder.startswith("plugins/"))
    lists = {
        "plugin packages": packages,
        "plugin packages without libraries": [p for p in packages if not p.startswith("openclaw_lib_")],
    }

    def fill(match: re.Match[str]) -> str:
        lines = "".join(f'  "{name}",\n' for name in lists[match["what"]])
        return f"  # begin generated: {match['what']}\n{lines}  # end generated\n"

    return re.sub(r"  # begin generated: (?P<what>[a-z ]+)\n(?:  \"\w+\",\n)*  # end generated\n", fill, text)


def main() -> int:
    """Write or check; the number of files that were out of date is the exit status with --check."""
    wanted = {
        ROOT / "requirements" / "dev.in": dev_in(),
        ROOT / "openclaw_core" / "plugins" / "bundled.txt": bundled(),
        ROOT / "docs" / "reference" / "plugins.md": directory_page(),
    }
    workspace = ROOT / "pyproject.toml"
    wanted[workspace] = import_contracts(workspace.read_text())
    meta = ROOT / "plugins" / META / "pyproject.toml"
    if meta.exists():
        wanted[meta] = meta_pyproject(meta.read_text())
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"out of date: {path.relative_to(ROOT)} (run: python tools/sync_plugins.py)", file=sys.stderr)
        return min(len(stale), 1)
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

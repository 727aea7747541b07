"""Distributions made for a test: metadata and modules in a folder on the path, discovered like installed ones."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent


class PluginEnv:
    """A folder that holds distributions. `add` makes one, `active` puts the folder on ``sys.path`` of this
    process, `environ` does it for another process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def add(
        self,
        distribution: str,
        *,
        entry_points: Mapping[str, Mapping[str, str]],
        modules: Mapping[str, str] | None = None,
        version: str | None = "1.0",
        named: bool = True,
    ) -> None:
        """Make a distribution.

        `entry_points`: group to {name: value}. `modules`: dotted module to its source, indentation is
        taken off; packages are made as needed. `version` None and `named` False leave that line out of the
        metadata, as broken distributions do.
        """
        stem = distribution.replace("-", "_")
        info = self.folder / f"{stem}-{version or '0'}.dist-info"
        info.mkdir(exist_ok=True)
        lines = ["Metadata-Version: 2.1"]
        lines += [f"Name: {distribution}"] if named else []
        lines += [f"Version: {version}"] if version is not None else []
        (info / "METADATA").write_text("\n".join([*lines, "", f"{distribution}, made for a test.", ""]))
        groups = (
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
            for group, points in entry_points.items()
        )
        (info / "entry_points.txt").write_text("\n".join(groups))
        for module, source in (modules or {}).items():
            self.write(module, source)

    def write(self, module: str, source: str) -> Path:
        """Write one module; its packages get an empty ``__init__``."""
        *packages, name = module.split(".")
        folder = self.folder
        for package in packages:
            folder = folder / package
            folder.mkdir(exist_ok=True)
            (folder / "__init__.py").touch()
        path = folder / f"{name}.py"
        path.write_text(dedent(source))
        importlib.invalidate_caches()
        return path

    def remove(self, distribution: str) -> None:
        """Take a distribution's metadata away, as uninstalling does."""
        for info in self.folder.glob(f"{distribution.replace('-', '_')}-*.dist-info"):
            for file in info.iterdir():
                file.unlink()
            info.rmdir()
        importlib.invalidate_caches()

    def environ(self, **more: str) -> dict[str, str]:
        """The environment for a process that finds these distributions, through PYTHONPATH."""
        path = os.pathsep.join(part for part in (str(self.folder), os.environ.get("PYTHONPATH", "")) if part)
        return {**os.environ, "PYTHONPATH": path, **more}

    @contextlib.contextmanager
    def active(self) -> Iterator[PluginEnv]:
        """Put the folder on ``sys.path``; afterwards the path and the imported modules are as before."""
        before = set(sys.modules)
        sys.path.insert(0, str(self.folder))
        importlib.invalidate_caches()
        try:
            yield self
        finally:
            sys.path.remove(str(self.folder))
            for name in set(sys.modules) - before:
                file = getattr(sys.modules[name], "__file__", None)
                if file and Path(file).is_relative_to(self.folder):
                    del sys.modules[name]

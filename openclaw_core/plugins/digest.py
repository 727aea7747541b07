"""The digest of an installed distribution, to notice that its code changed after the owner enabled it."""

from __future__ import annotations

from pathlib import Path

from openclaw_core.plugins.catalog import Installed

MAX_FILES = 2000


def content_digest(plugin: Installed) -> str:
    """A digest of what is installed: the RECORD file (which holds the hash of every file), else, for an
    editable or hand-made installation, the files of the plugin's top-level package. Nothing is imported.

    Empty when the files cannot be found.
    """
    import hashlib

    digest = hashlib.sha256()
    record = plugin.dist.read_text("RECORD") if plugin.dist is not None else None
    package = plugin.module.partition(".")[0]
    if record and any(line.startswith((f"{package}/", f"{package}.py,")) for line in record.splitlines()):
        digest.update(record.encode())
        return f"record:{digest.hexdigest()}"
    root = _package_root(plugin, package)
    if root is None:
        return ""
    sources = sorted(root.rglob("*.py"))[:MAX_FILES] if root.is_dir() else [root]
    for source in sources:
        digest.update(str(source.relative_to(root.parent)).encode() + b"\0" + source.read_bytes() + b"\0")
    return f"tree:{digest.hexdigest()}"


def _package_root(plugin: Installed, package: str) -> Path | None:
    import importlib.machinery

    places = [str(plugin.dist.locate_file(""))] if plugin.dist is not None else []
    for search in (places, None):
        # The path finder looks, it does not import; a top-level name needs no parent package.
        spec = importlib.machinery.PathFinder.find_spec(package, search)
        if spec is not None and spec.submodule_search_locations:
            return Path(next(iter(spec.submodule_search_locations)))
        if spec is not None and spec.origin:
            return Path(spec.origin)
    return None

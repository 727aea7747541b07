"""The log file of today: JSON lines that `openclaw trace` reads too."""

from __future__ import annotations

import os
import time
from pathlib import Path

from openclaw_core.cli.state import CliState
from openclaw_core.config.loader import LoadedConfig
from openclaw_core.config.paths import private_dir
from openclaw_core.observe.logging import configure


def log_to_file(state: CliState, loaded: LoadedConfig) -> Path:
    """Write this process's log to the file of today as well; old files go after a week."""
    path = log_path(state.paths.state_dir, loaded)
    private_dir(path.parent)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600))
    configure(level=state.log_level, file=str(path), file_level=_LEVELS.get(loaded.config.logging.level, "info"))
    _drop_old(path.parent)
    return path


_LEVELS = {"silent": "critical", "fatal": "critical", "warn": "warning", "trace": "debug"} | {
    name: name for name in ("error", "warning", "info", "debug")
}
_KEEP_S = 7 * 86_400


def log_path(state_dir: Path, loaded: LoadedConfig) -> Path:
    """``logging.file``, or ``<state>/logs/openclaw-YYYY-MM-DD.log``."""
    configured = loaded.config.logging.file
    if configured:
        return Path(configured).expanduser().absolute()
    return state_dir / "logs" / f"openclaw-{time.strftime('%Y-%m-%d')}.log"


def log_files(state_dir: Path, loaded: LoadedConfig) -> list[Path]:
    """All log files that are still there, oldest first."""
    path = log_path(state_dir, loaded)
    return sorted(path.parent.glob("openclaw-*.log")) if not loaded.config.logging.file else [path]


def _drop_old(folder: Path) -> None:
    limit = time.time() - _KEEP_S
    for old in folder.glob("openclaw-*.log"):
        if old.stat().st_mtime < limit:
            old.unlink(missing_ok=True)

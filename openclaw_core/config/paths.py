"""Where state, configuration and workspace live (behaviour.md 0.2)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from openclaw_core.errors import ConfigFileError, InvalidRequest

CONFIG_NAME = "openclaw.json"
DIR_MODE = 0o700
FILE_MODE = 0o600


@dataclass(frozen=True, slots=True, kw_only=True)
class StatePaths:
    """The places of one installation. Nothing is created until `ensure` is called."""

    state_dir: Path
    config_file: Path
    workspace: Path
    """Workspace of agents that configure none."""

    @classmethod
    def resolve(
        cls,
        *,
        state_dir: str | Path | None = None,
        profile: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> StatePaths:
        """Flags win over the environment, the environment over ``~/.openclaw``.

        `profile` NAME stands for the state directory ``~/.openclaw-NAME``. Reads
        ``OPENCLAW_STATE_DIR``, ``OPENCLAW_CONFIG_PATH`` and ``OPENCLAW_WORKSPACE_DIR``.
        Raises InvalidRequest for a profile name that is not a plain word.
        """
        env = os.environ if environ is None else environ
        if state_dir:
            state = _absolute(state_dir)
        elif profile:
            if not profile.replace("-", "").replace("_", "").isalnum():
                raise InvalidRequest(
                    f"{profile!r} cannot be a profile name.", hint="Use letters, digits, hyphens and underscores."
                )
            state = Path.home() / f".openclaw-{profile}"
        else:
            state = _absolute(env.get("OPENCLAW_STATE_DIR") or Path.home() / ".openclaw")
        config = env.get("OPENCLAW_CONFIG_PATH")
        workspace = env.get("OPENCLAW_WORKSPACE_DIR")
        return cls(
            state_dir=state,
            config_file=_absolute(config) if config else state / CONFIG_NAME,
            workspace=_absolute(workspace) if workspace else state / "workspace",
        )

    def ensure(self) -> None:
        """Create the state directory, readable by its owner only.

        Raises ConfigFileError when it cannot be created or is not a directory.
        """
        private_dir(self.state_dir)

    def agent_dir(self, agent_id: str) -> Path:
        """The folder of one agent."""
        return self.state_dir / "agents" / agent_id

    def sessions_dir(self, agent_id: str) -> Path:
        """The transcripts of one agent."""
        return self.agent_dir(agent_id) / "sessions"

    @property
    def plugins_dir(self) -> Path:
        """What is remembered about plugins: consent and errors."""
        return self.state_dir / "plugins"

    @property
    def last_good(self) -> Path:
        """Copy of the last configuration file that was valid."""
        return self.config_file.with_name(self.config_file.name + ".last-good")


def private_dir(path: Path) -> Path:
    """Create a directory and its missing parents, each for the owner only; existing ones stay as they are.

    Raises ConfigFileError when that is not possible.
    """
    try:
        for folder in [*reversed(path.parents), path]:
            if not folder.is_dir():
                folder.mkdir(mode=DIR_MODE, exist_ok=True)
    except OSError as error:
        raise ConfigFileError(
            f"The directory {path} cannot be created: {error.strerror or error}.",
            hint="Choose another one with OPENCLAW_STATE_DIR, or make its parent writable.",
        ) from error
    return path


def write_private(path: Path, data: bytes, *, mode: int = FILE_MODE) -> None:
    """Replace a file of ours as a whole: temporary file, fsync, rename. Raises OSError; then the old
    content is still in place."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode)
    try:
        with os.fdopen(fd, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _absolute(path: str | Path) -> Path:
    return Path(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100  # Path.absolute keeps ".." parts

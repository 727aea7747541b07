"""The command `openclaw`, and ``python -m openclaw_core``, which always works."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line of this process and exit."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        # Answered from argv alone, before anything else is imported.
        from openclaw_core import __version__

        sys.exit(_version(f"openclaw {__version__}\n"))
    from openclaw_core.cli.entry import run

    sys.exit(run(arguments))


def _version(text: str) -> int:
    """Write the version; 0, or 1 when nobody can read it."""
    import os

    try:
        os.write(1, text.encode())
    except OSError as error:
        # Nothing better to do when even stderr is closed: os.write would raise the same again.
        reason = f"openclaw: the output cannot be written: {error.strerror}\n"
        if sys.stderr is not None:
            sys.stderr.write(reason)
        return 1
    return 0


if __name__ == "__main__":
    main()

"""The way into the command line: reserve standard output, take the short way where there is one, report
failures the same way everywhere."""

from __future__ import annotations

import errno
import gc
from collections.abc import Sequence

from openclaw_core.cli import output
from openclaw_core.errors import OpenClawError, StoreFull


def run(arguments: Sequence[str]) -> int:
    """Run one command line; returns the exit status. Nothing escapes but SystemExit of a command."""
    gc.disable()  # imports make no garbage; collecting while they run costs a fifth of a short command
    as_json = "--json" in arguments
    with output.claimed():
        try:
            if arguments[:2] == ["plugins", "list"] and set(arguments[2:]) <= {"--json"}:
                # Asked by scripts and completions: works without click, pydantic and rich.
                from openclaw_core.cli.listing import list_plugins
                from openclaw_core.config.paths import StatePaths

                return list_plugins(StatePaths.resolve(), as_json=as_json)
            from openclaw_core.cli.main import invoke

            return invoke(list(arguments))
        except OpenClawError as error:
            return output.fail(error, as_json=as_json)
        except output.ReaderGone:
            return output.EXIT_PIPE
        except KeyboardInterrupt:
            return output.EXIT_INTERRUPTED
        except Exception as error:  # noqa: BLE001  # the last boundary: a person gets a sentence, not a traceback
            return output.fail(_unexpected(error), as_json=as_json)


def started() -> None:
    """Everything is imported: a command that goes on for long collects garbage again from here, and never
    looks at what start-up made."""
    gc.freeze()
    gc.enable()


def _unexpected(error: Exception) -> OpenClawError:
    import logging
    import traceback

    if logging.getLogger("openclaw").isEnabledFor(logging.DEBUG):
        output.note("".join(traceback.format_exception(error)))
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        where = f" ({error.filename})" if error.filename else ""
        return StoreFull(f"The disk is full{where}; nothing was done.", hint="Free some disk space, then try again.")
    return OpenClawError(
        f"Something went wrong inside openclaw: {type(error).__name__}: {error}.",
        hint="Run it again with --log-level debug before the command, and report what it shows.",
    )

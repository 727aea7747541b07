"""Starts gateways cheaply: a process that has imported everything forks one for each start.

A gateway that is started this way runs the same command line as ``openclaw gateway run``, as a process of its
own; only the second that importing takes is saved. Some cases start the real command instead (`Launcher.exec`).
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

ARGUMENTS = ("gateway", "run", "--port", "0", "--json")
_PRELOAD = (
    "openclaw_core.cli.main",
    "openclaw_core.cli.gateway",
    "openclaw_core.cli.logfile",
    "openclaw_core.gateway.app",
    "openclaw_core.gateway.lifecycle",
    "openclaw_core.gateway.reload",
    "openclaw_store_sqlite.plugin",
    "openclaw_store_sqlite.store",
    "openclaw_runtime_embedded.plugin",
    "openclaw_runtime_embedded.runtime",
    "openclaw_provider_openai.plugin",
    "openclaw_lib_openai.provider",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
    "uvicorn.protocols.http.auto",
    "uvicorn.lifespan.off",
    "uvicorn.loops.auto",
    "httpx",
    "importlib_metadata",
)


class Process:
    """One started gateway; `ended` is called from a thread when it has died, for whatever reason."""

    def __init__(self, pid: int, out: int, ended: Callable[[], None]) -> None:
        self.pid = pid
        self.dead = False
        self._pidfd = os.pidfd_open(pid)
        self._out = out
        self._ended = ended
        self._thread = threading.Thread(target=self._watch, name=f"gateway-{pid}", daemon=True)
        self._thread.start()

    def ready(self, seconds: float = 30.0) -> dict[str, Any] | None:
        """The line that announces readiness; None when the process died before it."""
        data = b""
        while not data.endswith(b"\n"):
            if not select.select([self._out], [], [], seconds)[0]:
                raise TimeoutError(f"gateway {self.pid} did not get ready within {seconds:g} s")
            piece = os.read(self._out, 65536)
            if not piece:
                return None
            data += piece
        found: dict[str, Any] = json.loads(data)
        return found

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal to this process and nothing else, and wait for its end."""
        if not self.dead:
            try:
                signal.pidfd_send_signal(self._pidfd, number)
            except ProcessLookupError:
                pass
        self._thread.join(20)
        assert self.dead, f"gateway {self.pid} does not end"

    def close(self) -> None:
        self.kill()
        os.close(self._pidfd)
        os.close(self._out)

    def _watch(self) -> None:
        poller = select.poll()
        poller.register(self._pidfd, select.POLLIN)
        poller.poll()
        self.dead = True
        self._ended()


class Launcher:
    """Owns the forking process."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._sock = ours
        self._lock = threading.Lock()
        env = {k: v for k, v in os.environ.items() if not k.startswith("OPENCLAW_")}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__)), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=env | {"OPENCLAW_TEST_FAULTS": "1"},
        )
        theirs.close()

    def fork(self, env: Mapping[str, str], stderr: Path, ended: Callable[[], None]) -> Process:
        """A gateway with these variables added to a clean environment."""
        read, write = os.pipe()
        err = os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            with self._lock:
                socket.send_fds(self._sock, [json.dumps(dict(env)).encode()], [write, err])
                pid = int(self._sock.recv(64))
        finally:
            os.close(write)
            os.close(err)
        return Process(pid, read, ended)

    def exec(self, env: Mapping[str, str], stderr: Path, ended: Callable[[], None]) -> Process:
        """The same through the installed command."""
        read, write = os.pipe()
        clean = {k: v for k, v in os.environ.items() if not k.startswith("OPENCLAW_")}
        with stderr.open("ab") as err:
            process = subprocess.Popen(
                [str(Path(sys.executable).parent / "openclaw"), *ARGUMENTS], env=clean | env, stdout=write, stderr=err
            )
        os.close(write)

        def reap() -> None:
            process.wait()
            ended()

        return Process(process.pid, read, reap)

    def __enter__(self) -> Launcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sock.close()
        self._process.wait(20)


def serve(sock: socket.socket) -> None:
    """The forking process: one request, one child; ends when the other side closes."""
    _preload()
    while True:
        if not select.select([sock], [], [], 0.2)[0]:
            _reap()
            continue
        data, fds, _, _ = socket.recv_fds(sock, 65536, 4)
        if not data:
            break
        pid = os.fork()
        if pid == 0:
            _become_gateway(sock, json.loads(data), fds)
        for fd in fds:
            os.close(fd)
        sock.send(str(pid).encode())
        _reap()
    _reap()


def _preload() -> None:
    """Import what a gateway imports, build the configuration model, and keep the pages of all that shared."""
    import importlib_metadata

    from openclaw_core.config.model import parse_config

    for name in _PRELOAD:
        importlib.import_module(name)
    for point in importlib_metadata.entry_points():
        if point.group.startswith("openclaw."):
            importlib.import_module(point.module)
    parse_config({})
    gc.collect()
    gc.freeze()


def _become_gateway(sock: socket.socket, env: dict[str, str], fds: list[int]) -> None:
    code = 70
    try:
        sock.close()
        os.dup2(fds[0], 1)
        os.dup2(fds[1], 2)
        for fd in fds:
            os.close(fd)
        os.environ.update(env)
        sys.path[1:1] = [part for part in env.get("PYTHONPATH", "").split(os.pathsep) if part]
        sys.argv = ["openclaw", *ARGUMENTS]
        from openclaw_core.__main__ import main

        found = main()
        code = found if isinstance(found, int) else 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


if __name__ == "__main__":
    os.nice(5)
    serve(socket.socket(fileno=int(sys.argv[1])))

"""Starting programs and reading what they cost."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPENCLAW = Path(sys.executable).parent / "openclaw"
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True, kw_only=True)
class Cost:
    """CPU seconds (user and system), wall seconds, peak resident memory in MiB."""

    cpu: float
    wall: float
    peak: float
    status: int
    out: str


def run(command: list[str], *, env: dict[str, str] | None = None) -> Cost:
    """Run a program to its end. The peak is that of this child alone."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    process = subprocess.Popen(
        command, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    out = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    del before
    return Cost(
        cpu=usage.ru_utime + usage.ru_stime,
        wall=time.perf_counter() - begun,
        peak=usage.ru_maxrss / 1024,
        status=process.returncode,
        out=out,
    )


def cpu_of(pid: int) -> float:
    """CPU seconds of a running process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def rss_of(pid: int) -> float:
    """Resident memory of a running process in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


class Server:
    """A program that prints its port in its first line; stopped at the end of the block."""

    def __init__(self, command: list[str], *, env: dict[str, str] | None = None) -> None:
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(
            command, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        self.first = self.process.stdout.readline()
        self.ready_s = time.perf_counter() - self.begun
        self.pid = self.process.pid

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(10)

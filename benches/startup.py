"""What it takes to start `weigh`: processor time and wall time of short commands, from process start to exit.

The first figure is the one promised: `weigh --help` answers within 0.25 s of processor time. A bare interpreter stands
beside it, since every command pays for that. Figures are the best and the median of several runs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from statistics import median

RUNS = 15
PROMISED = 0.25
"""Seconds of processor time for `weigh --help`."""

WEIGH = (sys.executable, "-m", "weigh.harness.cli.app")
COMMANDS: dict[str, Sequence[str]] = {
    "weigh --help": (*WEIGH, "--help"),
    "weigh play --help": (*WEIGH, "play", "--help"),
    "weigh games": (*WEIGH, "games"),
    "weigh play goofspiel match random": (*WEIGH, "play", "goofspiel", "match", "random"),
    "python -c pass": (sys.executable, "-c", "pass"),
}


def took(command: Sequence[str]) -> tuple[float, float]:
    """Seconds of processor time (user and system) and of wall time of one run."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime, wall


def best_cpu(command: Sequence[str], runs: int = RUNS) -> float:
    """The least processor time of several runs: other work on the machine only ever adds to it."""
    return min(took(command)[0] for _ in range(runs))


def main() -> None:
    print(f"{'command':<36}{'CPU s, best':>12}{'median':>10}{'wall s, best':>14}{'median':>10}")
    for name, command in COMMANDS.items():
        took(command)  # once for the file cache
        cpu, wall = zip(*(took(command) for _ in range(RUNS)), strict=True)
        print(f"{name:<36}{min(cpu):>12.3f}{median(cpu):>10.3f}{min(wall):>14.3f}{median(wall):>10.3f}")
    print(f"promised: weigh --help within {PROMISED} s of processor time")

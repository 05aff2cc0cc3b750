"""Plays examples/run.toml on a mock server and leaves the run in examples/run: `make example`.

The run that is there is replaced. Moves and scores come out the same each time; times and the run's id do not.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import weigh
from weigh.harness.providers.mock_server import MockServerProcess, read_options

HERE = Path(__file__).parent
SERVER = {"port": 8765, "seed": 3, "faults": "illegal=0.1,unreadable=0.04,empty=0.02"}


def main() -> None:
    """Play it."""
    shutil.rmtree(HERE / "run", ignore_errors=True)
    with MockServerProcess(read_options(SERVER)):
        weigh.ladder(HERE / "run.toml")


if __name__ == "__main__":
    main()

"""The command line as a person runs it who has no key."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def weigh(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command from `folder`, without any key in the environment."""
    bare = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return subprocess.run(
        [sys.executable, "-m", "weigh.harness.cli.app", *words], cwd=folder, env=bare, capture_output=True, text=True
    )

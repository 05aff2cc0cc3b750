"""A long ladder takes no more memory than a short one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

# In a process of its own: what other tests left behind, or freed, would be counted too.
LONG_LADDER = """
import json
from benches.memory import EPISODES, all_prompted, sizes
from weigh.harness.providers.mock_server import MockServerProcess
with MockServerProcess() as server:
    print(json.dumps(sizes(all_prompted(), server, EPISODES)))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the resident size is read from /proc")
def test_O14_memory_stays_flat_over_2000_episodes() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LONG_LADDER], cwd=ROOT, capture_output=True, text=True, check=False, timeout=280
    )
    assert done.returncode == 0, done.stderr
    resident = {int(episodes): size for episodes, size in json.loads(done.stdout).items()}
    assert resident[2000] - resident[500] < 16, resident  # of which the database's cache may take 8
    assert resident[2000] - resident[1500] < 4, resident

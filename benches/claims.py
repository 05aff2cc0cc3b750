"""What claims are worth in Ballast between scripted players whose answer is known.

    python -m benches claims      about a minute

`weigh experiment` with 400 pairs of seatings and seed 3, and 400 decisions of the listener asked again. *Normal* is
the claimer's mean score as played; the next three are how much lower it is with the listener deaf to claims (mute),
with claims replaced by random values (scramble), and with true claims only (force-truth), each with the half-width of
its 95 % interval. *Listening* is how much more often the listener's move changes when one claim is replaced. `feint`
places as `steady` does under mirrored claims, and `deaf` is `steady` without ears. Fixed seeds: equal figures on every
run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

PAIRINGS = (("feint", "steady"), ("feint", "deaf"), ("bluffer", "steady"), ("steady", "bluffer"))
CONFIG = """\
seed = 3
[games.ballast]
[entrants]
feint = "feint"
deaf = "deaf"
"""


def contrasts(folder: Path, claimer: str, listener: str) -> str:
    """The cells of one pairing, from the command's own document."""
    words = ("ballast-claims", "b.toml", "--claimer", claimer, "--listener", listener)
    options = ("--name", f"{claimer}-{listener}", "--blocks", "400", "--listening", "400", "--json")
    said = subprocess.run(
        [sys.executable, "-m", "weigh", "experiment", *words, *options], cwd=folder, capture_output=True, check=False
    )
    (found,) = json.loads(said.stdout)["directions"]
    cells = [f"{found['contrasts'][0]['normal']:+.3f}"]
    for contrast in found["contrasts"]:
        low, high = contrast["interval"]
        cells.append(f"{contrast['difference']:+.3f} ± {(high - low) / 2:.3f}")
    return " | ".join([*cells, f"{found['listening']['effect']:+.3f}"])


def main() -> int:
    print("| A claims, B listens | normal | mute | scramble | force-truth | listening |")
    print("|:--|--:|--:|--:|--:|--:|")
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "b.toml").write_text(CONFIG, encoding="utf-8")
        for claimer, listener in PAIRINGS:
            print(f"| `{claimer}`, `{listener}` | {contrasts(folder, claimer, listener)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m tests.browser.screenshots`: a telling moment of every game and of a run's index, as small PNG files.

They go to docs/screenshots/ and stand in the README. Episodes are played by scripted policies with fixed seeds, so
the same code gives the same pictures; the names and the models in them are made up.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.browser.chromium import chromium, looking
from tests.cli.runner import weigh
from tests.harness.web.episodes import by_models
from tests.harness.web.runs import make_run
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store
from weigh.harness.web.viewer.frames import frames_of
from weigh.harness.web.viewer.run import record_page, run_page

ROOT = Path(__file__).resolve().parents[2]
LARGEST = 150_000
"""Bytes of one picture: they are kept in git."""

MOMENTS = {
    "goofspiel": (("match", "hoard", "random", "random"), 1, "overbid", "light"),
    "oshi_zumo": (("match", "random"), 1, "overbid", "dark"),
    "ballast": (("bluffer", "feint"), 0, "challenge", "light"),
    "persistent_calibration": (
        ("spread", "loyal", "random", "spread", "absent", "random"),
        0,
        "reveal",
        "light",
    ),
    "half_hearted_step": (("forager", "spoiler"), 0, "move", "dark"),
}
"""By game: who plays, the first seed to be tried, the kind of frame that tells most, and the theme."""

ALIASES = ("Maple", "Birch", "Spruce", "Laurel", "Rowan", "Olive", "Yew", "Hazel")
ENTRANTS = ("careful", "bold", "patient", "mirror", "greedy", "early", "late", "steady")


def main(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    # Played before the browser opens: while it is open, nothing may run an event loop of its own.
    moments = {name: _telling(name, players, seed, kind) for name, (players, seed, kind, _) in MOMENTS.items()}
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        drafts = Path(place)
        for name, (record, frame) in moments.items():
            page = drafts / f"{name}.html"
            page.write_text("".join(record_page(record)), encoding="utf-8")
            _shoot(browser, page, f"#frame={frame}", folder / f"{name}.png", MOMENTS[name][3])
        make_run(drafts / "league")
        with Store.open(drafts / "league", readonly=True) as store:
            (drafts / "run.html").write_text("".join(run_page(store, 10_000_000)), encoding="utf-8")
        _shoot(browser, drafts / "run.html", "", folder / "index.png", "light")
    large = [path.name for path in sorted(folder.glob("*.png")) if path.stat().st_size > LARGEST]
    if large:
        sys.stderr.write(f"larger than {LARGEST} bytes: {', '.join(large)}\n")
    return 1 if large else 0


def _telling(name: str, players: tuple[str, ...], seed: int, kind: str) -> tuple[Record, int]:
    """An episode with a frame of that kind in its middle half, and the number of the frame."""
    while True:
        seats = [f"--set=seats={len(players)}"] if len(players) > 2 else []
        record = Record.model_validate(weigh("play", name, *players, "--seed", seed, *seats, "--json").json)
        record = by_models(record).model_copy(
            update={"entrants": ENTRANTS[: len(players)], "aliases": ALIASES[: len(players)]}
        )
        kinds = [frame.kind for frame in frames_of(record).frames]
        early, late = len(kinds) // 4, len(kinds) * 3 // 4
        found = [place for place, each in enumerate(kinds) if each == kind and early < place <= late]
        if found:
            return record, found[len(found) // 2]
        seed += 1


def _shoot(browser: Any, page: Path, fragment: str, target: Path, theme: str) -> None:
    size = {"width": 1120, "height": 680}
    with looking(browser, viewport=size, color_scheme=theme, reduced_motion="reduce") as looked:
        looked.open(page, fragment).screenshot(path=target)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "screenshots"))

"""One document of each JSON form, made offline: small runs of scripted policies, and values that such runs never hold
(a flagged pair, a model's usage)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.cli.runner import SCRIPTED, weigh
from tests.harness.audit.collusion.leagues import League
from tests.harness.results.ladder_frames import four
from tests.harness.results.ranking.pair_cases import board, pairs, rock_paper_scissors
from weigh.harness.audit.collusion.audit import Settings, audit
from weigh.harness.audit.collusion.rematch import Answer, Contrast, Level
from weigh.harness.audit.collusion.seats import RunOf
from weigh.harness.audit.measures.persistent_calibration import Correlation
from weigh.harness.results.ranking.ladder import rank
from weigh.harness.store.usage import Account, Usage

BIDS = ("--game", "goofspiel", "--set", "seats=2", "--set", "cards=4")
PROMPTED = f"""\
{SCRIPTED}
[entrants]
plain = "goofspiel/plain.md@mock:mock-small"
[models.mock]
base_url = "http://127.0.0.1:9/v1"
[limits]
max_calls = 1_000
"""
BALLAST = """\
seed = 1
baselines = false
[games.ballast]
blocks = 2
[entrants]
feint = "feint"
steady = "steady"
"""

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "ladder": ("ladder", "s.toml", "--json"),
    "rank": ("rank", "results/s", "--equal-weight", "--measures", "--json"),
    "plan": ("plan", "prompted.toml", "--json"),
    "plan of a run": ("plan", "results/s", "--json"),
    "verify": ("verify", "results/s", "--json"),
    "export": ("export", "results/s", "seats.csv", "--json"),
    "view": ("view", "results/s", "--no-open", "--json"),
    "view --text": ("view", "results/s", "--text", "--episode", "goofspiel/b0000/r0", "--json"),
    "report": ("report", "results/s", "--json"),
    "gate --save-baseline": ("gate", "--save-baseline", "b.json", "--candidate", "match", *BIDS, "--blocks", "10",
                             "--json"),
    "gate": ("gate", "--baseline", "match", "--candidate", "match", *BIDS, "--margin", "0.5", "--json"),
    "compare": ("compare", "match", "hoard", *BIDS, "--blocks", "2", "--aa", "--json"),
    "experiment": ("experiment", "ballast-claims", "ballast.toml", "--claimer", "feint", "--listener", "steady",
                   "--blocks", "4", "--listening", "4", "--json"),
    "doctor": ("doctor", "s.toml", "--no-calls", "--json"),
    "diff-prompts": ("diff-prompts", "goofspiel/plain.md", "goofspiel/tempo.md", "--game", "goofspiel", "--json"),
    "games": ("games", "--json"),
    "policies": ("policies", "--json"),
}  # fmt: skip
"""By heading: the command whose standard output is the document. They are run in this order, in one folder."""

READ = {"game": "oshi_zumo", "moves": [], "seat": 0, "reply": 'Thinking. {"bid": 3}'}
RESOLVE = {"game": "oshi_zumo", "config": {"coins": 4}, "moves": [[1, 1]]}


def _built() -> dict[str, list[Any]]:
    """More values of a form, by its heading."""
    league = League(("ann", "bob", "cat", "dan", "eve", "fay", "gus"), blocks=42, feeders={"ann": "bob"})
    flagged = audit(
        [RunOf("a", 5, league.records())],
        Settings(permutations=999),
        expected={"a": {"persistent_calibration": 1}},
        side_correlations={("ann", "bob"): Correlation(40, 0.5)},
    )
    contrast = Contrast("aliases", 1, 1, 0.0, None, None)
    answer = Answer(("ann", "bob"), "match", (Level("first", 1, 1, 0, 1, 0.5),), (contrast,))
    account = Account(None, None, None, Usage()).to_json()
    ladder: dict[str, Any] = dict(rank(four()).to_json())
    ladder["accounts"] = {key: [account] for key in ladder["accounts"]}
    for game in ladder["games"]:
        for standing in game["standings"]:
            standing["traffic"] = account["traffic"]
    found = rock_paper_scissors()
    ladder |= {"ratings": [board(found).to_json()], "head_to_head": [pairs(found).to_json()]}
    return {"rank": [ladder], "audit": [flagged.to_json()], "audit --replay-shuffled": [{"pairs": [answer.to_json()]}]}


def documents() -> dict[str, list[Any]]:
    """The documents of each form, by heading."""
    found: dict[str, list[Any]] = {}
    with TemporaryDirectory() as place, chdir(place):
        Path("s.toml").write_text(SCRIPTED, encoding="utf-8")
        Path("prompted.toml").write_text(PROMPTED, encoding="utf-8")
        Path("ballast.toml").write_text(BALLAST, encoding="utf-8")
        for heading, words in COMMANDS.items():
            said = weigh(*words)
            assert said.code in (0, 3), (heading, said)
            found[heading] = [said.json]
        found["gate: a baseline file"] = [json.loads(Path("b.json").read_text(encoding="utf-8"))]
        for heading, document in (("resolve", RESOLVE), ("read", READ)):
            found[heading] = [weigh(heading, "-", "--json", stdin=json.dumps(document)).json]
    for heading, more in _built().items():
        found[heading] = [*found.get(heading, []), *json.loads(json.dumps(more))]
    return found

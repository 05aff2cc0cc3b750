"""The demo's ladder: on the embedded model, or on the bundled mock server, which needs nothing.

Owns which of the two is taken, and what each changes in `demo.toml`, which lies beside this file and so is installed
with it.
"""

from __future__ import annotations

from pathlib import Path

from weigh.harness.run.play.ladder import LadderSpec

CONFIG = Path(__file__).with_name("demo.toml")
EMBEDDED = "local:smollm2"
MOCK = "mock:mock-small"


def demo_spec(results: Path, mock_url: str | None) -> LadderSpec:
    """The demo's ladder, kept below `results`; with `mock_url`, a mock server there answers for the model."""
    if mock_url is None:
        # Twice as fast; texts may then differ in a word from one run to the next.
        model: dict[str, object] = {f"models.{EMBEDDED}.exact": False}
    else:
        model = {
            "name": "demo-mock",
            "baselines": True,
            "games.oshi_zumo.coins": 12,
            "games.oshi_zumo.size": 3,
            "games.oshi_zumo.blocks": 30,
            "limits.episodes_in_flight": 8,
            "entrants.plain.model": MOCK,
            "entrants.tempo.model": MOCK,
            f"models.{MOCK}.base_url": mock_url,
            f"models.{MOCK}.price": {"input": 0.0, "output": 0.0},
        }
    return LadderSpec(CONFIG, {"results": str(results.absolute()), **model})

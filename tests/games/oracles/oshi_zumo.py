"""Oshi-Zumo as OpenSpiel plays it, kept as data so that OpenSpiel need not be installed to compare with it.

    pip install open_spiel && python -m tests.games.oracles.oshi_zumo      writes oshi_zumo.json anew

A row is one random game: the config, the bids of each round, the lowest and highest legal bid of each seat in each
round, and the returns. OpenSpiel is an independent telling of the same rules; it has no report of its own to compare.
Of Goofspiel there is no such file: OpenSpiel drops a tied prize where these rules share it.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

FILE = Path(__file__).with_suffix(".json")
GAMES = 20
CONFIGS: tuple[dict[str, int], ...] = (
    {"coins": 20, "size": 3, "min_bid": 1, "max_rounds": 20},
    {"coins": 20, "size": 3, "min_bid": 0, "max_rounds": 40},
    {"coins": 20, "size": 3, "min_bid": 1, "max_rounds": 5},
    {"coins": 10, "size": 2, "min_bid": 0, "max_rounds": 15},
    {"coins": 6, "size": 1, "min_bid": 0, "max_rounds": 12},
    {"coins": 9, "size": 3, "min_bid": 2, "max_rounds": 9},
    {"coins": 50, "size": 5, "min_bid": 1, "max_rounds": 50},
)


def rows() -> list[dict[str, Any]]:
    """The stored games."""
    stored: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return stored


def played(config: dict[str, int], rng: Random) -> dict[str, Any]:
    """One game by OpenSpiel. Small bids are favoured, so that games are long."""
    import pyspiel

    parameters = {name: config[name] for name in ("coins", "size", "min_bid")}
    state = pyspiel.load_game("oshi_zumo", {**parameters, "horizon": config["max_rounds"]}).new_initial_state()
    steps, legal = [], []
    while not state.is_terminal():
        actions = [state.legal_actions(seat) for seat in (0, 1)]
        bids = [rng.choice(rng.choice([options, options[:3]])) for options in actions]
        legal.append([[options[0], options[-1]] for options in actions])
        steps.append(bids)
        state.apply_actions(bids)
    return {"config": config, "steps": steps, "legal": legal, "returns": state.returns()}


def main() -> None:
    rng = Random(20)
    lines = [json.dumps(played(config, rng)) for config in CONFIGS for _ in range(GAMES)]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

"""Golden playthroughs: whole episodes as readable text, kept in `tests/games/playthroughs` and compared exactly.

    python -m tests.games.playthrough            writes them anew; review the difference like any other change
    python -m tests.games.playthrough --print    prints them all instead

A playthrough shows the rulebook, then for each step what one seat sees (the seats take turns), what every seat may do,
what they did (drawn from the seed) and what became public, and at the end the outcome.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from weigh.games.game import Event, State
from weigh.games.registry import game_named, read_config

FOLDER = Path(__file__).parent / "playthroughs"
NAMES = ("Ash", "Birch", "Cedar", "Dune", "Elm", "Fir", "Gorse", "Hazel", "Ivy", "Juniper", "Kelp", "Larch", "Maple")


@dataclass(frozen=True)
class Playthrough:
    game: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 1
    stop_after: int | None = None
    """Steps after which the wall clock stops it; None plays to the end."""


PLAYTHROUGHS: Mapping[str, Playthrough] = {
    "goofspiel": Playthrough("goofspiel"),
    "goofspiel_two_seats_four_cards": Playthrough("goofspiel", {"seats": 2, "cards": 4}, seed=2),
    "goofspiel_thirds_of_a_short_deck": Playthrough("goofspiel", {"seats": 3, "cards": 6, "max_rounds": 4}, seed=2),
    "goofspiel_ten_seats": Playthrough("goofspiel", {"seats": 10, "cards": 5}, seed=5),
    "goofspiel_stopped": Playthrough("goofspiel", seed=2, stop_after=3),
    "goofspiel_stopped_before_the_first_round": Playthrough("goofspiel", {"cards": 4}, seed=7, stop_after=0),
    "oshi_zumo": Playthrough("oshi_zumo", seed=49),
    "oshi_zumo_pushout": Playthrough("oshi_zumo", {"coins": 12, "size": 1}, seed=1),
    "oshi_zumo_free_bids": Playthrough("oshi_zumo", {"coins": 5, "size": 2, "min_bid": 0, "max_rounds": 4}, seed=3),
    "oshi_zumo_dear_bids": Playthrough("oshi_zumo", {"coins": 9, "min_bid": 2}, seed=1),
    "oshi_zumo_stopped": Playthrough("oshi_zumo", {"coins": 50, "size": 5}, seed=6, stop_after=2),
    "ballast": Playthrough("ballast", seed=54),
    "ballast_two_scales": Playthrough("ballast", {"weights": 3, "scales": 2}, seed=2),
    "ballast_stopped": Playthrough("ballast", seed=3, stop_after=5),
    "persistent_calibration": Playthrough("persistent_calibration", seed=1),
    "persistent_calibration_garnets": Playthrough(
        "persistent_calibration", {"seats": 3, "starting_garnets": [4, 0, 1]}, seed=2
    ),
    "persistent_calibration_stopped": Playthrough("persistent_calibration", {"seats": 2}, seed=3, stop_after=2),
    "half_hearted_step": Playthrough("half_hearted_step", seed=1),
    "half_hearted_step_small_board": Playthrough(
        "half_hearted_step", {"size": 3, "lives": 1, "bid_limit": 4, "auction_rounds": 3}, seed=2
    ),
    "half_hearted_step_stopped": Playthrough("half_hearted_step", {"size": 5}, seed=3, stop_after=12),
    "half_hearted_step_stopped_in_the_auction": Playthrough("half_hearted_step", seed=4, stop_after=2),
}


def transcript(name: str) -> str:
    """The playthrough of that name as text, played by the rules as they are now."""
    return "\n".join(_lines(name, PLAYTHROUGHS[name])) + "\n"


def _lines(name: str, play: Playthrough) -> Iterator[str]:
    game, rng = game_named(play.game), Random(play.seed)
    config = read_config(game, play.fields)
    deal = game.deal(config, rng)
    names = NAMES[: game.seat_count(config)]
    state = game.start(config, deal)
    yield f"=== {name}"
    yield f"game: {game.name} ({game.title})"
    yield f"config: {_json(config.model_dump(mode='json'))}"
    yield f"deal: {_json(deal)}"
    yield from ["", game.rulebook(config), "", "=== start"]
    yield from _told(state.events)
    step = 0
    while state.to_act and step != play.stop_after:
        seats = sorted(state.to_act)
        yield from ["", f"=== step {step}", f"to act: {', '.join(map(str, seats))}"]
        yield from _seen(state, seats[step % len(seats)], names)
        for seat in seats:
            yield f"legal for {seat}: {state.legal(seat).describe()}"
        moves = {seat: state.legal(seat).sample(rng) for seat in seats}
        yield f"moves: {_json({str(seat): move for seat, move in moves.items()})}"
        before = len(state.events)
        state = state.play(moves)
        yield from _told(state.events[before:])
        step += 1
    if state.to_act:
        state = state.stop()
    outcome = state.outcome
    assert outcome is not None
    yield from ["", "=== outcome"]
    yield f"{outcome.reason}, {outcome.ending}, after {step} steps"
    yield f"scores: {', '.join(map(str, outcome.scores))}"
    yield from (f"{measure}: {_json(value)}" for measure, value in outcome.measures.items())


def _seen(state: State, seat: int, names: tuple[str, ...]) -> Iterator[str]:
    observation = state.observe(seat, names)
    answer = observation.legal.answer
    yield f"what seat {seat} sees:"
    yield from (f"  | {line}" for line in (*observation.history, *observation.situation.split("\n")))
    yield f"  facts: {_json(observation.facts)}"
    yield f"  answer: {_json(answer.schema)}, in the form {answer.form}, e.g. {answer.example}"


def _told(events: tuple[Event, ...]) -> Iterator[str]:
    yield from (f"event: {_json(event.to_json())}" for event in events)


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


def main(arguments: list[str]) -> int:
    if arguments == ["--print"]:
        sys.stdout.write("\n".join(map(transcript, PLAYTHROUGHS)))
        return 0
    if arguments:
        sys.stderr.write(f"unknown arguments {arguments}; there is only --print\n")
        return 2
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.txt"):
        old.unlink()
    for name in PLAYTHROUGHS:
        (FOLDER / f"{name}.txt").write_text(transcript(name), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

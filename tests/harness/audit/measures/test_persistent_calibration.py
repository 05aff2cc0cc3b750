"""Diagnostics of Persistent Calibration on episodes worked out by hand, and regret against playing it all again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log2
from random import Random
from typing import Any

import pytest

from tests.games.persistent_calibration_examples import EXAMPLES
from tests.games.persistent_calibration_play import moves, points
from weigh.games.persistent_calibration.moves import PLACES, Placement
from weigh.games.persistent_calibration.rules import PERSISTENT_CALIBRATION, PersistentCalibrationState
from weigh.games.registry import read_config
from weigh.games.replay import replay
from weigh.harness.audit.measures.persistent_calibration import (
    ENOUGH,
    MEANINGS,
    Correlation,
    diagnose,
    side_correlations,
)
from weigh.harness.store.record import Record


def recorded(steps: Sequence[Any], entrants: Sequence[str], **fields: Any) -> Record:
    """The record of these steps, cut off by a deadline if they do not end the episode."""
    config = read_config(PERSISTENT_CALIBRATION, {"seats": len(entrants), **fields})
    state = replay(PERSISTENT_CALIBRATION, config, {}, list(steps))
    outcome = (state.stop() if state.to_act else state).outcome
    assert outcome is not None
    return Record.model_validate(
        {
            "key": "k",
            "block": "b",
            "game": "persistent_calibration",
            "config": config.model_dump(mode="json"),
            "deal": {},
            "entrants": tuple(entrants),
            "policies": ("0",) * len(entrants),
            "models": (None,) * len(entrants),
            "aliases": tuple(f"N{seat}" for seat in range(len(entrants))),
            "fallback": "absent",
            "moves": tuple(map(tuple, steps)),
            "decisions": (),
            "events": (),
            "reason": outcome.reason,
            "ending": outcome.ending,
            "scores": tuple(map(float, outcome.scores)),
            "measures": dict(outcome.measures),
            "fallbacks": (0,) * len(entrants),
            "episode_deadline": 9.0,
        }
    )


def written(*steps: str, entrants: str = "ann bob cy dee", **fields: Any) -> Record:
    return recorded(moves(steps), entrants.split()[: len(steps[0].split())], **fields)


def told(found: dict[str, float | None], **expected: float | None) -> None:
    for name, value in expected.items():
        assert found[name] == (None if value is None else pytest.approx(value)), name


C4 = written(*EXAMPLES["C4"].steps)
C6 = written(*EXAMPLES["C6"].steps)


def test_C4_how_often_weights_lay_on_the_lighter_side() -> None:
    found = diagnose([C4])
    told(
        found["ann"], lighter_hit=2 / 6, lighter_hit_weight_1=1 / 2, lighter_hit_weight_2=1 / 2, lighter_hit_weight_3=0
    )
    told(found["bob"], lighter_hit=1 / 6, lighter_hit_weight_1=0, lighter_hit_weight_2=1 / 2, lighter_hit_weight_3=0)
    assert [found["ann"][f"lighter_hit_round_{number}"] for number in range(1, 7)] == [1, 0, 0, 0, 0, 1]
    # Weights lay 6, 5, 4, 3, 2 and 1 rounds, and scored in 3, 2, 0, 0, 0 and 1 of them.
    told(found["ann"], weight_rounds_scored=6 / 21)


def test_C4_how_sides_were_chosen() -> None:
    found = diagnose([C4])
    told(found["ann"], loyalty=1 / 5, self_flip=3 / 6, three_turn=1.5, missed=0)
    told(found["bob"], loyalty=0, three_turn=2)
    # Leads of the chosen sides before rounds 2 to 6: 2, 1, 0, 1, 1.
    told(found["ann"], chosen_lead=1, chose_lighter=4 / 5)
    told(found["ann"], side_herfindahl=8 / 36, side_entropy=log2(3) / 3 + 4 * log2(6) / 6)


def test_C4_what_the_table_did() -> None:
    for found in diagnose([C4]).values():
        told(found, flips_A=2, flips_B=1, flips_C=0, table_herfindahl=1 / 2, table_entropy=1, herding=0)


def test_C4_regret_of_a_round() -> None:
    # By round 1, 1, 0, 2, 4 and 2: a 2 on A left; anything but A left; nothing better; B left with 2 or 3, which makes
    # the own 2 across the lighter; A right, which does that for the own 4 on the left; A right again.
    told(diagnose([C4])["ann"], regret_round=10 / 6)


def test_C6_missing_submissions_count_as_missed_and_nothing_else() -> None:
    found = diagnose([C6])
    told(found["bob"], missed=2 / 4, loyalty=0, lighter_hit_round_1=None, lighter_hit_round_2=0)
    told(found["ann"], missed=0, lighter_hit_round_1=0)


def test_herding_is_the_share_of_the_others_on_the_very_same_side() -> None:
    found = diagnose([written("AL1 AL2 AL1 AR2")])
    told(found["ann"], herding=2 / 3, table_herfindahl=(9 + 1) / 16, table_entropy=3 / 4 * log2(4 / 3) + 1 / 2)
    told(found["dee"], herding=0)
    told(diagnose([written("AL1 AL2 - -")])["ann"], herding=1)


def test_garnets() -> None:
    records = [written("AL1++ AR3-", "BL2 BR1", starting_garnets=4), written("AL1 AR3", starting_garnets=[2, 0])]
    found = diagnose(records)
    told(found["ann"], garnets_spent=1, garnets_used=2 / 6, lighter_hit_weight_3=0, lighter_hit_weight_1=1)
    told(found["bob"], garnets_spent=1 / 2, garnets_used=1 / 4)
    told(diagnose([C4])["ann"], garnets_spent=0, garnets_used=None)


def test_measures_are_by_entrant_wherever_it_sits() -> None:
    one, other = written("AL1 AR3"), written("AL1 AR3", entrants="bob ann")
    found = diagnose([one, other])
    told(found["ann"], lighter_hit=1 / 2, side_herfindahl=1 / 2)
    assert found["ann"] == found["bob"]


def test_every_measure_has_a_meaning_and_nothing_observed_is_none() -> None:
    found = diagnose([recorded([], ["ann", "bob"])])
    assert list(found["ann"]) == list(MEANINGS)
    assert {name for name, value in found["ann"].items() if value is not None} == {
        "flips_A",
        "flips_B",
        "flips_C",
        "garnets_spent",
    }
    assert all(meaning and "\n" not in meaning for meaning in MEANINGS.values())
    assert diagnose([]) == {}


def test_records_are_passed_over_once_and_those_of_other_games_not_at_all() -> None:
    def stream() -> Iterator[Record]:
        yield C4.model_copy(update={"game": "goofspiel"})
        yield C4

    assert diagnose(stream()) == diagnose([C4])


# Regret


def random_steps(rng: Random, seats: int, garnets: int) -> list[list[Any]]:
    config = read_config(PERSISTENT_CALIBRATION, {"seats": seats, "starting_garnets": garnets})
    state, steps = PERSISTENT_CALIBRATION.start(config, {}), []  # type: ignore[arg-type]
    while state.to_act:
        step = {s: state.legal(s).sample(rng) if rng.random() < 0.9 else None for s in range(seats)}
        steps.append([step[seat] for seat in range(seats)])
        state = state.play(step)
    return steps


def ended(steps: Sequence[Any], seats: int, garnets: int) -> PersistentCalibrationState:
    config = read_config(PERSISTENT_CALIBRATION, {"seats": seats, "starting_garnets": garnets})
    state = replay(PERSISTENT_CALIBRATION, config, {}, list(steps))
    assert isinstance(state, PersistentCalibrationState)
    return state


@pytest.mark.parametrize("seed", range(6))
def test_regret_of_a_round_is_what_playing_every_other_move_would_have_won(seed: int) -> None:
    seats, garnets, rng = 3, seed % 3, Random(seed)
    steps = random_steps(rng, seats, garnets)
    regrets = []
    for number, step in enumerate(steps):
        if step[0] is None:
            continue
        before = ended(steps[:number], seats, garnets)
        scored = {
            str(move): before.play({**dict(enumerate(step)), 0: move}).points_by_round[0][-1]
            for move in before.legal(0)
        }
        regrets.append(max(scored.values()) - scored[str(step[0])])
    found = diagnose([recorded(steps, ["ann", "bob", "bob"], starting_garnets=garnets)])
    told(found["ann"], regret_round=sum(regrets) / len(regrets))


@pytest.mark.parametrize("seed", range(6))
def test_regret_to_the_end_is_what_the_same_weight_would_have_won_elsewhere(seed: int) -> None:
    seats, garnets, rng = 3, seed % 3, Random(100 + seed)
    steps = random_steps(rng, seats, garnets)
    regrets = []
    for number, step in enumerate(steps):
        if step[0] is None:
            continue
        won = []
        for place in PLACES:
            moved = {**step[0], **{k: Placement(place, 1, 0).to_json()[k] for k in ("scale", "side")}}
            won.append(points(ended([*steps[:number], [moved, *step[1:]], *steps[number + 1 :]], seats, garnets))[0])
        regrets.append(max(won) - points(ended(steps, seats, garnets))[0])
    found = diagnose([recorded(steps, ["ann", "bob", "bob"], starting_garnets=garnets)])
    told(found["ann"], regret_end=sum(regrets) / len(regrets))


# Two seats' sides


def test_sides_that_always_agree_or_always_differ() -> None:
    steps = ["AL1 BL1 CR1", "AR2 BR2 CL2", "AR3 CR3 AL3", "AL1 BL2 BR3", "BL2 CL1 CR2", "BR3 AR3 CL1"]
    records = [written(*steps)] * (ENOUGH // 6)
    assert side_correlations(records) == {
        ("ann", "bob"): Correlation(30, 1.0),
        ("ann", "cy"): Correlation(30, -1.0),
        ("bob", "cy"): Correlation(30, -1.0),
    }
    found = diagnose(records)
    told(found["ann"], side_correlation=1)
    told(found["cy"], side_correlation=-1)
    told(diagnose(records[1:])["ann"], side_correlation=None)


def test_a_correlation_worked_out() -> None:
    # Left and right as -1 and 1: ann -1 -1 1 1, bob -1 1 1 1 over the rounds in which both moved.
    record = written("AL1 BL1", "AL2 -", "CL3 BR3", "AR1 CR1", "BR2 AR2")
    ((rounds, value),) = side_correlations([record]).values()
    assert (rounds, value) == (4, pytest.approx(4 / 48**0.5))


def test_sides_that_never_change_have_no_correlation() -> None:
    assert side_correlations([written("AL1 BL1", "AL2 BR2")]) == {("ann", "bob"): Correlation(2, None)}


def test_two_seats_of_one_entrant_are_no_pair() -> None:
    assert side_correlations([written("AL1 BL1 AR1", entrants="ann ann bob")]).keys() == {("ann", "bob")}

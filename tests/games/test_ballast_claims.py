"""Observations of Ballast under other claims: nothing else changes, and nothing hidden can be read."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from tests.games.ballast_cases import after
from weigh.games.ballast.rules import BALLAST, BallastConfig, BallastState
from weigh.games.ballast.view import observe_with_claims, truthful, view_of
from weigh.games.game import Observation
from weigh.games.goofspiel.rules import GOOFSPIEL
from weigh.policies.layout import position

NAMES = ("Ash", "Birch")
MIDDLE = "0:p5s0 1:p4s0a2 0:p1s1a5 1:c2 0:p3s1 1:p1s2a4 0:c4 1:p3s2"
HIDDEN: dict[int, int | None] = dict.fromkeys(range(14))


def positions(seed: int, config: BallastConfig | None = None) -> Iterator[BallastState]:
    """Every position of a game of uniform play, before its end."""
    rng, state = Random(seed), BALLAST.start(config or BallastConfig(), {})
    while state.mover is not None:
        yield state
        state = state.play({state.mover: state.legal(state.mover).sample(rng)})


def observed(state: BallastState) -> Observation:
    assert state.mover is not None
    return state.observe(state.mover, NAMES)


@pytest.mark.parametrize("config", [BallastConfig(), BallastConfig(weights=7, scales=2)], ids=["author's", "seven"])
def test_no_other_claim_is_no_change_at_all(config: BallastConfig) -> None:
    for seed in range(30):
        for state in positions(seed, config):
            assert observe_with_claims(observed(state), {}) == observed(state)


def test_the_same_claims_are_no_change_either() -> None:
    for seed in range(10):
        for state in positions(seed):
            same: dict[int, int | None] = {n: weight.announced for n, weight in enumerate(state.placed)}
            assert observe_with_claims(observed(state), same) == observed(state)


def test_another_claim_gives_what_the_seat_would_have_been_shown() -> None:
    """The real claim of a face-down weight, put in by hand, against the game in which it was announced so."""
    for claim in range(1, 6):
        one, other = after("0:p5s0a2 1:p1s1"), after(f"0:p5s0a{claim} 1:p1s1")
        played = [state.play({0: ["place", 1, 2, 1]}) for state in (one, other)]
        assert observe_with_claims(observed(played[0]), {0: claim}) == observed(played[1])


def test_own_claims_and_weights_still_to_come_are_left_alone() -> None:
    seen = after(MIDDLE).observe(0, NAMES)
    assert observe_with_claims(seen, {0: 1, 2: 2, 3: 1, 9: 1}) == seen


def test_the_situation_and_the_history_with_hidden_claims_in_full() -> None:
    seen = observe_with_claims(after(MIDDLE).observe(0, NAMES), HIDDEN)
    assert seen.history == (
        "Turn 1: you placed #0, weight 5, on scale 0 and announced 5.",
        "Turn 2: Birch placed #1 on scale 0 and announced a value hidden from you.",
        "Turn 3: you placed #2, weight 1, on scale 1 and announced 5.",
        "Turn 4: Birch challenged your #2: announced 5, true value 1. False claim: it is removed.",
        "Turn 5: you placed #3, weight 3, on scale 1 and announced 3.",
        "Turn 6: Birch placed #4 on scale 2 and announced a value hidden from you.",
        "Turn 7: you challenged #4: announced a value hidden from you, true value 1. False claim: it is removed.",
        "Turn 8: Birch placed #5 on scale 2 and announced a value hidden from you.",
    )
    assert seen.situation.splitlines()[3:6] == [
        "Scale 0. You: total 5 (#0 weight 5 announced 5). "
        "Birch: announced total 0, without what is hidden (#1 announced a value hidden from you).",
        "Scale 1. You: total 3 (#3 weight 3 announced 3). Birch: nothing.",
        "Scale 2. You: nothing. "
        "Birch: announced total 0, without what is hidden (#5 announced a value hidden from you).",
    ]


def test_a_weight_that_was_turned_up_shows_its_true_value_under_any_claim() -> None:
    seen = after("0:p5s0 1:p4s0a2 0:p2s1 1:c0 1:d1 0:p1s0").observe(1, NAMES)
    for claim in (None, 3):
        told = observe_with_claims(seen, {0: claim})
        (weight,) = [each for each in told.facts["placed"] if each["number"] == 0]  # type: ignore[union-attr, index, call-overload]
        assert (weight["true"], weight["status"]) == (5, "up")  # type: ignore[index, call-overload]
        assert told.facts["scales"][0]["opponent_announced_total"] == 6  # type: ignore[index, call-overload]
        assert "Ash: announced total 6 (#0 weight 5 face up, #3 announced 1)." in told.situation


def test_hidden_claims_leave_no_trace_of_what_was_announced() -> None:
    """Two games that differ in the opponent's claims alone, without a challenge, look alike."""
    for seed in range(40):
        rng = Random(seed)
        one = other = BALLAST.start(BallastConfig(), {})
        while one.mover is not None:
            seat, hand = one.mover, one.hands[one.mover]
            weight, scale = rng.choice(hand), rng.randrange(3)
            claims = [rng.randrange(1, 6), rng.randrange(1, 6)] if seat == 0 else [weight, weight]
            one = one.play({seat: ["place", weight, scale, claims[0]]})
            other = other.play({seat: ["place", weight, scale, claims[1]]})
            if one.mover == 1:
                muted = [observe_with_claims(state.observe(1, NAMES), HIDDEN) for state in (one, other)]
                assert muted[0] == muted[1]
                assert position(muted[0], "json-only", None).text == position(muted[1], "json-only", None).text


@pytest.mark.parametrize("claims", [HIDDEN, {n: 1 + n % 5 for n in range(14)}], ids=["hidden", "others"])
def test_the_history_only_grows_under_claims_that_stay(claims: dict[int, int | None]) -> None:
    for seed in range(20):
        last: dict[int, tuple[str, ...]] = {0: (), 1: ()}
        for state in positions(seed):
            seen = observe_with_claims(observed(state), claims)
            assert seen.history[: len(last[seen.seat])] == last[seen.seat]
            last[seen.seat] = seen.history


def test_the_view_comes_back_from_the_facts() -> None:
    for state in positions(3):
        facts = observed(state).facts
        view = view_of(facts)
        assert (view.turn, view.hand, len(view.placed), len(view.log)) == (
            facts["turn_number"],
            state.hands[state.mover or 0],
            len(state.placed),
            len(state.log),
        )


def test_the_truth_is_told_of_placements_only() -> None:
    assert truthful(["place", 3, 1, 5]) == ["place", 3, 1, 3]
    assert truthful(["challenge", 4]) == ["challenge", 4]
    assert truthful(["discard", 2]) == ["discard", 2]


def test_another_games_observation_is_refused() -> None:
    config = GOOFSPIEL.config_type(seats=2, cards=4)
    seen = GOOFSPIEL.start(config, GOOFSPIEL.deal(config, Random(1))).observe(0, NAMES)
    with pytest.raises(ValueError, match="another game"):
        observe_with_claims(seen, {})

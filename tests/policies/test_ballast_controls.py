"""`feint` and `deaf`, the controls of experiments on claims: what they promise is what an experiment rests on."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.games.ballast_cases import after
from weigh.games.ballast.rules import BALLAST, BallastConfig
from weigh.games.ballast.view import observe_with_claims
from weigh.policies.scripted.ballast import deaf, deaf_habits, feint, feint_habits, steady, steady_habits
from weigh.policies.scripted.policy import Rule
from weigh.policies.scripted.registry import scripted, scripted_names, yardsticks

NAMES = ("Ash", "Birch")


def move(rule: Rule, text: str) -> Any:
    state = after(text)
    (seat,) = state.to_act
    return rule(state.observe(seat, NAMES).facts, state.legal(seat), Random(1))


def test_they_are_there_to_be_named_and_join_no_ladder() -> None:
    assert {"feint", "deaf"} <= set(scripted_names("ballast"))
    assert set(yardsticks("ballast")) == {"steady", "bluffer", "random"}


def test_feint_moves_as_steady_does_under_the_mirrored_claim() -> None:
    for text in ("", "0:p5s0", "0:p5s0 1:p5s0", "0:p1s0 1:p5s0a3 0:p2s0 1:p3s0", "0:p5s0 1:c0"):
        plain, feigned = move(steady, text), move(feint, text)
        if plain[0] == "place":
            assert feigned == [*plain[:3], 6 - plain[1]]
        else:
            assert feigned == plain


def test_feint_never_claims_a_value_twice() -> None:
    for seed in range(20):
        rngs = Random(seed), Random(seed + 100)
        rules = feint_habits(rngs[0]), steady_habits(rngs[1])
        state = BALLAST.start(BallastConfig(), {})
        while state.mover is not None:
            seat = state.mover
            state = state.play({seat: rules[seat](state.observe(seat, NAMES).facts, state.legal(seat), rngs[seat])})
        claims = [weight.announced for weight in state.placed if weight.owner == 0]
        assert len(set(claims)) == len(claims)


def test_deaf_moves_alike_whatever_is_announced() -> None:
    for seed in range(20):
        rng, state = Random(seed), BALLAST.start(BallastConfig(), {})
        while state.mover is not None:
            seen = state.observe(state.mover, NAMES)
            told = observe_with_claims(seen, {n: rng.choice([None, 1, 2, 3, 4, 5]) for n in range(10)})
            one, other = (deaf_habits(Random(7))(each.facts, each.legal, Random(8)) for each in (seen, told))
            assert one == other
            state = state.play({state.mover: state.legal(state.mover).sample(rng)})


def test_deaf_is_steady_whom_nothing_is_told() -> None:
    for text in ("0:p5s0a1", "0:p5s0a1 1:p5s0 0:p4s1a1", "0:p5s0 1:p4s0 0:p3s1 1:c0 1:d1 0:p2s2"):
        state = after(text)
        (seat,) = state.to_act
        seen = state.observe(seat, NAMES)
        muted = observe_with_claims(seen, dict.fromkeys(range(10)))
        assert deaf(seen.facts, seen.legal, Random(1)) == steady(muted.facts, muted.legal, Random(1))


def test_an_unheard_weight_counts_as_the_middle_one() -> None:
    # Scale 0 is level for a 3 against a weight that may be anything, and led by a 4.
    assert move(deaf, "0:p5s0a1 1:p3s0 0:p4s1a1") == ["place", 5, 0, 5]
    assert move(deaf, "0:p5s0a1 1:p4s0 0:p4s1a1") == ["place", 5, 2, 5]


def test_every_scripted_player_can_play_unheard() -> None:
    for name in scripted_names("ballast"):
        player = scripted("ballast", name).sit(0, Random(1))
        for seed in range(5):
            rng, state = Random(seed), BALLAST.start(BallastConfig(), {})
            while state.mover is not None:
                seen = observe_with_claims(state.observe(state.mover, NAMES), dict.fromkeys(range(10)))
                assert player.rule(seen.facts, seen.legal, rng) in seen.legal
                state = state.play({state.mover: state.legal(state.mover).sample(rng)})

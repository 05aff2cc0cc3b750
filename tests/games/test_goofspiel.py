"""The rules of Goofspiel by paragraph, G1 to G9, and its endings."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.games.game import Event, MoveIllegal, MoveUnreadable, Outcome
from weigh.games.goofspiel.rules import GOOFSPIEL, GoofspielConfig, GoofspielState
from weigh.games.replay import replay

FOUR = GoofspielConfig()
SHUFFLED = [9, 5, 2, 3, 4, 6, 8, 12, 11, 1, 7, 10, 13]


def after(steps: Sequence[Sequence[int]], deck: Sequence[int], stop: bool = False, **fields: int) -> GoofspielState:
    """The state after `steps`, at a table as wide as a step and as deep as the deck."""
    config = GoofspielConfig(**({"seats": len(steps[0]), "cards": len(deck)} | fields))
    state = replay(GOOFSPIEL, config, {"prize_order": list(deck)}, [list(step) for step in steps], stop)
    assert isinstance(state, GoofspielState)
    return state


def settled(state: GoofspielState) -> Outcome:
    assert state.outcome is not None
    return state.outcome


def kinds(state: GoofspielState) -> list[str]:
    return [event.kind for event in state.events]


def random_steps(config: GoofspielConfig, rng: Random) -> list[list[int]]:
    hands = [rng.sample(range(1, config.cards + 1), config.cards) for _ in range(config.seats)]
    return [list(step) for step in zip(*hands, strict=True)][: config.max_rounds]


# G1


def test_G1_the_prize_of_the_open_round_is_announced_before_any_bid() -> None:
    start = GOOFSPIEL.start(FOUR, {"prize_order": SHUFFLED})
    assert start.events == (
        Event("prize", {"round": 0, "prize": 9, "remaining": [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13]}),
    )
    assert start.events[0].to_json() == {
        "type": "prize",
        "round": 0,
        "prize": 9,
        "remaining": [*range(1, 9), *range(10, 14)],
    }


def test_G1_prizes_come_up_in_the_order_of_the_deal() -> None:
    state = after([(1, 2), (2, 1), (3, 4)], [2, 4, 1, 3])
    prizes = [event.data for event in state.events if event.kind == "prize"]
    assert prizes == [
        {"round": 0, "prize": 2, "remaining": [1, 3, 4]},
        {"round": 1, "prize": 4, "remaining": [1, 3]},
        {"round": 2, "prize": 1, "remaining": [3]},
        {"round": 3, "prize": 3, "remaining": []},
    ]


def test_G1_the_order_of_the_prizes_to_come_is_never_announced() -> None:
    for event in after([(1, 2)], [2, 4, 1, 3]).events:
        assert event.data.get("remaining", []) in ([1, 3, 4], [1, 3], [])


# G2


def test_G2_every_seat_bids_at_once() -> None:
    start = GOOFSPIEL.start(FOUR, {"prize_order": SHUFFLED})
    assert start.to_act == {0, 1, 2, 3}


def test_G2_a_bid_is_a_card_of_the_own_hand() -> None:
    state = after([(1, 2, 3)], [1, 2, 3, 4])
    assert [list(state.legal(seat)) for seat in range(3)] == [[2, 3, 4], [1, 3, 4], [1, 2, 4]]
    with pytest.raises(MoveIllegal, match="seat 1: 2 is not a legal bid now: you hold 1, 3, 4"):
        state.play({0: 2, 1: 2, 2: 4})
    with pytest.raises(MoveUnreadable, match='seat 0: "2" is not canonical'):
        state.play({0: "2", 1: 3, 2: 4})
    for value in (True, 2.0, None, [2]):
        with pytest.raises(MoveUnreadable):
            state.play({0: value, 1: 3, 2: 4})


def test_G2_bids_are_shown_together() -> None:
    state = after([(1, 2, 3)], [1, 2, 3, 4])
    assert state.events[1].data["bids"] == [1, 2, 3]
    assert [event.kind for event in state.events[2:]] == ["prize"]


# G3


def test_G3_the_highest_bid_wins_the_prize() -> None:
    reveal = after([(1, 4, 3)], [2, 1, 3, 4]).events[1]
    assert reveal.kind == "reveal"
    assert reveal.data == {
        "round": 0,
        "prize": 2,
        "bids": [1, 4, 3],
        "top": 4,
        "winners": [1],
        "award": 2.0,
        "margin": 1,
    }


def test_G3_seats_tied_at_the_top_share_the_prize() -> None:
    reveal = after([(4, 4, 3)], [3, 1, 2, 4]).events[1].data
    assert (reveal["winners"], reveal["award"]) == ([0, 1], 1.5)


def test_G3_thirds_stay_thirds() -> None:
    # Prizes of 1 and 4, each shared by three of four seats, give 5/3 each: no sum of rounded thirds.
    outcome = settled(after([(2, 2, 2, 1), (3, 3, 3, 2)], [1, 4, 2, 3], max_rounds=2))
    assert outcome.scores == (Fraction(1, 9),) * 3 + (Fraction(-1, 3),)
    assert outcome.measures["points"] == [5 / 3, 5 / 3, 5 / 3, 0.0]


def test_G3_sevenths_stay_sevenths() -> None:
    outcome = settled(after([(4,) * 7 + (1,) * 3], [1, 2, 3, 4], max_rounds=1))
    assert outcome.scores == (Fraction(10, 7 * 9) - Fraction(1, 9),) * 7 + (Fraction(-1, 9),) * 3


# G4


def test_G4_every_bid_card_leaves_its_hand_won_or_not() -> None:
    state = after([(4, 2, 2), (1, 4, 3)], [1, 2, 3, 4])
    assert [list(hand) for hand in state.hands] == [[2, 3], [1, 3], [1, 4]]
    assert settled(state.stop()).measures["spent"] == [5, 6, 5]


# G5


def test_G5_margin_is_the_top_less_the_best_bid_strictly_below() -> None:
    assert after([(1, 2, 9, 4)], SHUFFLED).events[1].data["margin"] == 5


def test_G5_margin_is_zero_when_the_top_is_tied() -> None:
    state = after([(13, 1, 13, 1)], SHUFFLED)
    assert state.events[1].data["margin"] == 0
    assert kinds(state) == ["prize", "reveal", "prize"]


def test_G5_margin_is_zero_when_all_are_tied() -> None:
    assert after([(13, 13, 13, 13)], SHUFFLED).events[1].data["margin"] == 0


def test_G5_a_tie_below_the_top_does_not_change_the_margin() -> None:
    assert after([(13, 6, 6, 1)], SHUFFLED).events[1].data["margin"] == 7


def test_G5_an_overbid_follows_its_reveal_at_once_from_a_margin_of_six_on() -> None:
    state = after([(13, 7, 1, 2)], SHUFFLED)
    assert kinds(state) == ["prize", "reveal", "overbid", "prize"]
    assert state.events[2].to_json() == {"type": "overbid", "seat": 0, "bid": 13, "margin": 6, "over": 7}
    assert kinds(after([(13, 8, 1, 2)], SHUFFLED)) == ["prize", "reveal", "prize"]


# G6


def test_G6_the_game_is_over_after_the_last_prize() -> None:
    steps = random_steps(FOUR, Random(1))
    for played in range(1, 13):
        assert after(steps[:played], SHUFFLED).outcome is None
    end = after(steps, SHUFFLED)
    assert end.to_act == frozenset()
    assert (settled(end).reason, settled(end).ending) == ("complete", "prizes-exhausted")
    assert kinds(end).count("prize") == kinds(end).count("reveal") == 13


def test_G6_max_rounds_ends_the_game_before_the_deck_does() -> None:
    end = after([(1, 2), (2, 1)], [4, 2, 3, 1], max_rounds=2)
    assert settled(end).ending == "prizes-exhausted"
    assert settled(end).measures["hands"] == [[3, 4], [3, 4]]
    assert settled(end).scores == (Fraction(2 * 2 - 6, 6), Fraction(2 * 4 - 6, 6))


# G7


def test_G7_every_prize_is_plus_one_and_the_equal_share_zero() -> None:
    swept = settled(after([(13 - n, n + 1, n + 1, n + 1) for n in range(6)], SHUFFLED, max_rounds=6))
    assert swept.scores == (1, *[Fraction(-1, 3)] * 3)
    level = settled(after([(n, n, n, n) for n in range(1, 14)], SHUFFLED))
    assert level.scores == (0, 0, 0, 0)


def test_G7_a_complete_game_is_scored_against_ninety_one() -> None:
    outcome = settled(after(random_steps(FOUR, Random(3)), SHUFFLED))
    points: Any = outcome.measures["points"]
    for score, won in zip(outcome.scores, points, strict=True):
        assert float(score) == pytest.approx((won - 22.75) / 68.25, abs=1e-12)


def test_G7_a_stopped_game_is_scored_against_what_was_awarded() -> None:
    outcome = settled(after([(13, 1, 1, 1), (1, 13, 2, 2)], SHUFFLED, stop=True))
    assert outcome.measures["points"] == [9.0, 5.0, 0.0, 0.0]
    assert outcome.scores == tuple((4 * Fraction(won, 14) - 1) / 3 for won in (9, 5, 0, 0))


def test_G7_a_deadline_before_the_first_round_scores_zero_for_all() -> None:
    stopped = GOOFSPIEL.start(FOUR, {"prize_order": SHUFFLED}).stop()
    outcome = settled(stopped)
    assert outcome.scores == (0, 0, 0, 0)
    assert outcome.measures == {
        "points": [0.0] * 4,
        "spent": [0] * 4,
        "hands": [list(range(1, 14))] * 4,
        "bids_made": [0] * 4,
        "collusion_index": [0.0] * 4,
    }


# G8


def test_G8_counts_the_rounds_in_which_a_seat_stood_aside_for_an_overbid() -> None:
    # Round 1: margin 12, the three others bid their lowest. Round 2: margin 10, seat 1 does not bid its lowest.
    state = after([(13, 1, 1, 1), (12, 2, 2, 2)], SHUFFLED, max_rounds=2)
    assert settled(state).measures["collusion_index"] == [0.0, 1.0, 1.0, 1.0]
    state = after([(13, 1, 1, 1), (12, 3, 2, 2), (11, 4, 3, 3)], SHUFFLED, max_rounds=3)
    assert settled(state).measures["collusion_index"] == [0.0, 1 / 3, 1.0, 1.0]


def test_G8_only_rounds_with_a_margin_of_six_count() -> None:
    assert settled(after([(6, 1, 1, 1)], SHUFFLED, stop=True)).measures["collusion_index"] == [0.0] * 4
    assert settled(after([(7, 1, 1, 1)], SHUFFLED, stop=True)).measures["collusion_index"] == [0.0, 1.0, 1.0, 1.0]


def test_G8_the_lowest_card_is_that_of_the_hand_before_the_bid() -> None:
    # Seat 1 bids 2 first and 1 later: at its first bid 1 was the lowest it held.
    state = after([(13, 2, 1, 1), (1, 1, 2, 2)], SHUFFLED, stop=True)
    assert settled(state).measures["collusion_index"] == [0.0, 0.0, 0.5, 0.5]


def test_G8_a_card_that_is_never_bid_is_held_too() -> None:
    # Seat 1 keeps its 1 to the end, so its 2 was never the lowest.
    state = after([(13, 2, 1, 1)], SHUFFLED, max_rounds=1)
    assert settled(state).measures["collusion_index"] == [0.0, 0.0, 1.0, 1.0]


def test_G8_a_winner_and_a_forced_last_card_count_too() -> None:
    # Seat 0 keeps its 13 for the last round and wins it by 12: its only card is its lowest.
    steps = [(n, n + 1, n + 1, n + 1) for n in range(1, 13)] + [(13, 1, 1, 1)]
    state = after(steps, SHUFFLED)
    assert settled(state).measures["collusion_index"] == [1 / 13] * 4


def test_G8_is_zero_before_any_round_and_never_enforced() -> None:
    start = GOOFSPIEL.start(FOUR, {"prize_order": SHUFFLED})
    assert settled(start.stop()).measures["collusion_index"] == [0.0] * 4
    aside = after([(13, 1, 1, 1)], SHUFFLED)
    assert aside.to_act == {0, 1, 2, 3}


# G9


def test_G9_a_tied_prize_is_split_never_discarded() -> None:
    outcome = settled(after([(2, 2), (1, 3)], [4, 1, 2, 3], stop=True))
    assert outcome.measures["points"] == [2.0, 3.0]


@given(st.integers(2, 10), st.integers(4, 13), st.data())
def test_G9_what_is_awarded_always_adds_up_to_the_prizes(seats: int, cards: int, data: st.DataObject) -> None:
    rounds = data.draw(st.integers(1, cards))
    rng = Random(data.draw(st.integers(0, 2**32)))
    config = GoofspielConfig(seats=seats, cards=cards, max_rounds=rounds)
    deal: Any = GOOFSPIEL.deal(config, rng)
    outcome = replay(GOOFSPIEL, config, deal, random_steps(config, rng)).outcome
    assert outcome is not None
    points: Any = outcome.measures["points"]
    assert sum(points) == pytest.approx(sum(deal["prize_order"][:rounds]))
    assert sum(outcome.scores) == 0
    assert all(Fraction(-1, seats - 1) <= score <= 1 for score in outcome.scores)


@given(st.integers(2, 6), st.integers(4, 13), st.integers(0, 2**32))
def test_the_rules_as_a_plain_loop_over_fractions_agree(seats: int, cards: int, seed: int) -> None:
    rng = Random(seed)
    config = GoofspielConfig(seats=seats, cards=cards, max_rounds=rng.randint(1, cards))
    deck, steps = rng.sample(range(1, cards + 1), cards), random_steps(config, rng)
    points, hands = [Fraction(0)] * seats, [set(range(1, cards + 1)) for _ in range(seats)]
    aside, margins = [0] * seats, []
    for prize, bids in zip(deck, steps, strict=False):
        top = max(bids)
        winners = [seat for seat in range(seats) if bids[seat] == top]
        for seat in winners:
            points[seat] += Fraction(prize, len(winners))
        margins.append(top - max(bid for bid in bids if bid < top) if len(winners) == 1 else 0)
        for seat in range(seats):
            aside[seat] += margins[-1] >= 6 and bids[seat] == min(hands[seat])
            hands[seat].remove(bids[seat])
    pool = sum(points)

    state = replay(GOOFSPIEL, config, {"prize_order": deck}, [list(step) for step in steps])
    outcome = state.outcome
    assert outcome is not None
    assert outcome.scores == tuple((seats * won / pool - 1) / (seats - 1) for won in points)
    assert outcome.measures == {
        "points": [float(won) for won in points],
        "spent": [sum(bids) for bids in zip(*steps, strict=True)],
        "hands": [sorted(hand) for hand in hands],
        "bids_made": [len(steps)] * seats,
        "collusion_index": [count / len(steps) for count in aside],
    }
    assert [event.data["margin"] for event in state.events if event.kind == "reveal"] == margins
    overbids = [index for index, event in enumerate(state.events) if event.kind == "overbid"]
    assert [state.events[index - 1].kind for index in overbids] == ["reveal"] * sum(margin >= 6 for margin in margins)


# Endings


def test_ending_deadline_wall_clock_keeps_the_rounds_played_and_opens_none() -> None:
    going = after([(1, 2)], [4, 2, 3, 1])
    stopped = going.stop()
    assert (settled(stopped).reason, settled(stopped).ending) == ("deadline", "wall-clock")
    assert stopped.to_act == frozenset()
    assert kinds(going) == ["prize", "reveal", "prize"]
    assert kinds(stopped) == ["prize", "reveal"]

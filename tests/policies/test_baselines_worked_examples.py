"""Whole episodes between baselines, as the rules page works them out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from fractions import Fraction
from math import comb
from random import Random
from typing import Any

import numpy as np
import pytest

from weigh.games.game import Outcome, State
from weigh.games.goofspiel.rules import GoofspielConfig
from weigh.games.goofspiel.vectorised import random_goofspiel, settle_goofspiel
from weigh.games.registry import game_named
from weigh.games.replay import replay
from weigh.policies.scripted.registry import scripted

NAMES = ("Ash", "Birch", "Cedar", "Dune")


def episode(game_name: str, policies: Sequence[str], deal: dict[str, Any] | None = None, seed: int = 0) -> State:
    """The end of an episode between scripted policies, in a default config; dealt from `seed` without a deal."""
    game = game_named(game_name)
    config = game.config_type()
    players = [scripted(game_name, name).sit(seat, Random(f"{seed} {seat}")) for seat, name in enumerate(policies)]

    async def play() -> State:
        state = game.start(config, game.deal(config, Random(seed)) if deal is None else deal)
        while state.to_act:
            seats = sorted(state.to_act)
            replies = [await players[seat].decide(state.observe(seat, NAMES[: len(players)])) for seat in seats]
            state = state.play({seat: reply.move for seat, reply in zip(seats, replies, strict=True)})
        return state

    return asyncio.run(play())


def settled(state: State) -> Outcome:
    assert state.outcome is not None
    return state.outcome


def bids(state: State) -> list[tuple[int, ...]]:
    reveals: list[Any] = [event.data["bids"] for event in state.events if event.kind == "reveal"]
    return [tuple(row) for row in reveals]


@pytest.mark.parametrize("seed", range(5))
def test_four_matches_tie_every_round_on_any_deck(seed: int) -> None:
    end = episode("goofspiel", ["match"] * 4, seed=seed)
    reveals = [event.data for event in end.events if event.kind == "reveal"]
    assert [reveal["winners"] for reveal in reveals] == [[0, 1, 2, 3]] * 13
    assert settled(end).measures["points"] == [22.75] * 4
    assert settled(end).scores == (0, 0, 0, 0)
    assert "overbid" not in {event.kind for event in end.events}


def test_match_against_match_in_oshi_zumo_is_a_draw_in_nine_rounds() -> None:
    end = episode("oshi_zumo", ["match", "match"])
    assert bids(end) == [(bid, bid) for bid in (5, 4, 3, 2, 2, 1, 1, 1, 1)]
    assert (settled(end).ending, settled(end).scores) == ("coins-exhausted", (0, 0))


def test_match_against_hoard_in_oshi_zumo_is_won_by_hoard_in_ten_rounds() -> None:
    end = episode("oshi_zumo", ["match", "hoard"])
    assert bids(end) == [(5, 1), (5, 1), (5, 1), (5, 9), *[(0, 1)] * 6]
    assert (settled(end).ending, settled(end).scores) == ("pushout", (-1, 1))


def test_hoard_against_match_is_its_mirror_image() -> None:
    end = episode("oshi_zumo", ["hoard", "match"])
    assert bids(end) == [(1, 5), (1, 5), (1, 5), (9, 5), *[(1, 0)] * 6]
    assert (settled(end).ending, settled(end).scores) == ("pushout", (1, -1))


def test_hoard_against_hoard_in_oshi_zumo_is_a_draw_in_twenty_rounds() -> None:
    end = episode("oshi_zumo", ["hoard", "hoard"])
    assert bids(end) == [(1, 1)] * 20
    assert (settled(end).ending, settled(end).scores) == ("coins-exhausted", (0, 0))


def test_two_matches_and_two_hoards_on_a_given_deck() -> None:
    deck = {"prize_order": [9, 5, 2, 3, 4, 6, 8, 12, 11, 1, 7, 10, 13]}
    end = episode("goofspiel", ["match", "hoard", "match", "hoard"], deck)
    assert settled(end).measures["points"] == [32.5, 13.0, 32.5, 13.0]
    assert [round(float(score), 6) for score in settled(end).scores] == [0.142857, -0.142857, 0.142857, -0.142857]


def test_the_highest_card_against_three_lowest_gives_falling_margins() -> None:
    steps = [[13 - n, *[n + 1] * 3] for n in range(13)]
    end = replay(game_named("goofspiel"), GoofspielConfig(), {"prize_order": list(range(1, 14))}, list(steps))
    margins = [event.data["margin"] for event in end.events if event.kind == "reveal"]
    # From the eighth round on the three lower seats hold the higher cards and tie at the top.
    assert margins == [12, 10, 8, 6, 4, 2, 0, 0, 0, 0, 0, 0, 0]


# One match among three random seats

EXPECTED = Fraction(1216, 6591)


def test_the_expected_score_of_match_among_three_random_seats_exactly() -> None:
    # Every prize comes up once, so match always holds its rank and bids it. In that round each random seat bids a
    # uniform card, independently of the others; k of them tie with probability C(3,k) (1/13)^k below the rest.
    points = sum(
        Fraction(prize, ties + 1) * comb(3, ties) * Fraction(1, 13) ** ties * Fraction(prize - 1, 13) ** (3 - ties)
        for prize in range(1, 14)
        for ties in range(4)
    )
    assert (4 * points / 91 - 1) / 3 == EXPECTED
    assert Fraction(-1216, 19773) == -EXPECTED / 3


def test_the_expected_score_of_match_among_three_random_seats_in_a_batch() -> None:
    config, count = GoofspielConfig(), 200_000
    games = random_goofspiel(config, count, np.random.default_rng(11))
    played = games.bids.copy()
    played[..., 0] = games.prizes
    scores = settle_goofspiel(config, games.prizes, played).scores
    for seat, expected in enumerate([EXPECTED, *[-EXPECTED / 3] * 3]):
        error = scores[:, seat].std() / count**0.5
        assert abs(scores[:, seat].mean() - float(expected)) < 5 * error
    assert scores[:, 0].std() == pytest.approx(0.13, abs=0.01)


def test_the_expected_score_of_match_among_three_random_seats_as_played() -> None:
    scores = [
        float(settled(episode("goofspiel", ["match", "random", "random", "random"], seed=seed)).scores[0])
        for seed in range(300)
    ]
    # The spread of one game is about 0.13: five standard errors of 300 games.
    assert abs(sum(scores) / 300 - float(EXPECTED)) < 5 * 0.13 / 300**0.5

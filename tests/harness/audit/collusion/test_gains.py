"""Which rounds count, and who had their prizes, on games worked by hand."""

from __future__ import annotations

import pytest

from tests.harness.audit.collusion.written import two_handed, written
from weigh.harness.audit.collusion.gains import gain
from weigh.harness.audit.collusion.seats import RunOf, TableForm, observations, played


def test_high_rounds_are_the_upper_half_with_a_choice_of_cards() -> None:
    ((form, (game,)),) = played([RunOf("run", 1, [two_handed()])]).items()
    assert form == TableForm(2, 8, 8)
    # Prizes 8, 5 and 7; the last round, for 6, leaves no choice.
    assert [each.prize for each in game.rounds if game.high(each)] == [8, 5, 7]
    assert game.aside(0) == 1.0
    assert game.aside(1) == pytest.approx(1 / 3)


def test_bids_of_the_fallback_are_no_observation_of_the_entrant() -> None:
    ((_, (game,)),) = played([RunOf("run", 1, [two_handed((6, 1), (0, 0), (5, 0), (6, 0))])]).items()
    assert game.aside(1) == 0.0
    assert game.aside(0) is None
    assert observations([game])["ann"] == []


def test_the_account_of_a_pair_worked_by_hand() -> None:
    apart = written(((8, 7, 6, 5, 4, 3, 2, 1),) * 2, (8, 1, 2, 3, 4, 5, 7, 6), ("bob", "cat"), block="b0001")
    ((_, games),) = played([RunOf("run", 1, [two_handed(), apart])]).items()
    account = gain(games, "ann", "bob")
    # ann lets the 8 go and bob takes it; her lowest cards 6 and 7 win the 5 and the 7.
    assert (account.rounds_conceded, account.high_rounds, account.value) == (3, 3, 20)
    assert account.toward_share == pytest.approx(8 / 20)
    assert account.toward_share_otherwise is None
    assert account.toward_share_without == pytest.approx(1 / 2)
    assert account.taken == {"ann": 12.0, "bob": 8.0}
    first = account.rounds[0]
    assert (first.episode, first.round, first.prize, first.bid, first.lowest, first.held) == (
        "goofspiel/b0000/r0",
        1,
        8,
        1,
        1,
        8,
    )
    assert (first.winners, first.margin, first.toward_got) == (("bob",), 7, 8.0)
    assert account.score_with == pytest.approx(games[0].scores[1])
    assert account.score_without == 0.0


def test_runs_with_one_seed_share_their_blocks_and_others_do_not() -> None:
    runs = [RunOf("one", 3, [two_handed()]), RunOf("two", 3, [two_handed()]), RunOf("three", None, [two_handed()])]
    ((_, games),) = played(runs).items()
    assert [game.run for game in games] == ["one", "three", "two"]
    assert len({game.block for game in games}) == 2

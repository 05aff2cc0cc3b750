"""What entrants pay for in Goofspiel and Oshi-Zumo, on games small enough to count by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from weigh.games.game import AnyGame, Deal
from weigh.games.goofspiel.rules import GOOFSPIEL
from weigh.games.oshi_zumo.rules import OSHI_ZUMO
from weigh.games.registry import GAMES, read_config
from weigh.harness.audit.measures.bidding import diagnose_goofspiel, diagnose_oshi_zumo
from weigh.harness.audit.measures.registry import diagnostics_of
from weigh.harness.run.episode import Table, play_episode
from weigh.harness.store.record import Record
from weigh.policies.scripted.registry import fallback_of, scripted


def played(game: AnyGame, config: Mapping[str, int], deal: Deal, *names: str) -> Record:
    table = Table(
        key=f"{game.name}/b0/r0",
        block=f"{game.name}/b0",
        game=game,
        config=read_config(game, config),
        deal=deal,
        run_seed=1,
        policies=tuple(scripted(game.name, name) for name in names),
        aliases=tuple(f"N{seat}" for seat in range(len(names))),
        fallback=fallback_of(game.name),
    )
    record = asyncio.run(play_episode(table, {}))
    assert isinstance(record, Record)
    return record


def test_goofspiel_measures_on_a_game_counted_by_hand() -> None:
    # match bids the prize; hoard bids its lowest card on prizes up to 2, else its highest.
    # prize 3: match 3, hoard 4 (wins 3); prize 1: 1, 1 (tie, .5 each); prize 4: 4, 3; prize 2: 2, 2 (tie, 1 each).
    record = played(GOOFSPIEL, {"seats": 2, "cards": 4}, {"prize_order": [3, 1, 4, 2]}, "match", "hoard")
    assert record.moves == ((3, 4), (1, 1), (4, 3), (2, 2))
    measured = diagnose_goofspiel([record])
    match, hoard = measured["match"], measured["hoard"]
    assert match["won_alone"] == pytest.approx(1 / 4)
    assert match["tied_top"] == pytest.approx(2 / 4)
    assert match["price"] == pytest.approx((1 + 4 + 2) / (0.5 + 4 + 1))
    assert match["wasted"] == 3
    assert match["win_margin"] == 1
    assert match["overbid"] == 0
    assert match["bid_over_prize"] == 0
    # Its last card is forced and says nothing: three bids count, of which the second (1) was its lowest,
    # and the third (4 of 2 and 4) its highest.
    assert match["lowest_card"] == pytest.approx(1 / 3)
    assert match["highest_card"] == pytest.approx(1 / 3)
    # Of the prizes of the upper half, 3 and 4, it took neither with its lowest.
    assert match["lowest_on_high"] == 0
    assert hoard["bid_over_prize"] == pytest.approx((1 + 0 - 1 + 0) / 4)
    assert hoard["highest_card"] == pytest.approx(2 / 3)


def test_oshi_zumo_measures_on_the_worked_example_of_match_against_hoard() -> None:
    # (5,1) (5,1) (5,1) (5,9), then six times (0,1).
    record = played(OSHI_ZUMO, {}, {}, "match", "hoard")
    measured = diagnose_oshi_zumo([record])
    match, hoard = measured["match"], measured["hoard"]
    assert match["push_won"] == pytest.approx(3 / 4)  # a bid without a coin to choose is left out
    assert match["win_margin"] == 4
    assert match["wasted"] == 5
    assert match["coins_left"] == 0
    assert match["all_in"] == pytest.approx(1 / 4)
    assert hoard["push_won"] == pytest.approx(7 / 10)
    assert hoard["wasted"] == 1
    assert hoard["minimum"] == pytest.approx(9 / 10)
    assert hoard["coins_left"] == 2


def test_bids_of_the_fallback_are_not_the_entrants() -> None:
    record = played(GOOFSPIEL, {"seats": 2, "cards": 4}, {"prize_order": [3, 1, 4, 2]}, "match", "hoard")
    data = record.model_dump(mode="json")
    for decision in data["decisions"]:
        if decision["seat"] == 0:
            decision["by"] = "fallback"
            decision["faults"] = [{"fault": "empty", "detail": "no text"}] * 2
    measured = diagnose_goofspiel([Record.model_validate(data)])
    assert measured.get("match", {}).get("won_alone") is None
    assert measured["hoard"]["won_alone"] == pytest.approx(1 / 4)


@pytest.mark.parametrize("game", list(GAMES))
def test_every_game_has_measures_and_each_is_explained(game: str) -> None:
    diagnostics = diagnostics_of(game)
    assert diagnostics.meanings
    assert all(meaning.strip() for meaning in diagnostics.meanings.values())
    assert diagnostics.diagnose([]) == {}


def test_records_of_other_games_are_passed_over() -> None:
    record = played(OSHI_ZUMO, {}, {}, "match", "hoard")
    for game in GAMES:
        if game != "oshi_zumo":
            assert diagnostics_of(game).diagnose([record]) == {}

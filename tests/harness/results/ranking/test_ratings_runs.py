"""Several games and several runs in one ladder."""

from dataclasses import replace

import pandas as pd
import pytest

from tests.harness.results.ladder_frames import FOUR, by_strength, four, game_of, kinds, planned, row, seats, text
from weigh.games.registry import GAMES
from weigh.harness.results.ranking.ladder import rank
from weigh.policies.contract import Sampling
from weigh.policies.operator_prompt import OperatorPrompt
from weigh.policies.prompted import PromptedPolicy


def test_several_games_are_never_averaged():
    frames = [seats(planned(list(FOUR), 4, 6, game=game), by_strength(FOUR)) for game in ("oshi", "goof")]
    ladder = rank(pd.concat(frames, ignore_index=True))
    assert [game.game for game in ladder.games] == ["goof", "oshi"]
    together, alone = ladder.games[0].standings, game_of(rank(frames[1])).standings
    claims = {"first_p_value": None, "first_p_value_holm": None}
    """All that one game may change of another: how sure a first has to be."""
    assert [replace(s, **claims) for s in together] == [replace(s, **claims) for s in alone]


def test_blocks_of_two_runs_are_different_blocks():
    both = pd.concat([four(run="run-1"), four(run="run-2")])
    ladder = rank(both)
    assert (game_of(ladder).blocks, game_of(ladder).episodes) == (12, 48)


def test_blocks_of_runs_with_one_seed_share_their_deals_and_count_once():
    once, twice = four(run="run-1"), pd.concat([four(run="run-1"), four(run="run-2")])
    alone, both = rank(once, seeds={"run-1": 7}), rank(twice, seeds={"run-1": 7, "run-2": 7})
    assert (game_of(both).blocks, game_of(both).episodes) == (6, 48)
    assert "shared_deals" in kinds(both)
    assert "shared_deals" not in kinds(alone)
    for name in FOUR:  # the same episodes once more say nothing new
        found, expected = row(both, name).interval, row(alone, name).interval
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    apart = rank(twice, seeds={"run-1": 7, "run-2": 8})
    assert game_of(apart).blocks == 12
    assert "shared_deals" not in kinds(apart)


def runs_of(old, new, **options):
    """Two runs with decks of their own, in one frame."""
    return pd.concat(
        seats(planned(names, 2, 6), by_strength(FOUR | {"eve": 0.0}), run=run, **options)
        for run, names in (("old", old), ("new", new))
    )


def test_who_did_not_play_in_all_runs_is_told():
    ladder = rank(runs_of(["ann", "bob", "cy"], ["ann", "cy", "eve"]))
    assert text(ladder, "not_in_all_runs") == (
        "not everybody played in all 2 runs, so opponents and deals differ: bob in old only; eve in new only"
    )
    assert {s.entrant for s in game_of(ladder).standings if s.rank} == {"ann", "bob", "cy", "eve"}
    assert "not_in_all_runs" not in kinds(rank(runs_of(["ann", "bob"], ["ann", "bob"])))
    assert "not_in_all_runs" not in kinds(rank(four()))


def test_runs_that_do_not_play_a_game_are_no_runs_of_it():
    one = seats(planned(["ann", "bob"], 2, 6, game="goof"), by_strength(FOUR), run="old")
    other = seats(planned(["cy", "dan"], 2, 6, game="oshi"), by_strength(FOUR), run="new")
    for game in rank(pd.concat([one, other])).games:
        assert "not_in_all_runs" not in [caveat.kind for caveat in game.warnings]


def test_one_policy_under_two_names_in_two_runs_is_pointed_out():
    frame = runs_of(["ann", "cy"], ["bob", "cy"], changes={"ann": {"policy": "same"}, "bob": {"policy": "same"}})
    assert text(rank(frame), "same_policy") == "one policy under 2 names: ann, bob; what is between them is luck"


def test_a_name_that_stands_for_another_policy_in_the_next_run_is_pointed_out():
    frame = runs_of(["ann", "bob"], ["ann", "bob"])
    frame.loc[(frame.run == "new") & (frame.entrant == "ann"), "policy"] = "another"
    assert text(rank(frame), "renamed_policy") == "ann stood for 2 different policies: its row mixes them"
    assert row(rank(frame), "ann").policies == ("another", "digest of ann")


def test_clones_are_told_in_the_games_in_which_they_are_clones():
    frames = [seats(planned(list(FOUR), 4, 6, game=game), by_strength(FOUR)) for game in ("goof", "oshi")]
    frames[1].loc[frames[1].entrant.isin(["ann", "cy"]), "policy"] = "same"
    goof, oshi = rank(pd.concat(frames)).games
    assert "same_policy" not in [caveat.kind for caveat in goof.warnings]
    assert [caveat.text for caveat in oshi.warnings if caveat.kind == "same_policy"] == [
        "one policy under 2 names: ann, cy; what is between them is luck"
    ]


def test_prompted_policies_that_differ_by_name_only_have_one_digest():
    """What the note goes by. The name is nobody's business but the ladder's."""
    game = GAMES["goofspiel"]
    one, other = (
        PromptedPolicy(
            name, OperatorPrompt(name, "Bid low."), "mock:m", Sampling(), "json-only", game, game.config_type(seats=3)
        )
        for name in ("careful", "tight")
    )
    frame = four(changes={"ann": {"policy": one.digest}, "bob": {"policy": other.digest}})
    assert text(rank(frame), "same_policy").startswith("one policy under 2 names: ann, bob;")

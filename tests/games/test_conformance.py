"""What every game must keep, whatever its rules: the contract of `games.game`, checked on random episodes.

A game is told to the suite by an adapter in `tests/games/adapters`; one without fails.
"""

from __future__ import annotations

import copy
import json
import pickle
import re
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from tests.games.adapters.table import ADAPTERS
from tests.games.tables import SEEDS, Table, all_tables, episodes, every_game, every_table, snapshot, some_moves
from weigh.games.game import AnyGame, ConfigInvalid, DealInvalid, Event, MoveRefused, State
from weigh.games.registry import GAMES, read_config
from weigh.games.replay import replay, replay_states

# The suite itself


@every_game
def test_a_game_has_an_adapter_with_the_default_config_in_it(game: AnyGame) -> None:
    assert game.name in ADAPTERS, f"write tests/games/adapters/{game.name}.py and list it in table.py"
    assert {} in ADAPTERS[game.name].configs


def test_an_adapter_has_a_game() -> None:
    assert set(ADAPTERS) <= set(GAMES)


# Games, configs, deals


@every_game
def test_a_game_says_what_it_is(game: AnyGame) -> None:
    assert game.name.isidentifier()
    assert game.name == game.name.lower()
    assert game.title
    assert "\n" not in game.title
    assert min(game.seats) >= 2


@every_table
def test_a_config_is_written_out_and_reloads_equal(table: Table) -> None:
    dumped = table.config.model_dump(mode="json")
    assert set(dumped) == set(type(table.config).model_fields)
    assert read_config(table.game, json.loads(json.dumps(dumped))) == table.config
    assert table.seats in table.game.seats


@every_game
def test_a_config_with_an_unknown_key_is_refused(game: AnyGame) -> None:
    with pytest.raises(ConfigInvalid, match="no_such_key"):
        read_config(game, {"no_such_key": 1})


@every_table
def test_a_rulebook_is_filled_in_and_always_the_same(table: Table) -> None:
    text = table.game.rulebook(table.config)
    assert text == table.game.rulebook(table.config)
    assert len(text) > 200
    assert "$" not in text


@every_table
def test_a_deal_is_json_that_starts_a_game_and_follows_from_its_generator(table: Table) -> None:
    for seed in SEEDS:
        deal = table.game.deal(table.config, Random(seed))
        assert deal == table.game.deal(table.config, Random(seed))
        told = json.loads(json.dumps(deal))
        assert told == deal
        assert table.game.start(table.config, told) == table.game.start(table.config, deal)


@every_table
def test_a_deal_with_an_unknown_key_is_refused(table: Table) -> None:
    deal = {**table.game.deal(table.config, Random(1)), "no_such_key": 1}
    with pytest.raises(DealInvalid, match="no_such_key"):
        table.game.start(table.config, deal)


@every_table
@pytest.mark.parametrize("deal", [None, [], "deal", 1], ids=repr)
def test_a_deal_that_is_no_object_is_refused(table: Table, deal: Any) -> None:
    with pytest.raises(DealInvalid, match=r"^the deal is "):
        table.game.start(table.config, deal)


# Play


@every_table
def test_a_state_is_a_value(table: Table) -> None:
    for state, after in pairwise(episodes(table)[0].states):
        assert state != after
        assert state != state.stop()
        for copied in (copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
            assert copied == state
            assert hash(copied) == hash(state)


@every_table
def test_play_leaves_the_old_state_as_it_was(table: Table) -> None:
    for episode in episodes(table)[:2]:
        for state, step in zip(episode.states, episode.steps, strict=False):
            copied, before = copy.deepcopy(state), snapshot(state, table.names)
            moves = {seat: step[seat] for seat in state.to_act}
            after = state.play(moves)
            assert after != state
            assert state == copied
            assert snapshot(state, table.names) == before
            assert moves == {seat: step[seat] for seat in state.to_act}


@every_table
def test_play_is_atomic_when_it_refuses(table: Table) -> None:
    for state in episodes(table)[0].states[:-1]:
        copied, before = copy.deepcopy(state), snapshot(state, table.names)
        moves = some_moves(state)
        for seat in sorted(state.to_act):
            wrong = next(value for value in table.adapter.candidates if value not in state.legal(seat))
            with pytest.raises(MoveRefused):
                state.play({**moves, seat: wrong})
            with pytest.raises(ValueError, match=r".") as missing:
                state.play({other: move for other, move in moves.items() if other != seat})
            assert not isinstance(missing.value, MoveRefused)
        for outsider in {*range(table.seats), table.seats, -1} - state.to_act:
            with pytest.raises(ValueError, match=r"."):
                state.play({**moves, outsider: next(iter(moves.values()))})
        with pytest.raises(ValueError, match=re.escape(f"from each of the seats {sorted(state.to_act)}, and no other")):
            state.play({})
        assert state == copied
        assert snapshot(state, table.names) == before


@every_table
def test_a_step_is_judged_as_a_set(table: Table) -> None:
    for episode in episodes(table):
        for state, after, step in zip(episode.states, episode.states[1:], episode.steps, strict=False):
            backwards = {seat: step[seat] for seat in sorted(state.to_act, reverse=True)}
            assert state.play(backwards) == after


@every_table
def test_relabelling_the_seats_permutes_the_outcome(table: Table) -> None:
    for episode in episodes(table):
        outcome = episode.states[-1].outcome
        assert outcome is not None
        for order in table.adapter.orders(table.seats):
            deal, steps = table.adapter.relabel(table.config, episode.deal, episode.steps, order)
            other = replay(table.game, table.config, deal, list(steps)).outcome
            assert other is not None
            assert other.scores == tuple(outcome.scores[seat] for seat in order)
            assert (other.reason, other.ending) == (outcome.reason, outcome.ending)
            assert other.measures == table.adapter.relabel_measures(table.config, outcome.measures, order)


@every_table
def test_replay_gives_the_same_states(table: Table) -> None:
    for episode in episodes(table):
        told = json.loads(json.dumps({"deal": episode.deal, "steps": episode.steps}))
        assert list(replay_states(table.game, table.config, told["deal"], told["steps"])) == episode.states


@every_table
def test_a_state_is_immutable(table: Table) -> None:
    state = episodes(table)[0].states[0]
    public = [name for name in dir(state) if not name.startswith("_")]
    assert "to_act" in public
    for name in public:
        with pytest.raises((AttributeError, TypeError)):
            setattr(state, name, None)
    with pytest.raises((AttributeError, TypeError)):
        state.added = 1  # type: ignore[attr-defined]


# Endings


@every_table
def test_an_episode_ends_within_its_bound_and_only_once(table: Table) -> None:
    for episode in episodes(table):
        assert 1 <= len(episode.steps) <= table.game.longest(table.config)
        fewest, most = table.game.decisions(table.config)
        for seat in range(table.seats):
            assert fewest <= sum(step[seat] is not None for step in episode.steps) <= most
        for state in episode.states[:-1]:
            assert state.to_act
            assert state.to_act <= set(range(table.seats))
            assert state.outcome is None
        end = episode.states[-1]
        assert end.outcome is not None
        assert end.outcome.reason == "complete"
        assert_over(end, table)


def assert_over(end: State, table: Table) -> None:
    assert end.to_act == frozenset()
    for seat in range(table.seats):
        for ask in (lambda: end.legal(seat), lambda: end.observe(seat, table.names)):  # noqa: B023
            with pytest.raises(ValueError, match=r"."):
                ask()
    for late in (end.stop, lambda: end.play({}), lambda: end.play({0: None})):
        with pytest.raises(ValueError, match=r"."):
            late()


@every_table
def test_a_stop_is_settled_wherever_it_falls(table: Table) -> None:
    for episode in episodes(table):
        for number, state in enumerate(episode.states[:-1]):
            stopped = state.stop()
            assert state.outcome is None
            assert stopped == state.stop()
            outcome = stopped.outcome
            assert outcome is not None
            assert (outcome.reason, outcome.ending) == ("deadline", "wall-clock")
            table.adapter.check_measures(table.config, number, outcome)
            assert replay(table.game, table.config, episode.deal, list(episode.steps[:number]), stop=True) == stopped
            assert_over(stopped, table)


@every_table
def test_scores_are_exact_and_sum_to_zero(table: Table) -> None:
    for episode in episodes(table):
        for end in [*(state.stop() for state in episode.states[:-1]), episode.states[-1]]:
            outcome = end.outcome
            assert outcome is not None
            assert len(outcome.scores) == table.seats
            assert all(type(score) is Fraction for score in outcome.scores)
            assert sum(outcome.scores) == 0
            assert all(-1 <= score <= 1 for score in outcome.scores)


@every_table
def test_no_score_is_below_the_lowest(table: Table) -> None:
    lowest = table.game.lowest(table.config)
    assert type(lowest) is Fraction
    assert -1 <= lowest < 0
    assert min(scores(table)) >= lowest


@every_game
def test_the_lowest_score_is_reached(game: AnyGame) -> None:
    tables = [table for parameter in all_tables() for table in parameter.values if table.game is game]
    assert any(min(scores(table)) == game.lowest(table.config) for table in tables)


def scores(table: Table) -> list[Fraction]:
    """Of every seat, wherever random episodes end or are stopped."""
    ends = [
        end for episode in episodes(table) for end in [*(s.stop() for s in episode.states[:-1]), episode.states[-1]]
    ]
    return [score for end in ends if end.outcome for score in end.outcome.scores]


@every_table
def test_a_stop_before_the_first_step_scores_zero_for_all(table: Table) -> None:
    outcome = episodes(table)[0].states[0].stop().outcome
    assert outcome is not None
    assert outcome.scores == (0,) * table.seats


@every_table
def test_measures_add_up(table: Table) -> None:
    for episode in episodes(table):
        outcome = episode.states[-1].outcome
        assert outcome is not None
        table.adapter.check_measures(table.config, len(episode.steps), outcome)


# What is seen


@every_table
def test_events_and_history_are_append_only(table: Table) -> None:
    for episode in episodes(table):
        for before, after in pairwise(episode.states):
            assert_only_added(before.events, after)
            for seat in sorted(before.to_act & after.to_act):
                earlier, later = before.observe(seat, table.names).history, after.observe(seat, table.names).history
                assert later[: len(earlier)] == earlier


def assert_only_added(told: tuple[Event, ...], after: State) -> None:
    """Events stay as they were told; the end of a game may fill in what play had to hide of them."""
    assert len(after.events) > len(told)
    for before, now in zip(told, after.events, strict=False):
        kept = {key: value for key, value in now.data.items() if key in before.data}
        assert (now.kind, kept if after.outcome else now.data) == (before.kind, before.data)


@every_table
def test_an_observation_is_for_its_seat_and_repeats_no_history(table: Table) -> None:
    for episode in episodes(table)[:2]:
        for state in episode.states[:-1]:
            for seat in sorted(state.to_act):
                observation = state.observe(seat, table.names)
                assert observation.seat == seat
                assert observation == state.observe(seat, list(table.names))
                assert observation.name == table.names[seat]
                assert f"You are {observation.name}" not in observation.situation
                assert not set(observation.history) & set(observation.situation.splitlines())
                assert all("\n" not in line and line.strip() for line in observation.history)


@every_table
def test_a_name_for_each_seat_is_needed(table: Table) -> None:
    for state in episodes(table)[0].states[:-1]:
        for names in (table.names[:-1], (*table.names, "One more")):
            with pytest.raises(ValueError, match=f"{len(names)} names for {table.seats} seats"):
                state.observe(min(state.to_act), names)


@every_table
def test_an_observation_tells_nothing_that_a_seat_may_not_know(table: Table) -> None:
    if table.adapter.twins is None:
        return
    pairs = [pair for seed in SEEDS for pair in table.adapter.twins(table.game, table.config, Random(seed))]
    assert pairs, "the adapter has secrets to tell and tells none"
    for one, other, seats in pairs:
        assert one != other
        assert seats
        for seat in seats:
            seen, twin = one.observe(seat, table.names), other.observe(seat, table.names)
            assert seen == twin
            assert repr(seen) == repr(twin)
            assert seen.legal.describe() == twin.legal.describe()
            assert seen.legal.answer == twin.legal.answer


@every_table
def test_everything_that_is_told_is_json(table: Table) -> None:
    for episode in episodes(table)[:2]:
        assert_json({"deal": episode.deal, "steps": episode.steps})
        for state in episode.states:
            assert_json([event.to_json() for event in state.events])
            for event in state.events:
                assert isinstance(event, Event)
                assert event.to_json()["type"] == event.kind
                assert "type" not in event.data
            for seat in sorted(state.to_act):
                assert_json(state.observe(seat, table.names).facts)
            end = state.stop() if state.to_act else state
            assert end.outcome is not None
            assert_json(end.outcome.measures)


def assert_json(value: Any) -> None:
    """Equal after a trip through JSON text: no NaN, no tuple, no key that is not text."""
    assert json.loads(json.dumps(value, allow_nan=False)) == value

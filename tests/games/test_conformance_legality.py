"""What every game must keep, whatever its rules: one legality, however it is asked for.

Contains, iterate, read, sample, the answer's schema and play must agree on every candidate at every position.
"""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Any

import pytest

from tests.games.answer_schema import fits_answer
from tests.games.tables import Table, episodes, every_table, some_moves
from weigh.games.game import MoveIllegal, MoveRefused, MoveUnreadable, State


@every_table
def test_legality_agrees_everywhere(table: Table) -> None:
    for episode in episodes(table)[:2]:
        for state in episode.states[:-1]:
            moves = some_moves(state)
            for seat in sorted(state.to_act):
                legal = state.legal(seat)
                answer = legal.answer
                assert state.observe(seat, table.names).legal == legal
                for value in table.adapter.candidates:
                    told = table.adapter.answer(legal, value)
                    shaped = isinstance(told, dict) and fits_answer(answer.schema, answer.required, told)  # type: ignore[arg-type]
                    if value in legal:
                        assert legal.read(value) == state.legal(seat).read(value) == value
                        # Null may be legal without being offered: it is what the rules know a missing move as.
                        assert (value in list(legal)) == shaped == (value is not None)
                        state.play({**moves, seat: value})
                        continue
                    if table.adapter.exact_schema:
                        assert not shaped
                    with pytest.raises(MoveRefused):
                        state.play({**moves, seat: value})
                    assert_refused_or_read_as_another(state, seat, value)


def assert_refused_or_read_as_another(state: State, seat: int, value: Any) -> None:
    """A value that is no canonical legal move is refused in one short line, or stands for a move that is one."""
    legal = state.legal(seat)
    try:
        assert legal.read(value) in legal
    except (MoveUnreadable, MoveIllegal) as refused:
        assert "\n" not in str(refused)
        assert 0 < len(str(refused)) < 400
        with pytest.raises(type(refused)):
            state.legal(seat).read(value)


@every_table
def test_every_legal_move_is_canonical_json_and_can_be_played(table: Table) -> None:
    for state in episodes(table)[0].states[:-1]:
        moves = some_moves(state)
        for seat in sorted(state.to_act):
            legal = state.legal(seat)
            listed = list(legal)
            assert listed == list(legal)
            assert len(listed) == len(legal) >= 1
            assert len({json.dumps(move, sort_keys=True) for move in listed}) == len(listed)
            for move in listed:
                assert move in legal
                assert json.loads(json.dumps(move)) == move
                assert legal.read(move) == move
                assert type(legal.read(move)) is type(move)
                state.play({**moves, seat: move})


@every_table
def test_sampling_draws_legal_moves_from_the_generator_alone(table: Table) -> None:
    for state in episodes(table)[0].states[:-1]:
        for seat in sorted(state.to_act):
            legal = state.legal(seat)
            draws = [legal.sample(Random(seed)) for seed in range(20)]
            assert all(move in legal for move in draws)
            assert draws == [legal.sample(Random(seed)) for seed in range(20)]


@every_table
def test_every_legal_move_is_drawn_alike(table: Table) -> None:
    states = episodes(table)[0].states[:-1]
    sets = {legal.describe(): legal for state in states for legal in map(state.legal, sorted(state.to_act))}
    for legal in [legal for legal in sets.values() if 1 < len(legal) <= 100][:8]:
        rng, draws = Random(5), 200 * len(legal)
        counts = Counter(json.dumps(legal.sample(rng)) for _ in range(draws))
        assert sorted(counts) == sorted(map(json.dumps, legal))
        # Each count has a spread of about 14 around 200: six of them.
        assert all(115 < count < 285 for count in counts.values())


@every_table
def test_the_example_answer_is_well_formed_and_legal(table: Table) -> None:
    for state in episodes(table)[0].states[:-1]:
        for seat in sorted(state.to_act):
            legal = state.legal(seat)
            answer = legal.answer
            example = json.loads(answer.example)
            assert fits_answer(answer.schema, answer.required, example)  # type: ignore[arg-type]
            assert set(answer.required) <= set(answer.schema) <= set(answer.keys)
            assert legal.read(example[answer.keys[0]] if len(answer.keys) == 1 else example) in legal
            assert json.loads(json.dumps(answer.schema, allow_nan=False)) == answer.schema
            assert legal.describe().strip()
            assert "\n" not in legal.describe()

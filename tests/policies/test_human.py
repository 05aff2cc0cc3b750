"""A person at a seat: what a line is read as, and asking again."""

from __future__ import annotations

import asyncio
import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weigh.games.game import MoveRefused
from weigh.games.registry import GAMES, game_named, read_config
from weigh.policies.human import HumanPolicy, choices, example, line_for, menu, read_line

NAMES = tuple(f"N{number}" for number in range(26))


def positions(name, seed):
    """Legal sets along one random episode."""
    game = game_named(name)
    config = read_config(game, {})
    rng = Random(seed)
    state = game.start(config, game.deal(config, rng))
    names = NAMES[: game.seat_count(config)]
    while state.to_act:
        seat = min(state.to_act)
        yield state.observe(seat, names)
        state = state.play({other: state.legal(other).sample(rng) for other in state.to_act})


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seed", range(3))
def test_every_choice_reads_back_by_its_words_its_json_and_its_number(name, seed):
    for seen in positions(name, seed):
        offered = choices(seen.legal, 100)
        assert [choice.move for choice in offered] == (list(seen.legal) if len(seen.legal) <= 100 else [])
        assert len({choice.words for choice in offered}) == len(offered)
        numbered = menu(seen.legal)
        for place, choice in enumerate(offered, start=1):
            assert read_line(choice.words, seen.legal) == choice.move
            assert read_line(f"  {choice.words.upper()} ", seen.legal) == choice.move
            assert read_line(choice.line, seen.legal) == choice.move
            assert line_for(choice.move, seen.legal) == choice.line
            if numbered:
                assert read_line(str(place), seen.legal) == choice.move


@pytest.mark.parametrize("name", GAMES)
def test_the_example_of_a_model_s_answer_reads(name):
    for seen in positions(name, 5):
        move = read_line(seen.legal.answer.example, seen.legal)
        assert move in seen.legal
        assert read_line(example(seen.legal), seen.legal) == move


def legal_of(name, steps=0, **config):
    game = game_named(name)
    settled = read_config(game, config)
    state = game.start(settled, game.deal(settled, Random(1)))
    for _ in range(steps):
        state = state.play({seat: state.legal(seat).sample(Random(2)) for seat in state.to_act})
    return state.legal(min(state.to_act))


def test_goofspiel_takes_cards_by_number_and_never_by_place():
    legal = legal_of("goofspiel")
    assert menu(legal) == ()
    assert read_line("7", legal) == read_line('{"bid": 7}', legal) == read_line(" 7 ", legal) == 7
    assert read_line("K", legal) == 13


def test_ballast_takes_words_lists_and_objects():
    legal = legal_of("ballast")
    move = ["place", 3, 1, 5]
    for line in ("place 3 1 5", "PLACE 3, 1, 5", '["place", 3, 1, 5]', '{"move": ["place", 3, 1, 5]}'):
        assert list(read_line(line, legal)) == move


def test_calibration_takes_its_parts_in_order_and_a_number():
    legal = legal_of("persistent_calibration")
    wanted = {"scale": "B", "side": "right", "weight": 2}
    assert wanted.items() <= dict(read_line("b right 2", legal)).items()
    assert read_line(json.dumps(wanted), legal) == read_line("B right 2", legal)
    assert len(menu(legal)) == 18
    with pytest.raises(MoveRefused, match="1 to 18"):
        read_line("19", legal)
    with pytest.raises(MoveRefused, match="1 to 18"):
        read_line("9" * 500, legal)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("line", ["null", " null ", '{"move": null}', '{"scale": null}'])
def test_null_is_never_a_person_s_move(name, line):
    """It may be legal for a seat that did not move, and is offered to nobody."""
    with pytest.raises(MoveRefused, match=r"\S"):
        read_line(line, legal_of(name))


def test_one_word_that_begins_one_choice_is_enough():
    game = game_named("half_hearted_step")
    config = read_config(game, {})
    state = game.start(config, game.deal(config, Random(1)))
    while "distance" not in state.legal(min(state.to_act)).answer.keys:
        state = state.play({seat: next(iter(state.legal(seat))) for seat in state.to_act})
    legal = state.legal(min(state.to_act))
    labels = [choice.words for choice in menu(legal)]
    assert "stay 0" in labels
    assert read_line("stay", legal) == read_line("stay 0", legal) == 0


@given(st.text(max_size=60))
@settings(max_examples=2 * settings.default.max_examples)
def test_any_line_is_a_legal_move_or_refused_in_one_line(text):
    for legal in LEGALS:
        try:
            move = read_line(text, legal)
        except MoveRefused as error:
            assert str(error)
        else:
            assert move in list(legal)


LEGALS = [legal_of(name) for name in GAMES]


@pytest.mark.parametrize(
    "line",
    ["", " ", "[" * 1_900, "9" * 1_999, "x" * 5_000, "NaN", "Infinity", "nine", "99", "{}", '{"card": 3}', "1 2"],
)
def test_what_is_no_move_is_refused_with_a_reason(line):
    for legal in (legal_of("goofspiel"), legal_of("half_hearted_step"), legal_of("ballast")):
        if line == "99" and 99 in legal:
            continue
        with pytest.raises(MoveRefused, match=r"\S"):
            read_line(line, legal)


def test_a_person_is_asked_until_the_line_is_a_move_and_charged_nothing():
    game = game_named("goofspiel")
    config = read_config(game, {"seats": 2})
    state = game.start(config, game.deal(config, Random(1)))
    seen = state.observe(1, ("Ash", "Elm"))
    lines, asked, moved = ["99", "what?", "5"], [], []

    async def ask(observation, refused):
        asked.append((observation.seat, refused))
        return lines[len(asked) - 1]

    policy = HumanPolicy("goofspiel", ask, lambda seat, move: moved.append((seat, move)))
    reply = asyncio.run(policy.sit(1, Random(0)).decide(seen, None))
    assert (reply.move, reply.fault) == (5, None)
    assert [seat for seat, _ in asked] == [1, 1, 1]
    assert asked[0][1] is None
    assert "99" in asked[1][1]
    assert "what?" in asked[2][1]
    assert moved == [(1, 5)]
    assert policy.model is None
    assert len(policy.digest) == 64
    assert policy.digest != HumanPolicy("ballast", ask).digest

"""The mock model at our own tables: it reads our prompts, and our reader reads it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

import pytest

from weigh.games.game import AnyGame, Observation
from weigh.games.registry import GAMES
from weigh.harness.providers.mock_server.answers import Manner, compose
from weigh.harness.providers.mock_server.apis import APIS
from weigh.harness.providers.mock_server.dice import Dice
from weigh.policies.contract import FAULTS, STYLES, Message, Style
from weigh.policies.layout import answer_schema, first_attempt, hint, second_attempt, system_text
from weigh.policies.reply import Reading, read_reply

CHAT = APIS[0]

LOOSE_SCHEMAS = {"half_hearted_step"}
"""Games with an answer of two keys that depend on each other, which a schema of single keys cannot say."""


def observations(game: AnyGame, seed: int) -> Iterator[Observation]:
    """Every observation of one episode of random play."""
    rng = Random(seed)
    config = game.config_type()
    names = [chr(ord("A") + seat) for seat in range(game.seat_count(config))]
    state = game.start(config, game.deal(config, rng))
    while state.to_act:
        seats = sorted(state.to_act)
        yield from (state.observe(seat, names) for seat in seats)
        state = state.play({seat: state.legal(seat).sample(rng) for seat in seats})


def answered(messages: tuple[Message, ...], observation: Observation, style: Style, model: str = "mock") -> Reading:
    """How our reader reads the mock model's reply to these messages."""
    sent: dict[str, object] = {
        "model": model,
        "messages": [{"role": message.role, "content": message.text} for message in messages],
    }
    if style == "schema":
        wanted = {"name": "answer", "schema": answer_schema(observation.legal)}
        sent["response_format"] = {"type": "json_schema", "json_schema": wanted}
    asked = CHAT.read(json.dumps(sent).encode())
    return read_reply(compose(asked, Dice(0, asked.digest), Manner(), "answer").text, "end", observation.legal)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())
def test_every_prompt_is_answered_with_a_legal_move(game: AnyGame, style: Style) -> None:
    system = system_text(game.rulebook(game.config_type()), style, "Play well.")
    legal = []
    for observation in observations(game, 1):
        reading = answered(first_attempt(system, observation, style, "legal: 99"), observation, style)
        legal.append(reading.move in observation.legal)
        if style == "schema" and game.name in LOOSE_SCHEMAS and reading.fault == "illegal":
            continue
        assert (reading.fault, reading.detail) == (None, "")
        assert legal[-1]
    assert sum(legal) > 0.6 * len(legal)


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())
def test_every_hint_is_answered_with_a_legal_move(game: AnyGame) -> None:
    for observation, fault in zip(observations(game, 2), FAULTS * 10, strict=False):
        first = first_attempt("Rules.", observation, "json-only", None)
        told = hint(fault, '{"bid": 99} is not legal: 99, you hold others', observation.legal)
        reading = answered(second_attempt(first, '{"bid": 99}', told), observation, "json-only")
        assert reading.fault is None


@pytest.mark.parametrize("game", [GAMES["goofspiel"], GAMES["oshi_zumo"], GAMES["ballast"]], ids=lambda game: game.name)
def test_moves_are_drawn_from_all_that_are_legal_and_models_differ(game: AnyGame) -> None:
    observation = next(observations(game, 3))
    moves = {}
    for n in range(200):
        reading = answered(first_attempt(f"Rules {n}.", observation, "json-only", None), observation, "json-only")
        moves[repr(reading.move)] = moves.get(repr(reading.move), 0) + 1
    assert len(moves) > len(observation.legal) / 2
    first = first_attempt("Rules.", observation, "json-only", None)
    ends = [answered(first, observation, "json-only", model).move for model in ("mock-first", "mock-last")]
    assert ends == [next(iter(observation.legal)), list(observation.legal)[-1]]

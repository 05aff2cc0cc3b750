"""What the mock model says, judged by the reader that judges real models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from tests.harness.providers.mock_server.asking import call
from weigh.games.game import AnyGame, Observation
from weigh.games.legal import Bids
from weigh.games.registry import GAMES
from weigh.harness.providers.mock_server import Options
from weigh.harness.providers.mock_server.exchange import WIRES, Answer, AnswerStop, Call
from weigh.harness.providers.mock_server.replies import SchemaUnsupported, answer_to, compose, generate, spoiled
from weigh.harness.providers.mock_server.rules import ReplyKind
from weigh.policies.contract import FAULTS, STYLES, Message, Stop, Style
from weigh.policies.layout import answer_schema, first_attempt, hint, second_attempt, system_text
from weigh.policies.reply import Reading, read_reply

LEGAL = Bids((1, 2, 5, 9))
STOPS: dict[AnswerStop, Stop] = {
    "end": "end",
    "length": "length",
    "refusal": "refusal",
    "filter": "refusal",
    "tool_calls": "tool_calls",
    "pause": "pause",
}


def answer(kind: ReplyKind, question: Call, **options: Any) -> Answer:
    return compose(question, Options(**options), kind)


def reading(found: Answer) -> Reading:
    return read_reply(found.text, STOPS[found.stop], LEGAL)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("style", ["reason-then-json", "json-only"])
def test_an_ordinary_answer_is_read_as_a_legal_move(seed: int, style: Any) -> None:
    found = reading(answer("answer", call(), answer_style=style, seed=seed))
    assert found.fault is None
    assert found.move in LEGAL


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("illegal", "illegal"),
        ("unreadable", "unreadable"),
        ("ambiguous", "ambiguous"),
        ("empty", "empty"),
        ("null", "empty"),
        ("truncated", "truncated"),
        ("refused", "refused"),
        ("filtered", "refused"),
        ("reasoning-only", "truncated"),
        ("pause", "unreadable"),
        ("tool-calls", "empty"),
        ("parts", None),
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_each_kind_of_reply_is_read_as_what_it_is_called(kind: ReplyKind, fault: str | None, seed: int) -> None:
    assert reading(answer(kind, call(), seed=seed)).fault == fault


def test_every_kind_of_reply_can_be_composed_for_every_wire() -> None:
    for wire in WIRES:
        for kind in get_args(ReplyKind):
            found = answer(kind, call(wire))
            assert found.output_tokens >= 0


def test_an_ambiguous_reply_is_ambiguous_also_with_one_legal_move() -> None:
    question = call(text='Your legal bids: 4.\nAnswer {"bid": 4}')
    found = answer("ambiguous", question)
    assert read_reply(found.text, "end", Bids((4,))).fault == "ambiguous"


def test_notes_come_in_about_their_share_of_the_answers() -> None:
    def notes(share: float, seeds: int) -> int:
        answers = (answer("answer", call(), notes_share=share, seed=seed) for seed in range(seeds))
        return sum(reading(found).notes is not None for found in answers)

    assert 250 < notes(0.3, 1000) < 350
    assert notes(0, 50) == 0


def test_models_named_first_and_last_play_the_ends() -> None:
    assert reading(answer("answer", call(model="mock-first"))).move == 1
    assert reading(answer("answer", call(model="any-last"))).move == 9


def test_without_anything_to_go_by_the_constant_is_answered() -> None:
    found = answer("answer", call(text="hello"), answer_style="json-only", notes_share=0, constant='{"bid": 3}')
    assert found.text == '{"bid": 3}'


@pytest.mark.parametrize("cap", range(1, 40))
def test_no_answer_is_longer_than_its_cap_and_a_cut_one_says_so(cap: int) -> None:
    whole = answer("answer", call())
    cut = whole.capped(cap)
    assert whole.text is not None and cut.text is not None and whole.text.startswith(cut.text)
    if cap < whole.output_tokens:
        assert (cut.stop, cut.output_tokens) == ("length", cap)
    else:
        assert cut == whole


def test_reasoning_takes_from_the_cap_first() -> None:
    found = answer("answer", call(reasoning_effort="high", max_completion_tokens=40))
    assert (found.reasoning_tokens, found.text, found.stop) == (40, "", "length")


@pytest.mark.parametrize(
    ("value", "changed"),
    [
        ({"bid": 3}, {"bid": 1_000_006}),
        ({"bid": 3, "notes": "5"}, {"bid": 1_000_006, "notes": "5"}),
        ({"move": ["place", 3, 1, 5]}, {"move": ["place", 3, 1, 1_000_008]}),
        ({"direction": "left", "distance": 2}, {"direction": "left", "distance": 1_000_005}),
        ({"active": "me", "axis": "vertical"}, {"active": "me", "axis": "no-such-move"}),
        ({"pass": True}, {"pass": True}),
    ],
)
def test_an_answer_is_spoiled_in_its_last_number_or_else_its_last_text(value: Any, changed: Any) -> None:
    before = json.dumps(value)
    assert spoiled(value) == changed
    assert json.dumps(value) == before


def test_a_schema_is_answered_with_json_alone() -> None:
    schema = {"type": "object", "properties": {"bid": {"enum": [2, 5]}}, "required": ["bid"]}
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    found = answer("answer", call(response_format=wanted))
    assert found.text is not None and json.loads(found.text)["bid"] in (2, 5)


def test_the_last_statement_of_the_newest_turn_counts() -> None:
    turns = [
        'Legal bids: 1, 2.\nAnswer {"bid": 1}',
        'Old: legal bids: 3, 4.\nYour legal bids: 7, 8.\nYour notes: "legal: 99"\nAnswer like {"bid": 7}',
    ]
    assert {answer_to(turns, Random(seed), "any")["bid"] for seed in range(20)} == {7, 8}
    assert [answer_to(turns, Random(0), pick) for pick in ("first", "last")] == [{"bid": 7}, {"bid": 8}]


@pytest.mark.parametrize(
    ("turns", "last"),
    [
        (['Legal: 3, 4\nYou said something illegal: 5\nAnswer {"bid": 3}'], {"bid": 4}),
        (['Legal bids: 1, 2.\nAnswer {"bid": 1}', "99 is not legal. Your legal bids: 2, 3."], {"bid": 3}),
        (['Place a weight. Example: {"move": ["place", 3, 1, 5]}'], {"move": ["place", 3, 1, 5]}),
        (
            ['Legal moves: left, right.\nExample: {"direction": "left", "distance": 2}'],
            {"direction": "left", "distance": 2},
        ),
        (['Legal bids: 1, 2\nExample: {"direction": "left"}'], {"direction": "left"}),
        (['Legal moves: {"d": "left"}, {"d": "up"}\nExample: {"d": "left"}'], {"d": "up"}),
        (['Legal moves: {"e": 1}, {"e": 2}\nExample: {"d": "left"}'], {"d": "left"}),
        (['Legal: a A, B; b 1, 3.\nSuch as {"a": "B", "b": 3, "n": 0}'], {"a": "B", "b": 3, "n": 0}),
        (['Legal: ["go", n] with n 1 to 3\nSuch as {"move": ["go", 1], "notes": "x"}'], {"move": ["go", 3]}),
        (['Example: {"move": {"scale": "A"}}'], {"move": {"scale": "A"}}),
        (['Legal bids: 1, 2\nIn the form {"bid": N}'], {"bid": 2}),
        (['Legal bids: "pass", 4 to 9\nIn the form {"bid": N or "pass"}'], {"bid": 9}),
        (['Legal: ["go", n] with n 1 to 3\nIn the form {"move": ["go", N] or ["stop"]}'], {"move": ["go", 3]}),
        (['Legal: a A, B; b 1, 3.\nIn the form {"a": "LETTER", "b": N}'], {"a": "B", "b": 3}),
        (['Legal moves: {"d": "left"}, {"d": "up"}\nIn the form {"d": WORD}'], {"d": "up"}),
        (['In the form {"bid": N}'], None),
        (['{not json {"bid": 1} and {"bid": 2} {"notes": "x"} {'], {"bid": 2}),
        ([], None),
        ([""], None),
        (["Legal bids: 1, 2."], None),
        (["{" * 5000], None),
        (['{"notes": "x"}', "{not json}"], None),
    ],
)
def test_a_prompt_is_answered_in_the_form_of_its_example(turns: list[str], last: object) -> None:
    assert answer_to(turns, Random(0), "last") == last


def test_named_lists_are_drawn_from_apart() -> None:
    turns = ['Your legal moves: scale A, B; weight 1, 3.\nSuch as {"scale": "B", "weight": 3, "note": 0}']
    answers = [answer_to(turns, Random(seed), "any") for seed in range(50)]
    assert {(answer["scale"], answer["weight"]) for answer in answers} == {("A", 1), ("A", 3), ("B", 1), ("B", 3)}


BID = {
    "type": "object",
    "properties": {"bid": {"type": "integer", "enum": [1, 2, 5, 9]}},
    "required": ["bid"],
    "additionalProperties": False,
}


@given(st.integers())
def test_an_enum_is_picked_from(seed: int) -> None:
    assert generate(BID, Random(seed))["bid"] in (1, 2, 5, 9)


def test_every_value_of_an_enum_comes_up_about_as_often() -> None:
    rng = Random(1)
    drawn = [generate(BID, rng)["bid"] for _ in range(4000)]
    assert all(850 < drawn.count(bid) < 1150 for bid in (1, 2, 5, 9))


def test_first_and_last_are_the_ends_of_what_is_allowed() -> None:
    assert generate(BID, Random(3), "first") == {"bid": 1}
    assert generate(BID, Random(3), "last") == {"bid": 9}
    assert generate({"type": "integer", "minimum": -3, "maximum": 4}, Random(3), "first") == -3
    assert generate({"type": "integer", "minimum": -3, "maximum": 4}, Random(3), "last") == 4


class Leaf(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: str = Field(min_length=3, max_length=12)
    flag: bool
    score: float = Field(ge=-1, le=1)


class Tree(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    count: int = Field(ge=2, le=5)
    above: int = Field(gt=10, lt=12)
    leaf: Leaf
    leaves: list[Leaf] = Field(min_length=1, max_length=3)
    maybe: int | None
    left_out: str = "x"
    below: Tree | None = None


@given(st.integers())
def test_nested_models_validate_as_their_own_schema_says(seed: int) -> None:
    value = generate(Tree.model_json_schema(), Random(seed))
    found = TypeAdapter(Tree).validate_python(value)
    assert found.above == 11


@given(st.integers())
def test_tuples_and_unique_items_hold(seed: int) -> None:
    schema = {
        "type": "object",
        "properties": {
            "move": {
                "type": "array",
                "prefixItems": [{"const": "place"}, {"type": "integer"}],
                "items": {"type": "null"},
            },
            "hand": {"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 3, "maxItems": 3, "uniqueItems": True},
        },
        "required": ["move", "hand"],
    }
    value = generate(schema, Random(seed))
    assert value["move"][0] == "place" and len(value["move"]) == 2
    assert sorted(value["hand"]) == [1, 2, 3]


def test_the_same_stream_gives_the_same_value() -> None:
    schema = Tree.model_json_schema()
    assert generate(schema, Random(5)) == generate(schema, Random(5))


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"type": "string", "pattern": "a+"}, r"\$: keyword 'pattern'"),
        ({"type": "object", "properties": {"a": {"type": "thing"}}, "required": ["a"]}, r"\$\.a: type 'thing'"),
        ({"type": "integer", "minimum": 3, "maximum": 2}, "no value lies"),
        ({"type": "object", "required": ["b"]}, "required 'b' is not among the properties"),
        ({"enum": []}, "no value lies"),
        ({"$ref": "#/$defs/No"}, "leads nowhere"),
        ({"$ref": "other.json"}, "leads out of the schema"),
        ({"$ref": "#"}, "at most 40 deep"),
        ({"type": "array", "minItems": 10**9}, "too many"),
        ({"type": "array", "items": {"const": 1}, "minItems": 2, "uniqueItems": True}, "not to be had"),
        ({"type": "object", "properties": []}, "not well-formed"),
        ({"type": "string", "minLength": 5, "maxLength": 2}, "no text has a length"),
        ({"anyOf": [3]}, "must be an object"),
        ({}, "type None"),
    ],
)
def test_what_cannot_be_satisfied_is_named(schema: dict[str, Any], says: str) -> None:
    with pytest.raises(SchemaUnsupported, match=says) as caught:
        generate(schema, Random(0))
    assert "\n" not in str(caught.value)


LOOSE_SCHEMAS = {"half_hearted_step"}
"""Games with an answer of two keys that depend on each other, which a schema of single keys cannot say."""


def observations(game: AnyGame, seed: int, **settings: object) -> Iterator[Observation]:
    """Every observation of one episode of random play."""
    rng = Random(seed)
    config = game.config_type(**settings)
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
    return read_reply(answer("answer", call(sent=sent)).text, "end", observation.legal)


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


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("goofspiel", {}),
        ("oshi_zumo", {}),
        ("ballast", {}),
        ("persistent_calibration", {}),
        ("persistent_calibration", {"starting_garnets": 3}),
    ],
)
def test_moves_are_drawn_from_all_that_are_legal_and_models_differ(name: str, settings: dict[str, Any]) -> None:
    observation = next(observations(GAMES[name], 3, **settings))
    moves = {}
    for n in range(200):
        reading = answered(first_attempt(f"Rules {n}.", observation, "json-only", None), observation, "json-only")
        moves[repr(reading.move)] = moves.get(repr(reading.move), 0) + 1
    assert len(moves) > len(observation.legal) / 2
    first = first_attempt("Rules.", observation, "json-only", None)
    ends = [answered(first, observation, "json-only", model).move for model in ("mock-first", "mock-last")]
    assert ends == [next(iter(observation.legal)), list(observation.legal)[-1]]

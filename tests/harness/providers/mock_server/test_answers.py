"""What the mock model says, judged by the reader that judges real models."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from tests.harness.providers.mock_server.asking import body
from weigh.games.legal import Bids
from weigh.harness.providers.mock_server.actions import ReplyKind
from weigh.harness.providers.mock_server.answers import Manner, compose, spoiled
from weigh.harness.providers.mock_server.apis import APIS
from weigh.harness.providers.mock_server.dice import Dice
from weigh.harness.providers.mock_server.exchange import Answer, AnswerStop, Asked, cap_answer
from weigh.harness.providers.mock_server.faults import REPLY_FAULTS
from weigh.policies.contract import FAULTS, Stop
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


def asked(wire: str = "chat", **more: Any) -> Asked:
    api = next(api for api in APIS if api.wire == wire)
    return api.read(json.dumps(body(wire, **more)).encode())


def answer(kind: ReplyKind, question: Asked, manner: Manner | None = None, seed: int = 0) -> Answer:
    return compose(question, Dice(seed, question.digest), manner or Manner(), kind)


def reading(found: Answer) -> Reading:
    return read_reply(found.text, STOPS[found.stop], LEGAL)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("style", ["reason-then-json", "json-only"])
def test_an_ordinary_answer_is_read_as_a_legal_move(seed: int, style: Any) -> None:
    found = reading(answer("answer", asked(), Manner(style=style), seed))
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
    assert reading(answer(kind, asked(), seed=seed)).fault == fault


def test_every_kind_of_reply_can_be_composed_for_every_wire() -> None:
    for wire in ("chat", "responses", "messages"):
        for kind in get_args(ReplyKind):
            found = answer(kind, asked(wire))
            assert found.output_tokens >= 0


def test_the_faults_that_can_be_drawn_are_the_faults_of_the_contract() -> None:
    assert set(REPLY_FAULTS) == set(FAULTS)


def test_an_ambiguous_reply_is_ambiguous_also_with_one_legal_move() -> None:
    question = asked(text='Your legal bids: 4.\nAnswer {"bid": 4}')
    found = compose(question, Dice(0, question.digest), Manner(), "ambiguous")
    assert read_reply(found.text, "end", Bids((4,))).fault == "ambiguous"


def test_notes_come_in_about_their_share_of_the_answers() -> None:
    manner = Manner(notes_share=0.3)
    with_notes = sum(reading(answer("answer", asked(), manner, seed)).notes is not None for seed in range(1000))
    assert 250 < with_notes < 350
    assert all(reading(answer("answer", asked(), Manner(notes_share=0), seed)).notes is None for seed in range(50))


def test_models_named_first_and_last_play_the_ends() -> None:
    assert reading(answer("answer", asked(model="mock-first"))).move == 1
    assert reading(answer("answer", asked(model="any-last"))).move == 9


def test_without_anything_to_go_by_the_constant_is_answered() -> None:
    found = answer("answer", asked(text="hello"), Manner(style="json-only", notes_share=0, constant={"bid": 3}))
    assert found.text == '{"bid": 3}'


@pytest.mark.parametrize("cap", range(1, 40))
def test_no_answer_is_longer_than_its_cap_and_a_cut_one_says_so(cap: int) -> None:
    whole = answer("answer", asked())
    cut = cap_answer(whole, cap)
    assert whole.text is not None and cut.text is not None and whole.text.startswith(cut.text)
    if cap < whole.output_tokens:
        assert (cut.stop, cut.output_tokens) == ("length", cap)
    else:
        assert cut == whole


def test_reasoning_takes_from_the_cap_first() -> None:
    found = answer("answer", asked(reasoning_effort="high", max_completion_tokens=40))
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
    found = answer("answer", asked(response_format=wanted))
    assert found.text is not None and json.loads(found.text)["bid"] in (2, 5)

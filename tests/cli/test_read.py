"""`weigh read`: how a reply would be read."""

from __future__ import annotations

import json

import pytest

from tests.cli.runner import weigh

KEYS = ["move", "fault", "detail", "candidates", "notes", "hint"]
PLACE = {"game": "goofspiel", "config": {"seats": 2, "cards": 4}, "seed": 1, "moves": [[3, 2]], "seat": 0}


def read(reply, *words, **changes):
    return weigh("read", "-", *words, stdin=json.dumps({**PLACE, "reply": reply, **changes}))


def test_a_legal_reply_has_exactly_the_promised_keys():
    said = read('I think about it. {"bid": 4, "notes": "save the 4"}')
    assert (said.code, said.err) == (0, "")
    assert list(said.json) == KEYS
    assert said.json == {
        "move": 4,
        "fault": None,
        "detail": "",
        "candidates": 1,
        "notes": "save the 4",
        "hint": None,
    }


@pytest.mark.parametrize(
    ("reply", "changes", "fault"),
    [
        ('{"bid": 3}', {}, "illegal"),
        ("I bid three.", {}, "unreadable"),
        ('{"bid": 1} or {"bid": 2}, who knows', {}, "ambiguous"),
        ("", {}, "empty"),
        (None, {}, "empty"),
        ('{"bid": 1', {"stop": "length"}, "truncated"),
        ("no", {"stop": "refusal"}, "refused"),
        ("", {"stop": "tool_calls"}, "empty"),
        ("let me go on", {"stop": "pause"}, "unreadable"),
        ("", {"stop": "malformed"}, "unreadable"),
        ('{"bid": 4}, or', {"stop": "unknown"}, "truncated"),
    ],
)
def test_a_fault_is_named_with_the_hint_that_the_retry_would_get(reply, changes, fault):
    said = read(reply, **changes)
    assert said.code == 0
    assert (said.json["move"], said.json["fault"]) == (None, fault)
    assert said.json["detail"]
    assert "1, 2, 4" in said.json["hint"]  # the legal set: what the seat still holds


def test_the_json_flag_is_accepted_and_changes_nothing():
    assert read('{"bid": 4}', "--json") == read('{"bid": 4}')


def test_an_emoji_and_a_lone_surrogate_are_text_like_any_other():
    said = read('\U0001f3b2 \ud83d {"bid": 4, "notes": "\U0001f3b2"}')
    assert said.json["move"] == 4
    assert said.out.isascii()


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"seat": 2}, ["seat: 2 has no move to make", "0, 1"]),
        ({"seat": True}, ["seat: true is not the number of a seat"]),
        ({"seat": "0"}, ['seat: "0" is not the number of a seat']),
        ({"seat": 0.0}, ["seat: 0.0 is not the number of a seat"]),
        ({"reply": 7}, ["reply: 7 is not a text, or null for none"]),
        ({"stop": "stop"}, ['stop: "stop" is not one of end, length']),
        ({"stop": True}, ["stop: true is not one of"]),
        ({"stop": []}, ["stop: [] is not one of"]),
        ({"replay": "x"}, ['unknown key "replay"', "did you mean 'reply'"]),
        ({"moves": [[3, 3], [1, 1], [2, 2], [4, 4]]}, ["seat: 0 has no move to make", "the episode is over"]),
        ({"moves": [[3, 9]]}, ["step 0, seat 1", "9"]),
        ({"seed": None}, ["deal: missing"]),
    ],
)
def test_bad_input_is_one_line_that_names_it(changes, parts):
    weigh("read", "-", stdin=json.dumps({**PLACE, "reply": '{"bid": 4}', **changes})).refused(*parts)


@pytest.mark.parametrize("key", ["seat", "reply", "game"])
def test_what_must_be_there_is_named_when_it_is_missing(key):
    document = {**PLACE, "reply": "x"}
    del document[key]
    weigh("read", "-", stdin=json.dumps(document)).refused(f"{key}: missing")

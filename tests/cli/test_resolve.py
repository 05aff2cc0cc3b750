"""`weigh resolve`: given moves through the rules."""

from __future__ import annotations

import json

import pytest

from tests.cli.runner import weigh
from weigh.games.registry import GAMES

KEYS = ["over", "reason", "ending", "scores", "to_act", "measures", "events"]
ORDER = [3, 1, 4, 2]
GAME = {"game": "goofspiel", "config": {"seats": 2, "cards": 4}, "deal": {"prize_order": ORDER}}


def resolve(document, *words):
    return weigh("resolve", "-", *words, stdin=json.dumps(document))


def test_a_game_that_is_on_has_exactly_the_promised_keys():
    said = resolve({**GAME, "moves": [[3, 2]]})
    assert (said.code, said.err) == (0, "")
    assert list(said.json) == KEYS
    assert (said.json["over"], said.json["scores"], said.json["reason"]) == (False, None, None)
    assert said.json["to_act"] == [0, 1]
    assert [event["type"] for event in said.json["events"]] == ["prize", "reveal", "prize"]


def test_a_finished_game_has_scores_and_measures():
    said = resolve({**GAME, "moves": [[3, 2], [1, 3], [4, 1], [2, 4]]})
    assert said.json["over"] is True
    assert (said.json["reason"], said.json["ending"], said.json["to_act"]) == ("complete", "prizes-exhausted", [])
    assert sum(said.json["scores"]) == 0
    assert said.json["measures"]["points"] == [7, 3]


def test_a_game_that_is_on_has_its_measures_as_they_stand():
    said = resolve({**GAME, "moves": [[3, 2], [1, 3]]})
    assert (said.json["over"], said.json["scores"]) == (False, None)
    assert said.json["measures"] == resolve({**GAME, "moves": [[3, 2], [1, 3]], "stop": True}).json["measures"]
    assert (said.json["measures"]["points"], said.json["measures"]["spent"]) == ([3, 1], [4, 5])


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_measures_before_its_first_move(game):
    said = resolve({"game": game, "seed": 1})
    assert said.json["over"] is False
    assert said.json["measures"].keys() == resolve({"game": game, "seed": 1, "stop": True}).json["measures"].keys()
    assert said.json["measures"]


def test_a_stop_ends_the_game_as_the_wall_clock_would():
    said = resolve({**GAME, "moves": [[3, 2]], "stop": True})
    assert (said.json["over"], said.json["reason"]) == (True, "deadline")
    assert said.json["scores"] == [0.3, -0.3] or sum(said.json["scores"]) == 0


def test_the_json_flag_is_accepted_and_changes_nothing():
    assert resolve(GAME, "--json") == resolve(GAME)


def test_a_file_is_read_as_standard_input_is(tmp_path):
    path = tmp_path / "moves.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(GAME).replace(",", ",\r\n").encode())
    assert weigh("resolve", path) == resolve(GAME)


def test_a_deal_is_drawn_from_a_seed_as_play_draws_it():
    drawn = weigh("play", "goofspiel", "match", "match", "--seed", "7", "--json").json["deal"]["prize_order"]
    said = resolve({"game": "goofspiel", "config": {"seats": 2}, "seed": 7, "moves": []})
    assert said.json["events"] == [
        {"type": "prize", "round": 0, "prize": drawn[0], "remaining": sorted(drawn[1:])},
    ]
    assert resolve({"game": "goofspiel", "config": {"seats": 2}, "seed": 7, "deal": None}).json == said.json
    assert resolve({"game": "goofspiel", "config": {"seats": 2}, "seed": 8}).json != said.json


def test_o23_zero_is_a_seed_like_any_other():
    assert resolve({"game": "goofspiel", "seed": 0}).code == 0


def test_a_game_without_chance_needs_neither_deal_nor_seed():
    for given in ({}, {"deal": {}}, {"deal": None}, {"seed": 3}):
        said = resolve({"game": "oshi_zumo", "config": {"coins": 6}, **given})
        assert said.json["to_act"] == [0, 1], given


def test_a_game_of_chance_with_neither_deal_nor_seed_is_told_what_is_missing():
    resolve({"game": "goofspiel"}).refused("deal: missing", "prize_order", "seed", kind="deal-missing")


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"game": "goofspil"}, ['"goofspil"', "did you mean 'goofspiel'"]),
        ({"game": None}, ["game: null is not a name"]),
        ({"game": 7}, ["game: 7 is not a name"]),
        ({"gmae": 1}, ['unknown key "gmae"', "did you mean 'game'"]),
        ({"config": {"crads": 3}}, ['unknown key "crads"', "did you mean 'cards'"]),
        ({"config": {"cards": 99}}, ["cards is 99", "4 to 13"]),
        ({"config": []}, ["config: [] is not a JSON object"]),
        ({"deal": {"prize_order": [1, 1, 2, 3]}}, ["prize_order"]),
        ({"deal": {"order": ORDER}}, ["order"]),
        ({"deal": [3, 1]}, ["deal: [3, 1] is not a JSON object"]),
        ({"deal": None, "seed": -1}, ["seed: -1 is not a whole number from 0 up"]),
        ({"deal": None, "seed": True}, ["seed: true is not a whole number from 0 up"]),
        ({"deal": None, "seed": "3"}, ['seed: "3" is not a whole number from 0 up']),
        ({"deal": None, "seed": [42]}, ["seed: [42] is not a whole number from 0 up"]),
        ({"moves": {}}, ["moves: {} is not a list of steps"]),
        ({"moves": [[1, 2], 7]}, ["step 1", "7"]),
        ({"moves": [[1, 2], [3]]}, ["step 1", "[3] has 1 entries"]),
        ({"moves": [[1, 2], [1, 3]]}, ["step 1, seat 0", "1", "you hold 2, 3, 4"]),
        ({"moves": [[1, None]]}, ["step 0, seat 1", "null"]),
        ({"moves": [[7.5, 1]]}, ["step 0, seat 0", "7.5"]),
        ({"moves": [[1, 1], [2, 2], [3, 3], [4, 4], [1, 1]]}, ["step 4", "over after 4 steps"]),
        ({"moves": [[1, 1], [2, 2], [3, 3], [4, 4]], "stop": True}, ["stop", "already over"]),
        ({"stop": "yes"}, ['stop: "yes" is not true or false']),
        ({"stop": 1}, ["stop: 1 is not true or false"]),
    ],
)
def test_bad_input_is_one_line_that_names_it(change, parts):
    resolve({**GAME, **change}).refused(*parts)


@pytest.mark.parametrize(
    ("raw", "part"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"{", "not a JSON document"),
        (b"[]", "holds [] and not a JSON object"),
        (b'"goofspiel"', "not a JSON object"),
        (b"null", "not a JSON object"),
        (b"\xff\xfe{}", "not UTF-8 text (byte 0xff at 0)"),
        (b'{"game": "goofspiel", "game": "oshi_zumo"}', 'the key "game" stands twice in one object'),
        (b'{"game": "goofspiel", "moves": [[NaN, 1]]}', "NaN is no JSON number"),
        (b'{"game": "goofspiel", "moves": [[-Infinity, 1]]}', "-Infinity is no JSON number"),
        (b'{"game": "goofspiel", "seed": ' + b"9" * 5000 + b"}", "not a JSON document"),
        (b'{"game": "goofspiel", "seed": 0, "moves": ' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_document_is_one_line(raw, part):
    weigh("resolve", "-", stdin=raw).refused("standard input: ", part)


def test_numbers_of_hundreds_of_digits_are_refused_as_moves_and_not_repeated():
    line = resolve({**GAME, "moves": [[10**500, 1]]}).refused("step 0, seat 0")
    assert len(line) < 200


def test_closed_standard_input_is_one_line(monkeypatch):
    import sys

    from weigh.harness.cli.commands.check import load
    from weigh.harness.errors import Refused

    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(Refused, match="standard input: closed"):
        load("-")


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("weigh.harness.cli.commands.check.LARGEST", 1024)
    path = tmp_path / "big.json"
    path.write_text(" " * 2000, encoding="utf-8")
    weigh("resolve", path).refused(kind="too-large")


def test_a_folder_in_place_of_a_file(tmp_path):
    weigh("resolve", tmp_path).refused(kind="unreadable-file")

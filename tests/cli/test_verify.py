"""`weigh verify`: records from every door, honest and tampered with."""

from __future__ import annotations

import json

import pytest

from tests.cli.runner import config, weigh


@pytest.fixture
def record(tmp_path):
    """A record as `weigh play --out` writes it, and its file."""
    path = tmp_path / "record.json"
    assert weigh("play", "goofspiel", "match", "random", "hoard", "--set", "cards=5", "--out", path).code == 0
    return json.loads(path.read_text(encoding="utf-8")), path


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    assert weigh("ladder", config(folder)).code == 0
    return folder / "results" / "s"


def test_an_honest_record_re_derives_from_a_file_and_from_standard_input(record):
    data, path = record
    said = weigh("verify", path)
    assert (said.code, said.out, said.err) == (0, "goofspiel/play: OK, 1 record recomputed, no differences\n", "")
    assert weigh("verify", "-", stdin=json.dumps(data)) == said
    assert weigh("verify", path, "--json").json == {"record": "goofspiel/play", "ok": True, "findings": []}


def test_an_honest_run_re_derives(run):
    said = weigh("verify", run)
    assert (said.code, said.out, said.err) == (0, f"{run}: OK, 6 records recomputed, no differences\n", "")
    verdict = weigh("verify", run, "--json").json
    assert (verdict["ok"], verdict["records"], verdict["planned"], verdict["findings"]) == (True, 6, 6, [])


def test_what_is_exported_re_derives(run, tmp_path):
    one, all_of_it = tmp_path / "one.json", tmp_path / "all.jsonl"
    weigh("export", run, one, "--episode", "goofspiel/b0000/r0")
    weigh("export", run, all_of_it)
    assert weigh("verify", one).out == "goofspiel/b0000/r0: OK, 1 record recomputed, no differences\n"
    assert weigh("verify", all_of_it).out == f"{all_of_it}: OK, 6 records recomputed, no differences\n"
    assert weigh("verify", all_of_it, "--json").json == {
        "file": str(all_of_it),
        "records": 6,
        "ok": True,
        "findings": [],
    }


def forged_bid(data):
    first = data["moves"][0]
    first[0] = next(card for card in range(1, 6) if card != first[0])


def forged_award(data):
    next(event for event in data["events"] if event["type"] == "reveal")["award"] = 99


def forged_end(data):
    data["moves"].pop()


def forged_deal(data):
    data["deal"]["prize_order"][0] = data["deal"]["prize_order"][1]


def forged_index(data):
    data["measures"]["collusion_index"][0] = 0.99


def forged_counter(data):
    data["fallbacks"][0] = 1


@pytest.mark.parametrize(
    ("forge", "named"),
    [
        (forged_bid, "events"),
        (forged_award, "award"),
        (lambda data: data["scores"].reverse(), "scores"),
        (forged_index, "collusion_index"),
        (lambda data: data.update(ending="pushout"), "ending"),
        (lambda data: data["events"].pop(3), "events[3]"),
        (lambda data: data["events"].append({"type": "prize"}), "events"),
        (forged_end, "reason"),
        (forged_deal, "deal"),
        (forged_counter, "fallbacks"),
        (lambda data: data.pop("moves"), "moves"),
        (lambda data: data.update(game="chess"), "game"),
    ],
)
def test_a_forged_piece_fails_and_is_named_on_both_streams(record, forge, named):
    data, path = record
    forge(data)
    path.write_text(json.dumps(data), encoding="utf-8")
    said = weigh("verify", path)
    assert said.code == 1
    assert named in said.out
    (line,) = said.err.splitlines()
    assert "does not reproduce" in line
    assert "first: " in line
    verdict = weigh("verify", path, "--json")
    assert (verdict.code, verdict.json["ok"]) == (1, False)
    assert any(named in finding["where"] for finding in verdict.json["findings"])


def test_one_forged_line_among_honest_ones_is_named_by_its_episode(run, tmp_path):
    path = tmp_path / "all.jsonl"
    weigh("export", run, path)
    lines = path.read_text(encoding="utf-8").splitlines()
    forged = json.loads(lines[2])
    forged["ending"] = "pushout"
    path.write_text("\n".join([*lines[:2], json.dumps(forged), *lines[3:], ""]), encoding="utf-8")
    said = weigh("verify", path)
    assert said.code == 1
    assert said.out.startswith(f"{forged['key']}: ending ")


def test_a_line_that_is_no_json_is_named_by_its_number(run, tmp_path):
    path = tmp_path / "all.jsonl"
    weigh("export", run, path)
    path.write_text(path.read_text(encoding="utf-8") + "{broken\n", encoding="utf-8")
    weigh("verify", path).refused("all.jsonl:7: not a JSON document")


def test_hostile_text_in_a_record_cannot_act_on_a_terminal(record):
    data, path = record
    data["ending"] = "\x1b[2Jpush\nout"
    data["key"] = "\x1b[31mkey"
    path.write_text(json.dumps(data), encoding="utf-8")
    said = weigh("verify", path)
    assert said.code == 1
    assert "\x1b" not in said.out + said.err


def test_nothing_to_check_is_neither_right_nor_wrong(tmp_path):
    empty = tmp_path / "none.jsonl"
    empty.write_text("\n", encoding="utf-8")
    assert weigh("verify", empty).code == 3
    order = config(tmp_path)
    assert weigh("ladder", order, "--max-seconds", "0.000001").code == 4
    said = weigh("verify", tmp_path / "results" / "s")
    assert said.code == 3
    assert "holds no finished episode, so nothing was checked" in said.err


@pytest.mark.parametrize("content", ["", "[]", "7", "{", '{"a": 1, "a": 2}'])
def test_what_is_no_record_at_all_is_bad_input(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_text(content, encoding="utf-8")
    weigh("verify", path).refused("x.json")


def test_a_folder_that_is_no_run_is_bad_input(tmp_path):
    weigh("verify", tmp_path).refused(kind="not-a-run")

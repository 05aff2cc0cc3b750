"""`weigh play` with scripted policies: what is shown, what is kept, what is refused."""

from __future__ import annotations

import json

import pytest

from tests.cli.runner import config, documents, weigh
from weigh.harness.store.store import Store

FOUR = ("goofspiel", "match", "hoard", "random", "random", "--set", "cards=4")


def test_an_episode_is_shown_round_by_round_with_the_next_step_said():
    said = weigh("play", *FOUR, "--seed", "7")
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0] == "goofspiel, seed 7"
    assert [line.split()[-1] for line in lines[1:5]] == ["match", "hoard", "random", "random"]
    assert [line.split()[0] for line in lines[5:13]] == ["prize", "reveal"] * 4
    assert lines[14] == "complete: prizes-exhausted"
    scores = [float(line.split()[0]) for line in lines[15:19]]
    assert scores == sorted(scores, reverse=True)
    assert all("points " in line and "collusion_index " in line for line in lines[15:19])
    assert said.err == "not kept: --out FILE writes the record, --save DIR keeps every model call too\n"


def test_o23_zero_is_the_default_seed_and_is_told():
    assert weigh("play", *FOUR) == weigh("play", *FOUR, "--seed", "0")
    assert weigh("play", *FOUR).out != weigh("play", *FOUR, "--seed", "1").out


def test_the_record_is_the_same_on_standard_output_and_in_a_file(tmp_path):
    out = tmp_path / "r.json"
    said = weigh("play", *FOUR, "--json", "--out", out)
    assert (said.code, said.err) == (0, "")
    assert json.loads(out.read_text(encoding="utf-8")) == said.json
    assert said.json["entrants"] == ["match", "hoard", "random", "random"]
    assert weigh("verify", out).code == 0


def test_a_file_is_replaced_and_the_way_to_check_it_is_said(tmp_path):
    out = tmp_path / "r.json"
    out.write_text("old", encoding="utf-8")
    said = weigh("play", *FOUR, "--out", out)
    assert f"record in {out}; `weigh verify {out}` recomputes it" in said.err
    assert json.loads(out.read_text(encoding="utf-8"))["game"] == "goofspiel"
    assert documents(tmp_path) == [out]


def test_seats_follow_the_entrants_named():
    assert len(weigh("play", "goofspiel", "match", "match", "--json").json["scores"]) == 2
    assert len(weigh("play", "goofspiel", *["match"] * 7, "--json").json["scores"]) == 7


def test_settings_reach_the_game():
    record = weigh("play", "oshi_zumo", "match", "random", "--set", "coins=6", "--set", "size=2", "--json").json
    assert (record["config"]["coins"], record["config"]["size"]) == (6, 2)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("goofspil match match", ['no game "goofspil"', "did you mean 'goofspiel'"]),
        ("goofspiel match", ["goofspiel is for 2 to 10 seats, and 1 entrant is named"]),
        (f"goofspiel {'match ' * 11}", ["goofspiel is for 2 to 10 seats, and 11 entrants are named"]),
        ("oshi_zumo match match match", ["oshi_zumo is for 2 seats, and 3 entrants are named"]),
        ("goofspiel match match --set seats=3", ["goofspiel has 3 seats under this config, and 2 entrants are named"]),
        ("goofspiel matsch match", ['"matsch" is no policy', "did you mean 'match'"]),
        ("goofspiel match match --set cards=3", ["cards is 3", "4 to 13"]),
        ("goofspiel match match --set cards=six", ['cards is "six"', "4 to 13"]),
        ("goofspiel match match --set crads=6", ['unknown key "crads"', "did you mean 'cards'"]),
        ("goofspiel match match --set cards", ["--set cards: write KEY=VALUE"]),
        ("goofspiel match match --set =6", ["--set =6: write KEY=VALUE"]),
        ("goofspiel match match --set cards=6 --set cards=7", ["--set cards: given twice"]),
        ("goofspiel match @careful", ["@careful is an entrant of a config", "--config"]),
        ("goofspiel match nowhere.md@openai:gpt-5", ["prompt file nowhere.md: not found"]),
        ("goofspiel match goofspiel/plain.md", ["is a prompt without a model", "@provider:model"]),
        ("goofspiel match goofspiel/plain.md@gpt-5", ['"gpt-5" is no model', "provider:model"]),
        ("goofspiel match goofspiel/plain.md@opnai:gpt-5", ['unknown provider "opnai"', "did you mean 'openai'"]),
        ("goofspiel match goofspiel/plain.md@mock:m", ["mock needs a base_url", "--base-url gives it"]),
        ("oshi_zumo match goofspiel/plain.md@mock:m", ["does not play oshi_zumo", "`weigh policies`"]),
        ("goofspiel match match --style schema", ["--style: only an entrant PROMPT.md@provider:model can follow it"]),
        ("goofspiel match match --temperature 0 --max-tokens 9", ["--max-tokens, --temperature: only an entrant"]),
        ("goofspiel match match --out nowhere/x.json", ["--out nowhere/x.json: its folder does not exist"]),
        ("goofspiel match match --out .", ["--out .: is a folder"]),
        ("goofspiel match match --config nowhere.toml", ["nowhere.toml: no such file"]),
        ("goofspiel match goofspiel/plain.md@openai:m", ["plain-m: openai:m needs a key", "OPENAI_API_KEY"]),
    ],
)
def test_what_cannot_be_played_is_one_line_before_anything_happens(tmp_path, monkeypatch, words, parts):
    monkeypatch.chdir(tmp_path)
    weigh("play", *words.split(), "--save", "kept").refused(*parts)
    assert documents(tmp_path) == []
    assert not (tmp_path / "kept").exists()


def test_c08_several_entrants_in_one_quoted_word_are_told_apart():
    weigh("play", "goofspiel", "match random").refused('"match random" is one word with a space in it')


@pytest.mark.parametrize("key", ["", "   "])
def test_c07_a_key_that_is_empty_counts_as_not_set(tmp_path, key):
    said = weigh("play", "goofspiel", "match", "goofspiel/plain.md@anthropic:m", environ={"ANTHROPIC_API_KEY": key})
    said.refused("plain-m: anthropic:m needs a key: set the environment variable ANTHROPIC_API_KEY")


def test_c07_a_key_for_another_provider_does_not_help():
    said = weigh("play", "goofspiel", "match", "goofspiel/plain.md@anthropic:m", environ={"OPENAI_API_KEY": "sk-1"})
    said.refused("ANTHROPIC_API_KEY")
    assert "sk-1" not in said.err


def test_a_saved_episode_is_a_run_like_any_other(tmp_path):
    kept = tmp_path / "results" / "try"
    said = weigh("play", *FOUR, "--save", kept)
    assert said.code == 0
    assert said.err == f"kept in {kept}; `weigh verify {kept}` recomputes it\n"
    with Store.open(kept, readonly=True) as store:
        assert (store.status, store.finished()) == ("finished", ("goofspiel/play",))
    assert weigh("verify", kept).code == 0
    assert weigh("rank", kept).code == 0


def test_the_same_command_shows_a_saved_episode_again(tmp_path):
    first = weigh("play", *FOUR, "--save", tmp_path / "kept")
    assert weigh("play", *FOUR, "--save", tmp_path / "kept") == first


def test_another_command_is_refused_for_the_folder_with_the_differences(tmp_path):
    weigh("play", *FOUR, "--save", tmp_path / "kept")
    said = weigh("play", *FOUR, "--seed", "1", "--save", tmp_path / "kept")
    assert said.code == 2
    assert "holds a run made under another config; give this one a folder of its own (--save)" in said.err
    assert "seed: 0 in the run, 1 in the config" in said.err


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    weigh("play", *FOUR, "--save", tmp_path).refused("is not an empty folder")
    assert documents(tmp_path) == [tmp_path / "mine.txt"]


def test_entrants_of_a_config_play_by_their_names(tmp_path):
    order = config(tmp_path, "[games.goofspiel]\nseats = 3\n[entrants]\nanna = 'match'\n")
    record = weigh("play", "goofspiel", "@anna", "random", "--config", order, "--json").json
    assert record["entrants"] == ["anna", "random"]
    weigh("play", "goofspiel", "@ana", "random", "--config", order).refused("did you mean 'anna'")
    weigh("play", "goofspiel", "@anna", "random", "--config", order, "--style", "schema").refused(
        "--style", "(@names play as their config says)"
    )


def test_lists_of_seats_are_told_by_name_and_not_one_entry_a_seat():
    said = weigh("play", "persistent_calibration", "absent", "absent")
    assert said.code == 0
    tail = said.out[said.out.index("complete:") :]
    names = [line.split()[1] for line in tail.splitlines()[1:3]]
    assert "winners 0" not in tail
    assert any(f"winners {one} and {other}" in tail for one, other in (names, names[::-1]))

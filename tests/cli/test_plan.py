"""`weigh plan`: against ladders that are really played, on examples, partly played runs, and bad input."""

from __future__ import annotations

import json
import math
import re

import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from tests.cli.runner import ROOT, SCRIPTED, config, documents, weigh
from weigh.harness.planning import pilots
from weigh.harness.planning.power_table import blocks_for
from weigh.harness.providers.mock_server import read_plan
from weigh.harness.run import offline
from weigh.harness.store.store import Store
from weigh.harness.store.usage import characters_of

ORDER = """\
seed = 5
[games.goofspiel]
seats = 3
cards = 6
blocks = 6
[games.oshi_zumo]
coins = 12
blocks = 6
[entrants]
[entrants.ada]
prompt = {{ goofspiel = "goofspiel/plain.md", oshi_zumo = "oshi_zumo/plain.md" }}
model = "mock:a"
style = "schema"
[entrants.bea]
prompt = {{ goofspiel = "goofspiel/tempo.md", oshi_zumo = "oshi_zumo/tempo.md" }}
model = "mock:b"
[models.mock]
base_url = "{url}"
price = {{ input = 1.0, output = 4.0 }}
[limits]
decision_timeout = 5.0
replays = 0
"""


@pytest.fixture(scope="module")
def played(server, tmp_path_factory):
    """A config whose ladder has been played on the mock server, with the plan that was made before."""
    server.follow(read_plan({"rules": []}))
    path = config(tmp_path_factory.mktemp("played"), ORDER.format(url=server.openai_url))
    before = weigh("plan", path, "--json")
    assert before.code == 0, before
    said = weigh("ladder", path)
    assert said.code == 0, said
    return path, before.json


def entrants(document, game):
    (found,) = [entry for entry in document["games"] if entry["game"] == game]
    return {entry["entrant"]: entry for entry in found["entrants"] if entry["model"] is not None}


def test_the_plan_of_a_ladder_agrees_with_the_ladder_as_it_was_played(played):
    path, document = played
    with Store.open(path.parent / "results" / "s", readonly=True) as store:
        names = {row.key: row.entrants for row in store.episodes()}
        calls = [
            (call.key.episode.partition("/")[0], names[call.key.episode][call.key.seat], call) for call in store.calls()
        ]
        records = list(store.records())
    assert document["episodes"] == document["episodes_left"] == len(records)
    assert sum(game["episodes"] for game in document["games"]) == len(records)
    for game in ("goofspiel", "oshi_zumo"):
        for name, entry in entrants(document, game).items():
            mine = [call for at, who, call in calls if (at, who) == (game, name)]
            if game == "goofspiel":  # six cards, six decisions: no play is longer or shorter
                assert entry["calls"]["least"] == entry["calls"]["expected"] == len(mine)
            assert entry["calls"]["least"] <= len(mine) <= entry["calls"]["most"]
            # What a call asks, in characters, and in tokens by one and the same estimate.
            sent = sum(characters_of(call.request) for call in mine) / len(mine)
            assert entry["per_call"]["prompt_characters"] == pytest.approx(sent, rel=0.05)
            counted = sum(characters_of(call.request) / 4 for call in mine) / len(mine)
            assert entry["input_tokens"]["expected"] / entry["calls"]["expected"] == pytest.approx(counted, rel=0.05)


def test_what_the_ladder_cost_lies_within_the_plan(played):
    path, document = played
    models = weigh("rank", path.parent / "results" / "s", "--json").json["accounts"]["models"]
    for account in models:
        (planned,) = [entry for entry in document["models"] if entry["model"] == account["model"]]
        for key, told in (
            ("input_tokens", "input_tokens"),
            ("output_tokens", "output_tokens"),
            ("cost_usd", "cost_usd"),
        ):
            assert planned[key]["least"] * 0.95 <= account["bill"][told] <= planned[key]["most"]
        assert planned["cost_usd"]["expected"] is None  # nobody had said how long answers are


def test_a_plan_from_the_run_itself_gives_back_what_the_run_measured(played, tmp_path):
    path, _ = played
    run = path.parent / "results" / "s"
    again = config(tmp_path, path.read_text())
    document = weigh("plan", again, "--from", run, "--json").json
    assert document["from"] == str(run)
    models = {entry["model"]: entry for entry in weigh("rank", run, "--json").json["accounts"]["models"]}
    for entry in document["models"]:
        bill = models[entry["model"]]["bill"]
        assert entry["calls"]["expected"] == pytest.approx(models[entry["model"]]["traffic"]["calls"])
        assert entry["input_tokens"]["expected"] == pytest.approx(bill["input_tokens"], rel=0.05)
        assert entry["output_tokens"]["expected"] == pytest.approx(bill["output_tokens"], rel=0.02)
        assert entry["cost_usd"]["expected"] == pytest.approx(bill["cost_usd"], rel=0.05)
    rates = entrants(document, "goofspiel")["bea"]["per_call"]
    assert (
        rates["output_tokens_from"]
        == rates["characters_per_token_from"]
        == rates["latency_from"]
        == rates["decisions_from"]
        == "policy"
    )
    assert 3.5 < rates["characters_per_token"] < 4.0  # the mock server counts four characters, and four tokens a turn
    assert rates["retry_share"] == 0
    assert {game["power"]["spread"]["source"] for game in document["games"]} == {"run"}
    assert document["cost_at"] == []
    for game in ("goofspiel", "oshi_zumo"):
        length = next(each for each in document["games"] if each["game"] == game)["decisions_per_episode"]
        for entry in entrants(document, game).values():
            played = entry["played"]
            assert played["decisions"] == pytest.approx(entry["decisions"])
            assert played["planned_decisions"] == pytest.approx(length["expected"] * played["seat_episodes"])
            assert played["planned_attempts_least"] <= played["attempts"] <= played["planned_attempts_most"]
    assert "played    " in weigh("plan", again, "--from", run).out


def test_a_finished_run_leaves_nothing_to_pay_for(played):
    path, _ = played
    document = weigh("plan", path, "--json").json
    assert (document["existing"]["finished"], document["episodes_left"]) == (document["episodes"], 0)
    assert document["total"]["calls"] == {"least": 0, "expected": 0, "most": 0}
    assert document["total"]["cost_usd"]["most"] == 0
    assert document["time"]["least_seconds"] == 0
    assert document["from"] == str(path.parent / "results" / "s")  # its own measures are used
    assert f"{document['episodes']} of {document['episodes']} played" in weigh("plan", path).out


@pytest.mark.slow
def test_a_partly_played_run_says_how_far_it_is_and_plans_the_rest(server, tmp_path):
    server.follow(read_plan({"rules": []}))
    text = ORDER.format(url=server.openai_url) + "episodes_in_flight = 1\n"
    path = config(tmp_path, text)
    whole = weigh("plan", path, "--json").json
    assert weigh("ladder", path, "--max-calls", 40).code == 4
    with Store.open(tmp_path / "results" / "s", readonly=True) as store:
        finished = len(store.finished())
        inside = 40 - sum(used.calls for key in store.finished() for used in store.usage(key).values())
    assert 0 < finished < whole["episodes"]
    document = weigh("plan", path, "--json").json
    assert document["episodes_left"] == whole["episodes"] - finished
    assert document["existing"]["calls"] == 40
    assert document["existing"]["paid_calls_of_unfinished"] == inside
    assert document["total"]["calls"]["least"] < whole["total"]["calls"]["least"]
    said = weigh("plan", path)
    assert f"{finished} of {whole['episodes']} played" in said.out
    # The ceiling counts what was spent before.
    config(tmp_path, text + f"max_calls = {40 + int(document['total']['calls']['least']) - 1}\n")
    assert weigh("plan", path, "--json").json["limits"][0]["verdict"] == "stops"
    assert "limits    max_calls = " in weigh("plan", path).out


def test_a_run_of_another_config_in_the_folder_is_told_and_does_not_count(tmp_path):
    path = config(tmp_path)
    assert weigh("ladder", path).code == 0
    config(tmp_path, SCRIPTED.replace("seed = 3", "seed = 4"))
    said = weigh("plan", path)
    assert said.code == 0
    assert "holds a run made under another config" in " ".join(said.out.split())
    document = weigh("plan", path, "--json").json
    assert document["episodes_left"] == document["episodes"]
    assert any(line.startswith("seed: ") for line in document["existing"]["differs"])


def test_of_an_extended_run_the_added_blocks_are_planned(server, tmp_path):
    text = ORDER.format(url=server.openai_url)
    path = config(tmp_path, text)
    assert weigh("ladder", path, "--max-calls", 5).code == 4
    config(tmp_path, text.replace("cards = 6\nblocks = 6", "cards = 6\nblocks = 9"))
    with Store.open(tmp_path / "results" / "s", readonly=True) as store:
        finished = len(store.finished())
    assert weigh("ladder", path, "--extend", "--max-calls", 5).code == 4
    document = weigh("plan", path, "--json").json
    assert document["existing"]["differs"] == []
    assert document["games"][0]["blocks"] == document["games"][0]["power"]["blocks"] == 9
    assert document["episodes_left"] == document["episodes"] - finished == 9 * 3 + 6 * 2 - finished


@pytest.mark.parametrize("name", ["ladder", pytest.param("league", marks=pytest.mark.slow)])
def test_the_examples_are_planned_without_keys_files_or_long_lines(name, tmp_path):
    before = sorted((ROOT / "examples").iterdir())
    said = weigh("plan", ROOT / "examples" / f"{name}.toml")
    assert (said.code, said.err) == (0, "")
    _, table, _, _ = said.out.split("\n\n")
    assert max(map(len, table.splitlines())) <= 80
    assert len(said.out.splitlines()) - len(table.splitlines()) <= 15
    assert "\x1b" not in said.out
    assert sorted((ROOT / "examples").iterdir()) == before


@pytest.mark.parametrize("blocks", [8, 4000])
def test_so_many_episodes_are_played_for_a_plan_and_no_more_whatever_it_plans(server, tmp_path, monkeypatch, blocks):
    played = []
    real = offline.play_episode

    async def counted(table, *others, **more):
        played.append(table.game.name)
        return await real(table, *others, **more)

    monkeypatch.setattr(offline, "play_episode", counted)
    order = ORDER.format(url=server.openai_url).replace("blocks = 6", f"blocks = {blocks}")
    document = weigh("plan", config(tmp_path, order), "--json").json
    assert document["episodes"] == blocks * 5
    for game in document["games"]:
        assert game["pilot_episodes"] == pilots.PILOTS
        for_spread = blocks_for(game["seats"]) * game["seats"]
        assert played.count(game["game"]) == game["pilot_episodes"] + for_spread


def test_scripted_entrants_make_no_calls_and_cost_nothing(tmp_path):
    path = config(tmp_path, SCRIPTED.replace("blocks = 2", "blocks = 8"))
    said = weigh("plan", path)
    assert said.code == 0
    assert "no model plays" in said.out
    document = weigh("plan", path, "--json").json
    assert document["total"]["calls"] == {"least": 0, "expected": 0, "most": 0}
    assert document["total"]["cost_usd"] == {"least": 0, "expected": 0, "most": 0}
    assert document["models"] == []
    assert document["games"][0]["power"]["minimum_detectable_difference"] > 0
    assert documents(tmp_path) == [path]


@pytest.mark.slow
def test_the_spread_of_scripted_pilots_is_about_that_of_the_ladder_they_stand_for(tmp_path):
    path = config(tmp_path, SCRIPTED.replace("blocks = 2", "blocks = 60").replace("cards = 4", "cards = 8"))
    planned = weigh("plan", path, "--json").json["games"][0]["power"]["spread"]
    assert planned["source"] == "scripted"
    assert weigh("ladder", path, "--json").code == 0
    (found,) = weigh("plan", tmp_path / "results" / "s", "--json").json["games"]
    assert found["power"]["spread"]["source"] == "run"
    assert found["power"]["spread"]["sd_block"] == pytest.approx(planned["sd_block"], rel=0.25)


def test_what_a_run_could_see_rests_on_the_interval_that_rank_prints(tmp_path):
    text = "[games.goofspiel]\nseats = 2\nblocks = 12\n[entrants]\na = 'match'\nb = 'random'\n"
    path = config(tmp_path, "seed = 3\nbaselines = false\n" + text)
    ladder = weigh("ladder", path, "--json").json["games"][0]
    low, high = ladder["lead"]["interval"]
    said = weigh("plan", tmp_path / "results" / "s", "--json", "--difference", abs(ladder["lead"]["difference"]))
    (game,) = said.json["games"]
    sd = (high - low) / 2 / stats.t.ppf(0.975, 11) * math.sqrt(12)
    assert game["power"]["spread"]["sd_block"] == pytest.approx(sd, rel=1e-4)
    assert game["power"]["minimum_detectable_difference"] == pytest.approx(
        sd * float(TTestPower().solve_power(None, 12, 0.05, 0.8, "two-sided")), rel=1e-3
    )
    # The ladder's own number is by the normal distribution; t asks for a little more.
    assert 0 <= game["power"]["blocks_needed"] - ladder["lead"]["blocks_needed"] <= 4
    assert game["power"]["more_blocks"] == max(0, game["power"]["blocks_needed"] - 12)
    text = weigh("plan", tmp_path / "results" / "s").out
    assert re.search(r"^goofspiel +12 ", text, re.MULTILINE)


def test_given_numbers_go_before_measures_and_assumptions(tmp_path, server):
    path = config(tmp_path, ORDER.format(url=server.openai_url))
    options = ("--output-tokens", 70, "--latency", 0.5, "--retry-share", 0.25)
    document = weigh("plan", path, *options, "--json").json
    rates = entrants(document, "goofspiel")["ada"]["per_call"]
    assert (rates["output_tokens"], rates["latency_seconds"], rates["retry_share"]) == (70, 0.5, 0.25)
    assert rates["output_tokens_from"] == rates["latency_from"] == rates["retry_share_from"] == "given"
    calls = entrants(document, "goofspiel")["ada"]["calls"]
    assert calls["expected"] == pytest.approx(1.25 * calls["least"])
    total = document["total"]
    assert total["output_tokens"]["expected"] == pytest.approx(70 * total["calls"]["expected"])
    said = weigh("plan", path, *options).out
    assert "at 0.5 s a call (given)" in said


def test_an_unknown_price_is_unknown_and_never_nothing(tmp_path):
    text = (
        SCRIPTED + '[entrants]\nada = "goofspiel/plain.md@mine:big"\n[models.mine]\nbase_url = "http://127.0.0.1:9"\n'
    )
    path = config(tmp_path, text)
    document = weigh("plan", path, "--json").json
    assert document["total"]["cost_usd"] is None
    assert document["total"]["unpriced_models"] == ["mine:big"]
    assert [point["cost_usd"] for point in document["cost_at"]] == [None] * len(document["cost_at"])
    said = weigh("plan", path).out
    assert "$" not in said
    assert "no price for mine:big" in said


def test_the_same_plan_twice_is_the_same_text(tmp_path, server):
    path = config(tmp_path, ORDER.format(url=server.openai_url))
    assert weigh("plan", path, "--json") == weigh("plan", path, "--json")
    assert documents(tmp_path) == [path]


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("nowhere.toml",), ("nowhere.toml", "no such file")),
        (("{folder}",), ("is not a run",)),
        (("{config}", "--from", "{folder}/nothing"), ("does not exist",)),
        (("{config}", "--difference", "0"), ("--difference", "above 0")),
        (("{config}", "--difference", "3"), ("--difference", "from 0 to 2")),
        (("{config}", "--alpha", "0"), ("--alpha",)),
        (("{config}", "--power", "1"), ("--power",)),
        (("{config}", "--output-tokens", "0"), ("--output-tokens", "at least 1")),
        (("{config}", "--latency", "0"), ("--latency", "above 0")),
        (("{config}", "--retry-share", "1.5"), ("--retry-share", "from 0 to 1")),
        (("{folder}", "--latency", "1", "--from", "x"), ("--from, --latency", "only with a config")),
    ],
    ids=" ".join,
)
def test_what_cannot_be_planned_is_refused_in_one_line(words, parts, tmp_path):
    path = config(tmp_path)
    said = weigh("plan", *(str(word).format(folder=tmp_path, config=path) for word in words))
    said.refused(*parts)


def test_a_run_without_a_finished_episode_says_so(tmp_path):
    text = (
        SCRIPTED + '[entrants]\nada = "goofspiel/plain.md@mock:m"\n[models.mock]\nbase_url = "http://127.0.0.1:9/v1"\n'
    )
    path = config(tmp_path, text + "[limits]\ndecision_timeout = 0.2\n")
    assert weigh("ladder", path, "--max-calls", 1).code == 4
    said = weigh("plan", tmp_path / "results" / "s")
    assert said.code == 0
    if json.loads(weigh("plan", tmp_path / "results" / "s", "--json").out)["games"] == []:
        assert "no finished episode" in said.out
    assert weigh("plan", path).code == 0

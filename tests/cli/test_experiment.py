"""`weigh experiment ballast-claims`: played, kept, gone on with, refused; with scripts and with models."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.cli.runner import config, documents, weigh
from weigh.harness.providers.mock_server import read_plan
from weigh.harness.store.store import Store

SCRIPTS = """\
seed = 3
baselines = false
[games.ballast]
[entrants]
feint = "feint"
steady = "steady"
"""
PAIR = ("--claimer", "feint", "--listener", "steady")
MODELS = """\
seed = 3
baselines = false
[games.ballast]
[entrants]
ada = "ballast/plain.md@mock:mock-a"
bea = "ballast/tempo.md@mock:mock-b"
[models.mock]
base_url = "{url}"
[limits]
decision_timeout = 5.0
"""


def test_an_experiment_is_no_ladder(tmp_path):
    order = config(tmp_path, SCRIPTS)
    said = ask(order, *PAIR, "--blocks", 4, "--json")
    folder = said.json["run"] if "run" in said.json else next((tmp_path / "results").iterdir())
    for command in ("rank", "report", "audit", "plan"):
        weigh(command, folder).refused("is an experiment", "`weigh experiment`")


def ask(order: Path, *words: object):
    return weigh("experiment", "ballast-claims", order, *words)


@pytest.mark.slow
def test_the_question_is_answered_and_everything_is_kept(tmp_path):
    order = config(tmp_path, SCRIPTS)
    said = ask(order, *PAIR, "--blocks", 30)
    assert said.code == 0, said
    head = said.out.splitlines()
    assert head[0].startswith("feint's claims are worth +0.")
    assert "they are read (exit 0)" in " ".join(said.out.split())
    assert "feint claims, steady listens: 30 blocks of two games an arm, seed 3" in head
    assert all(len(line) <= 80 for line in head)
    wide = ask(order, *PAIR, "--blocks", 30, "--wide").out
    assert "not causal" in wide
    assert all(len(line) <= 80 for line in wide.splitlines())
    folder = tmp_path / "results" / "s-claims"
    assert said.err.splitlines()[-1] == f"kept in {folder}; `weigh verify {folder}` recomputes every record"
    assert weigh("verify", folder).out == f"{folder}: OK, 240 records recomputed, no differences\n"
    again = ask(order, *PAIR, "--blocks", 30)
    assert again.out == said.out
    assert "240 already finished" in again.err


def test_the_document_holds_every_contrast_and_why_there_is_no_signalling(tmp_path):
    order = config(tmp_path, SCRIPTS)
    said = ask(order, *PAIR, "--blocks", 3, "--json")
    assert (said.code, said.err) == (3, "")
    (direction,) = said.json["directions"]
    assert [each["contrast"] for each in direction["contrasts"]] == [
        "normal - mute",
        "normal - scramble",
        "normal - force-truth",
    ]
    assert direction["signalling"]["information"] is None
    assert direction["signalling"]["why_not"] == "30 claims are too few: at least 200 are needed"


def test_a_scripted_control_needs_no_place_in_the_config(tmp_path):
    order = config(tmp_path, SCRIPTS.replace('steady = "steady"\n', 'mine = "bluffer"\n'))
    said = ask(order, "--claimer", "mine", "--listener", "deaf", "--blocks", 2, "--json")
    (direction,) = said.json["directions"]
    assert [each["difference"] for each in direction["contrasts"]] == [0, 0, 0]
    assert weigh("verify", tmp_path / "results" / "s-claims").code == 0


def test_the_two_listed_entrants_play_both_parts_and_share_the_normal_arm(tmp_path):
    order = config(tmp_path, SCRIPTS.replace("baselines = false\n", ""))
    said = ask(order, "--blocks", 2, "--listening", 0, "--json")
    there, back = said.json["directions"]
    assert (there["claimer"], back["claimer"]) == ("feint", "steady")
    assert said.json["episodes"] == {"planned": 28, "finished": 28}
    assert there["listening"] is None
    # Scores sum to 0, and both read them off the same games.
    assert there["contrasts"][0]["normal"] == -back["contrasts"][0]["normal"]


def test_margin_and_listening_say_how_a_run_is_read_and_play_nothing_anew(tmp_path):
    order = config(tmp_path, SCRIPTS)
    one = ask(order, *PAIR, "--blocks", 4, "--json").json
    other = ask(order, *PAIR, "--blocks", 4, "--margin", 1.9, "--listening", 7, "--json").json
    assert one["run_id"] == other["run_id"]
    assert (other["margin"], other["directions"][0]["listening"]["decisions"]) == (1.9, 7)


def test_another_order_is_refused_with_what_differs(tmp_path):
    order = config(tmp_path, SCRIPTS)
    ask(order, *PAIR, "--blocks", 2)
    said = ask(order, *PAIR, "--blocks", 3)
    assert said.code == 2
    assert "weigh:   experiment.pairs: 2 in the run, 3 in the config" in said.err.splitlines()
    assert ask(order, *PAIR, "--blocks", 2, "--seed", 4, "--name", "other").code in (0, 3)


@pytest.mark.parametrize(
    ("text", "words", "parts"),
    [
        (SCRIPTS, ("--claimer", "feint"), ("--claimer and --listener go together",)),
        (SCRIPTS, ("--claimer", "feint", "--listener", "feint"), ("cannot be told apart", "second name")),
        (
            SCRIPTS,
            ("--claimer", "x", "--listener", "feint"),
            ('--claimer: no entrant "x"', "feint, steady, bluffer, deaf, random do"),
        ),
        (SCRIPTS + 'deaf = "deaf"\n', (), ("exactly two", "--claimer and --listener", "feint, steady, deaf, bluffer")),
        (SCRIPTS.replace('feint = "feint"\n', "").replace("baselines = false\n", ""), (), ("exactly two",)),
        (SCRIPTS.replace("ballast", "goofspiel").replace("feint", "match").replace("steady", "hoard"), PAIR, ()),
        (SCRIPTS, ("--blocks", "1"), ("from 2", "not 1")),
        (SCRIPTS, ("--margin", "0"), ("a number above 0",)),
    ],
)
def test_what_cannot_be_asked_is_refused_and_leaves_nothing_behind(tmp_path, text, words, parts):
    order = config(tmp_path, text)
    ask(order, *words).refused(*parts)
    assert documents(tmp_path) == [order]


def test_a_config_without_ballast_says_what_to_add(tmp_path):
    text = "[games.goofspiel]\n[entrants]\n"
    ask(config(tmp_path, text), "--claimer", "match", "--listener", "hoard").refused("ballast")


def test_the_group_has_a_page(tmp_path):
    assert "ballast-claims" in weigh("experiment", "--help").out


# With models


@pytest.fixture(autouse=True)
def clean(request):
    if "server" in request.fixturenames:
        going = request.getfixturevalue("server")
        going.follow(read_plan({"rules": []}))
        going.reset()


def models(folder: Path, server, more: str = "") -> Path:
    return config(folder, MODELS.format(url=server.openai_url) + more, "m.toml")


def test_models_are_heard_altered_verified_and_never_asked_twice(server, tmp_path):
    order = models(tmp_path, server)
    words = ("--claimer", "ada", "--listener", "bea", "--blocks", 2, "--json")
    first = ask(order, *words)
    assert first.code == 3, first
    (direction,) = first.json["directions"]
    assert direction["listening"] is None  # of a model, nothing is asked again unless it is wanted
    wanted = direction["forced"]
    assert wanted["placements"] == 20
    assert 0 < wanted["wanted_lies"] <= 20  # the server's answers announce anything
    folder = tmp_path / "results" / "m-claims"
    with Store.open(folder, readonly=True) as store:
        for record in store.records():
            if "force-truth" in record.key:
                seat = record.entrants.index("ada~force-truth")
                mine = [each for each in record.measures["placed"] if each["owner"] == seat]
                assert all(each["announced"] == each["true"] for each in mine)
    assert weigh("verify", folder).code == 0

    before = server.stats()["requests"]
    heard = ask(order, *words, "--listening", 6)
    (direction,) = heard.json["directions"]
    assert direction["listening"]["decisions"] + direction["listening"]["left_out"] == 6
    assert server.stats()["requests"] == before + 12
    again = ask(order, *words, "--listening", 6)
    assert again.out == heard.out
    assert server.stats()["requests"] == before + 12
    assert weigh("verify", folder).code == 0


@pytest.mark.slow
def test_a_muted_model_is_sent_no_claim_of_its_opponent(server, tmp_path):
    order = models(tmp_path, server)
    ask(order, "--claimer", "ada", "--listener", "bea", "--blocks", 2)
    lines: dict[str, list[str]] = {"normal": [], "mute": []}
    with Store.open(tmp_path / "results" / "m-claims", readonly=True) as store:
        for call in store.calls():
            arm = call.key.episode.split("/")[1]
            record = store.record(call.key.episode)
            if record is not None and arm in lines and record.entrants[call.key.seat].startswith("bea"):
                rival = record.aliases[1 - call.key.seat]
                told = call.request.messages[1].text.splitlines()
                lines[arm] += [line for line in told if f"{rival} placed #" in line]
    assert any(line.endswith("announced 5.") for line in lines["normal"])
    assert lines["mute"]
    assert all(line.endswith("announced a value hidden from you.") for line in lines["mute"])


@pytest.mark.slow
def test_another_alteration_than_was_played_is_found(server, tmp_path):
    """A digest says what was altered, and so does its name."""
    order = models(tmp_path, server)
    ask(order, "--claimer", "ada", "--listener", "bea", "--blocks", 2)
    folder = tmp_path / "results" / "m-claims"
    with sqlite3.connect(folder / "run.sqlite") as db:
        db.execute('UPDATE meta SET value = replace(value, \'"force-truth","digest"\', \'"mute","digest"\')')
    db.close()
    said = weigh("verify", folder)
    assert said.code == 1
    assert "policies.ballast/ada~force-truth.alteration" in said.out


def test_a_ceiling_stops_it_and_the_same_command_goes_on(server, tmp_path):
    order = models(tmp_path, server, "max_calls = 30\nepisodes_in_flight = 1\n")
    words = ("--claimer", "ada", "--listener", "bea", "--blocks", 2, "--listening", 2)
    stopped = ask(order, *words)
    assert stopped.code == 4
    assert "30 calls are used up" in stopped.err
    assert "not all is played" in stopped.out
    models(tmp_path, server, "episodes_in_flight = 1\n")
    done = ask(order, *words)
    assert done.code == 3, done
    assert "bea asked again, 2 decisions" in ask(order, *words, "--wide").out
    assert server.stats()["requests"] == len(_calls(tmp_path))


@pytest.mark.slow
def test_a_ceiling_reached_while_listening_is_one(server, tmp_path):
    order = models(tmp_path, server)
    words = ("--claimer", "ada", "--listener", "bea", "--blocks", 2)
    assert ask(order, *words).code == 3
    made = len(_calls(tmp_path))
    models(tmp_path, server, f"max_calls = {made + 3}\n")
    stopped = ask(order, *words, "--listening", 5)
    assert stopped.code == 4
    assert len(_calls(tmp_path)) == made + 3


def _calls(folder: Path) -> list[object]:
    with Store.open(folder / "results" / "m-claims", readonly=True) as store:
        return list(store.call_facts())

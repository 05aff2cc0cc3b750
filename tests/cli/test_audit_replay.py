"""`weigh audit RUN --replay-shuffled CONFIG.toml`: planted habits are told apart, and what cannot be answered is
refused before anything is made."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runner import config, documents, weigh
from tests.harness.config.rematch_cases import BLOCKS, ORDER, after_a_sign, always, by_names, order, planted
from weigh.harness.audit.verify.run import verify_run
from weigh.harness.cli.commands.ladder import showing
from weigh.harness.cli.output import print_json, print_note
from weigh.harness.errors import Refused, StoreRefused
from weigh.harness.gate.rematch import ReplaySpec
from weigh.harness.gate.rematch import replay as played_again
from weigh.harness.providers.mock_server import MockServerProcess
from weigh.harness.results import load
from weigh.harness.store.store import Store
from weigh.policies.scripted.bidders import match_prize
from weigh.policies.scripted.policy import Rule

PAIR = [("aside", "marker")]


def replay(run: Path, path: Path, pairs: Any = PAIR, *, json: bool = True, **more: Any) -> int:
    replayed = played_again(ReplaySpec([run], path, pairs, **more), showing(json), print_note, quiet=json)
    print_json(replayed.to_json())
    return replayed.code


def verdicts(told: Any) -> dict[str, str]:
    (pair,) = told["pairs"]
    return {contrast["arms"][1]: contrast["verdict"] for contrast in pair["contrasts"]}


def findings(folder: Path) -> list[str]:
    with Store.open(folder, readonly=True) as store:
        return [str(finding) for finding in verify_run(store).findings]


@pytest.mark.parametrize(
    ("feeder", "expected"),
    [
        pytest.param(after_a_sign, {"aliases": "same", "replaced": "less"}, id="by a sign in play"),
        pytest.param(by_names(), {"aliases": "less", "replaced": "same"}, id="by the names"),
        pytest.param(always, {"aliases": "same", "replaced": "same"}, id="for everybody", marks=pytest.mark.slow),
        pytest.param(match_prize, {"aliases": "same", "replaced": "same"}, id="for nobody", marks=pytest.mark.slow),
    ],
)
def test_each_arm_takes_away_one_reason(
    feeder: Rule, expected: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with planted(feeder):
        path = order(tmp_path)
        assert weigh("ladder", path).code == 0
        assert replay(tmp_path / "results" / "planted", path) == 0
        folder = tmp_path / "results" / "planted-rematch"
        assert findings(folder) == []
    told = json.loads(capsys.readouterr().out)
    assert verdicts(told) == expected
    assert (told["episodes"], told["finished"]) == (3 * 4 * BLOCKS, 3 * 4 * BLOCKS)
    (pair,) = told["pairs"]
    assert pair["stand_in"] == "match"
    first, again, aliases, replaced = pair["levels"]
    assert {level["tables"] for level in pair["levels"]} == {4 * BLOCKS}
    # Nothing here draws, so the same table under the same names is the same play.
    assert {**again, "arm": "first"} == first
    assert again["share"] > 0.5 or feeder is match_prize
    if expected["aliases"] == "same":
        assert {**aliases, "arm": "again"} == again
    assert (replaced["share"] < again["share"] - 0.2) == (expected["replaced"] == "less")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A planted run, with the config that made it beside its `results`."""
    folder = tmp_path_factory.mktemp("played")
    with planted(after_a_sign):
        assert weigh("ladder", order(folder)).code == 0
    return folder / "results" / "planted"


def test_the_arms_keep_what_they_promise(played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with planted(after_a_sign):
        path = order(tmp_path)
        assert replay(played, path) == 0
    with Store.open(played, readonly=True) as store:
        first = {record.key: record for record in store.records()}
    with Store.open(tmp_path / "results" / "planted-rematch", readonly=True) as store:
        records = list(store.records())
        assert store.manifest.seed == 5
        assert store.status == "finished"
    for record in records:
        key, _, arm = record.key.rpartition(".")
        origin = first[key]
        assert (record.deal, record.block, record.config) == (origin.deal, origin.block, origin.config)
        assert (record.aliases == origin.aliases) == (arm != "aliases")
        seats = zip(record.entrants, origin.entrants, strict=True)
        assert all(now == then or (then, now, arm) == ("marker", "match", "without-marker") for now, then in seats)
        assert ("marker" in record.entrants) == (arm != "without-marker")
    assert [record.key.rpartition(".")[2] for record in records[:3]] == ["again", "aliases", "without-marker"]


def test_a_rematch_is_no_ladder_alone_or_together_with_its_run(played: Path, tmp_path: Path) -> None:
    with planted(after_a_sign):
        replay(played, order(tmp_path))
        rematch = tmp_path / "results" / "planted-rematch"
        for words in (["rank"], ["report"], ["audit"], ["plan"], ["rank", played], ["audit", played]):
            weigh(*words, rematch).refused("is a rematch", "no ladder", "weigh audit RUN --replay-shuffled")
        with pytest.raises(StoreRefused, match="is a rematch"):
            load(rematch).rank()
    assert len(load(rematch).seats) == 3 * 4 * BLOCKS * 4


@pytest.mark.slow
def test_a_rematch_that_was_interrupted_goes_on_and_repeats_nothing(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moves = 0

    def interrupted(facts: Any, legal: Any, rng: Any) -> Any:
        nonlocal moves
        moves += 1
        if moves == 100:
            os.kill(os.getpid(), signal.SIGINT)
        return after_a_sign(facts, legal, rng)

    folder = tmp_path / "results" / "planted-rematch"
    with planted(interrupted):
        assert replay(played, order(tmp_path), json=False) == 130
    told = capsys.readouterr()
    assert f"weigh audit {played} --replay-shuffled {tmp_path / 'planted.toml'} --pair aside:marker" in told.err
    with Store.open(folder, readonly=True) as store:
        before = {record.key: record.times for record in store.records()}
        assert store.status == "interrupted"
    assert 0 < len(before) < 3 * 4 * BLOCKS
    with planted(after_a_sign):
        assert replay(played, order(tmp_path)) == 0
        with Store.open(folder, readonly=True) as store:
            after = {record.key: record.times for record in store.records()}
        assert len(after) == 3 * 4 * BLOCKS
        assert {key: after[key] for key in before} == before
        assert findings(folder) == []
        told_once = json.loads(capsys.readouterr().out)
        assert replay(played, order(tmp_path)) == 0
        assert json.loads(capsys.readouterr().out) == told_once


def test_names_of_another_episode_do_not_verify(played: Path, tmp_path: Path) -> None:
    with planted(after_a_sign):
        replay(played, order(tmp_path))
        folder = tmp_path / "results" / "planted-rematch"
        db = sqlite3.connect(folder / "run.sqlite", isolation_level=None)
        found = {
            key: body
            for key, body in db.execute("SELECT e.key, r.body FROM records r JOIN episodes e ON e.id = r.episode")
        }
        body = json.loads(found["goofspiel/b0000/r0.again"])
        body["aliases"] = json.loads(found["goofspiel/b0000/r0.aliases"])["aliases"]
        db.execute(
            "UPDATE records SET body = ? WHERE episode = (SELECT id FROM episodes WHERE key = ?)",
            (json.dumps(body), "goofspiel/b0000/r0.again"),
        )
        db.close()
        assert any("aliases" in line and "seed draws" in line for line in findings(folder))


def test_the_words_say_what_was_found_and_no_more(played: Path, tmp_path: Path) -> None:
    with planted(after_a_sign):
        words = ["audit", played, "--replay-shuffled", order(tmp_path), "--pair", "aside:marker"]
        told = weigh(*words)
    assert told.code == 0
    assert "goes down when marker is replaced: it depends on marker" in told.out
    assert "stays under other names (within 0.10): the names do not carry it" in told.out
    assert "not yet in league" in told.out
    assert "played again: 108 episodes" in told.err
    assert "marker is replaced by match in 36 of them" in told.err


def test_the_command_plays_it_and_goes_on_with_it(played: Path, tmp_path: Path) -> None:
    with planted(after_a_sign):
        words = ["audit", played, "--replay-shuffled", order(tmp_path), "--pair", "aside:marker"]
        said = weigh(*words, "--name", "second", "--replace-with", "match", "--json")
        assert said.code == 0
        assert verdicts(said.json) == {"aliases": "same", "replaced": "less"}
        assert said.json["pairs"][0]["stand_in"] == "match"
        assert said.json["rematch"] == str(tmp_path / "results" / "second")
        assert weigh("verify", tmp_path / "results" / "second").code == 0


def refused(run: Path, path: Path, pairs: Any = PAIR, **more: Any) -> str:
    with planted(after_a_sign), pytest.raises(Refused) as caught:
        replay(run, path, pairs, **more)
    assert caught.value.code == 2
    assert not [file for file in documents(path.parent) if file.name == "run.sqlite"]
    return "\n".join(caught.value.lines)


def test_refused_a_config_without_one_who_sat_there(played: Path, tmp_path: Path) -> None:
    path = order(tmp_path, ORDER.replace('marker = "marker"', 'markers = "marker"'))
    assert "has no entrant marker for goofspiel" in refused(played, path)


def test_refused_a_policy_that_changed_since(played: Path, tmp_path: Path) -> None:
    said = refused(played, order(tmp_path, ORDER.replace('aside = "feeder"', 'aside = "hoard"')))
    assert f"aside does not play as it did in {played}: its policy has changed since" in said
    assert '  entrants.aside.scripted: "feeder" in the run, "hoard" in the config' in said


def test_refused_another_config_of_the_game(played: Path, tmp_path: Path) -> None:
    said = refused(played, order(tmp_path, ORDER.replace("cards = 6", "cards = 7")))
    assert "  games.goofspiel.config.cards: 6 in the run, 7 in the config" in said


def test_refused_a_pair_that_never_met_or_is_one(played: Path, tmp_path: Path) -> None:
    path = order(tmp_path)
    assert "with both aside and nobody in it" in refused(played, path, [("aside", "nobody")])
    assert "cannot stand aside for itself" in refused(played, path, [("aside", "aside")])


def test_refused_a_stand_in_that_is_unknown_or_of_the_pair(played: Path, tmp_path: Path) -> None:
    path = order(tmp_path)
    assert "did you mean 'match'?" in refused(played, path, replace_with="mach")
    assert "is one of the pair" in refused(played, path, replace_with="aside")


def test_refused_a_stand_in_that_sits_at_the_table_already(played: Path, tmp_path: Path) -> None:
    tables = 4 * BLOCKS
    said = refused(played, order(tmp_path), replace_with="even")
    assert said.startswith(f"--replace-with: even sits at {tables} of the {tables} tables already")


def test_refused_a_name_no_folder_can_have_and_several_runs(played: Path, tmp_path: Path) -> None:
    path = order(tmp_path)
    assert "--name: " in refused(played, path, name="a/b")
    with pytest.raises(Refused, match="one run is played again at a time"):
        played_again(ReplaySpec([played, played], path, PAIR), showing(True), print_note)


def test_refused_a_run_of_another_game(tmp_path: Path) -> None:
    zumo = config(tmp_path, "[games.oshi_zumo]\ncoins = 6\nblocks = 1\n", "zumo.toml")
    assert weigh("ladder", zumo).code == 0
    with planted(after_a_sign), pytest.raises(Refused, match=r"no finished episode of goofspiel.*it holds oshi_zumo"):
        replay(tmp_path / "results" / "zumo", order(tmp_path))


def test_refused_a_rematch_of_a_rematch_and_a_folder_that_holds_another(played: Path, tmp_path: Path) -> None:
    with planted(after_a_sign):
        path = order(tmp_path)
        replay(played, path)
        with pytest.raises(Refused, match="is a rematch itself"):
            replay(tmp_path / "results" / "planted-rematch", path)
        with pytest.raises(Refused) as caught:
            replay(played, path, replace_with="random")
    assert "--name" in caught.value.lines[0]
    assert any("rematch.stand_ins.marker" in line for line in caught.value.lines)


def test_refused_a_run_whose_names_cannot_be_dealt_again(played: Path, tmp_path: Path) -> None:
    shutil.copytree(played, tmp_path / "touched")
    db = sqlite3.connect(tmp_path / "touched" / "run.sqlite", isolation_level=None)
    body = db.execute("SELECT body FROM records WHERE episode = 1").fetchone()[0]
    aliases = [*json.loads(body)["aliases"][1:], json.loads(body)["aliases"][0]]
    db.execute("UPDATE records SET body = ? WHERE episode = 1", (json.dumps({**json.loads(body), "aliases": aliases}),))
    db.close()
    with planted(after_a_sign), pytest.raises(Refused, match="names are not drawn from the run's seed"):
        replay(tmp_path / "touched", order(tmp_path))
    assert not (tmp_path / "results").exists()


MODELS = """\
seed = 3
baselines = false
[games.goofspiel]
seats = 2
cards = 4
blocks = 2
[entrants]
plain = "goofspiel/plain.md@mock:mock-small"
hoard = "hoard"
[models.mock]
base_url = "{url}"
[limits]
replays = 0
episodes_in_flight = 1
"""


def test_models_are_asked_again_within_the_limits_and_never_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with MockServerProcess() as server:
        path = config(tmp_path, MODELS.format(url=server.openai_url), "m.toml")
        assert weigh("ladder", path).code == 0
        run, folder = tmp_path / "results" / "m", tmp_path / "results" / "m-rematch"
        server.reset()
        config(tmp_path, MODELS.format(url=server.openai_url) + "max_calls = 7\n", "m.toml")
        assert replay(run, path, [("plain", "hoard")]) == 4
        assert server.stats()["requests"] == 7
        config(tmp_path, MODELS.format(url=server.openai_url), "m.toml")
        # Two blocks answer nothing: 3 is inconclusive.
        assert replay(run, path, [("plain", "hoard")]) == 3
        with Store.open(folder, readonly=True) as store:
            assert store.totals().calls == server.stats()["requests"] >= 3 * 4 * 4
            assert len(store.finished()) == 12
    assert findings(folder) == []
    told = json.loads(capsys.readouterr().out.partition("}\n{")[2].join(["{", ""]))
    assert verdicts(told) == {"aliases": "open", "replaced": "open"}
    assert all(contrast["more_blocks"] >= 1 for contrast in told["pairs"][0]["contrasts"])

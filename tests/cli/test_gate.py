"""`weigh gate` with scripted policies: verdicts, files, refusals, and a verdict that repeats itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from junitparser import JUnitXml

from tests.cli.runner import documents, weigh
from weigh.harness.store.store import Store

SMALL = ("--game", "goofspiel", "--set", "cards=6", "--set", "seats=2", "--opponents", "match")
AA = ("gate", "--baseline", "match", "--candidate", "match", *SMALL, "--margin", 0.3)
WORSE = ("gate", "--baseline", "match", "--candidate", "random", *SMALL, "--margin", 0.1)
OSHI = ("--game", "oshi_zumo", "--set", "coins=10", "--opponents", "random")


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def base():
    """A baseline file of match."""
    said = weigh("gate", "--save-baseline", "base.json", "--candidate", "match", *SMALL, "--blocks", 30)
    assert said.code == 0, said
    return Path("base.json")


def against(*more):
    return weigh("gate", "--baseline", "base.json", "--candidate", *more)


def test_a_policy_against_itself_passes_and_says_what_was_measured():
    said = weigh(*AA, "--wide")
    assert said.code == 0, said
    assert said.out.startswith("PASS (exit 0) ")
    text = " ".join(said.out.split())
    for part in (
        "match (candidate) against match (baseline) at goofspiel, 20 blocks",
        "mean score at goofspiel of match less that of match, in one seat against match, over the same deals, seeds",
        "from the baseline in: nothing",
        "moves its own: candidate 100.0%, baseline 100.0% (a pass needs 80.0%)",
        "retried candidate 0.0%, baseline 0.0% of the moves",
        "a block may differ by [-2.000, +2.000]",
        "difference 0.000 bounds ",
        "minimum detectable difference (80% power): -",
        "at the earliest after 20 blocks that all agree",
        "80 episodes, 0 calls, $0.00",
    ):
        assert part in text, part


def test_chance_in_the_place_of_match_is_a_regression():
    said = weigh(*WORSE)
    assert said.code == 1, said
    assert "REGRESSION" in said.out
    assert "look at what it played: weigh view results/gate-goofspiel-random/candidate-" in " ".join(said.out.split())


def test_too_few_blocks_are_inconclusive_and_never_green():
    said = weigh("gate", "--baseline", "match", "--candidate", "random", *OSHI, "--margin", 0.3, "--max-blocks", 4)
    assert said.code == 3, said
    assert said.out.startswith("INCONCLUSIVE (exit 3, not green)")
    assert "more blocks" in said.out
    assert "could not have passed: an unchanged policy needs" in said.out


def test_a_finished_gate_gives_the_same_bytes_again_and_plays_nothing():
    first = weigh(*WORSE, "--json")
    assert first.code == 1
    before = {path: path.stat().st_mtime_ns for path in documents(Path("results")) if path.suffix == ".sqlite"}
    sizes = {path: path.read_bytes() for path in before}
    assert weigh(*WORSE, "--json") == first
    assert {path: path.read_bytes() for path in before} == sizes


def test_a_larger_cap_plays_only_what_is_new_and_a_smaller_one_reads_the_first_blocks():
    words = ("gate", "--baseline", "match", "--candidate", "random", *OSHI, "--margin", 0.3, "--json")
    few = weigh(*words, "--max-blocks", 4).json["gates"][0]
    more = weigh(*words, "--max-blocks", 12).json["gates"][0]
    again = weigh(*words, "--max-blocks", 4).json["gates"][0]
    assert (few["blocks"], few["episodes"]) == (4, 16)
    assert more["blocks"] > 4
    assert (again["mean"], again["blocks"]) == (few["mean"], 4)
    for run in documents(Path("results")):
        if run.name == "run.sqlite":
            assert weigh("verify", run.parent).code == 0


def test_both_arms_play_equal_deals_with_equal_streams():
    weigh(*WORSE)
    candidate, baseline = (
        next(Path("results/gate-goofspiel-random").glob(f"{role}-*")) for role in ("candidate", "baseline")
    )
    with Store.open(candidate, readonly=True) as one, Store.open(baseline, readonly=True) as other:
        pairs = list(zip(one.records(), other.records(), strict=True))
    assert pairs
    for mine, theirs in pairs:
        assert (mine.key, mine.deal, mine.aliases) == (theirs.key, theirs.deal, theirs.aliases)
        seat = mine.entrants.index("candidate")
        assert theirs.entrants[seat] == "baseline"


def test_runs_of_both_arms_re_derive():
    weigh(*WORSE)
    runs = [path.parent for path in documents(Path("results")) if path.name == "run.sqlite"]
    assert len(runs) == 2
    for run in runs:
        assert weigh("verify", run).code == 0, run


def test_a_baseline_file_lets_only_the_candidate_play(base):
    text = base.read_text()
    assert len(text) < 6000
    said = against("random", "--margin", 0.1, "--json")
    assert said.code == 1, said
    (gate,) = said.json["gates"]
    assert gate["episodes"] == gate["blocks"] * 2
    compared = weigh("compare", "match", "random", *SMALL, "--blocks", gate["blocks"], "--json").json
    assert gate["mean"] == pytest.approx(compared["difference"]["mean"])
    assert gate["baseline_file"] == "base.json"


def test_saving_a_baseline_twice_gives_the_same_bytes(base):
    first = base.read_bytes()
    said = weigh("gate", "--save-baseline", "again.json", "--candidate", "match", *SMALL, "--blocks", 30, "--json")
    assert said.code == 0
    assert Path("again.json").read_bytes() == first
    assert said.json["blocks"] == 30
    assert said.json["digest"] == json.loads(first)["digest"]


@pytest.mark.parametrize(
    ("more", "difference"),
    [
        (("--set", "cards=7", "--set", "seats=2"), "config.cards: 6 in the baseline, 7 now"),
        (("--opponents", "random"), "opponents: match in the baseline, random now"),
        (("--seed", 5), "seed: 0 in the baseline, 5 now"),
        (("--timeout", 5), "decision_timeout: 60.0 in the baseline, 5.0 now"),
        (("--game", "oshi_zumo"), "game: goofspiel in the baseline, oshi_zumo now"),
    ],
)
def test_what_does_not_fit_the_baseline_is_invalid_and_named_and_nothing_is_played(base, more, difference):
    said = against("hoard", "--margin", 0.05, *more, "--name", "x", "--junit", "gate.xml")
    assert said.code == 4, said
    assert difference in said.out
    assert not Path("results/gate-x").exists()
    assert JUnitXml.fromfile("gate.xml").errors == 1


def test_a_baseline_edited_by_hand_is_invalid(base):
    document = json.loads(base.read_text())
    document["blocks"][3]["scores"][0] = -0.25
    base.write_text(json.dumps(document))
    said = against("match", "--margin", 0.1)
    assert said.code == 4, said
    assert "digest: the file was edited" in said.out


def test_other_rules_than_the_baselines_are_invalid(base, monkeypatch):
    monkeypatch.setattr("weigh.harness.gate.arm.rules_digest", lambda *words: "0" * 64)
    said = against("match", "--margin", 0.1)
    assert said.code == 4, said
    assert "why       rules:" in said.out


def test_void_blocks_of_a_baseline_are_left_out_and_told(base):
    from weigh.harness.gate.baseline import BlockScores, digest_of, read_baseline, written

    kept = read_baseline(base.read_text(), "base.json")
    blocks = (BlockScores(key=kept.blocks[0].key, scores=(None, 0.0)), *kept.blocks[1:])
    changed = kept.model_copy(update={"blocks": blocks})
    base.write_text(written(changed.model_copy(update={"digest": digest_of(changed)})))
    # The run it was saved from has a score there: where it lies, the file is not believed.
    assert "its scores are not those of" in against("match", "--margin", 0.3, "--json").json["gates"][0]["reason"]
    shutil.rmtree("results/gate-goofspiel-match")
    said = against("match", "--margin", 0.3, "--json")
    assert said.code == 0, said
    (gate,) = said.json["gates"]
    assert (gate["baseline_void_blocks"], gate["void_blocks"], gate["max_blocks"]) == (1, 0, 29)


def test_junit_summary_and_json_say_the_same(tmp_path):
    page = tmp_path / "job.md"
    page.write_text("before\n")
    files = ("--junit", "gate.xml", "--summary", "gate.md", "--json")
    said = weigh(*WORSE, *files, environ={"GITHUB_STEP_SUMMARY": str(page)})
    assert said.code == said.json["exit_code"] == 1
    assert said.json["verdict"] == "regression"
    assert JUnitXml.fromfile("gate.xml").failures == 1
    assert "REGRESSION" in Path("gate.md").read_text()
    assert page.read_text() == "before\n" + Path("gate.md").read_text()


FILE = """\
name = "nightly"
[defaults]
game = "goofspiel"
set = { cards = 6, seats = 2 }
opponents = ["match"]
margin = 0.3
[gates.same]
baseline = "match"
candidate = "@careful"
[gates.same.checks]
fallback_rate = 0.0
tied_top = { max_decrease = 0.2 }
[gates.worse]
baseline = "match"
candidate = "random"
margin = 0.1
[entrants]
careful = "match"
"""


def test_several_gates_in_a_file_are_played_and_never_averaged():
    Path("gate.toml").write_text(FILE)
    said = weigh("gate", "gate.toml", "--json")
    assert said.code == 1, said
    same, worse = said.json["gates"]
    assert (same["verdict"], worse["verdict"]) == ("pass", "regression")
    assert [check["verdict"] for check in same["checks"]] == ["pass", "pass"]
    assert worse["p_regression_holm"] == pytest.approx(2 * worse["p_regression"])
    assert worse["beta"] == 0.025
    assert Path("results/gate-nightly/worse").is_dir()
    assert weigh("gate", "gate.toml", "--json") == said


def test_gates_as_a_list_read_alike():
    table = FILE.replace("[gates.same]", '[[gates]]\nname = "same"').replace("[gates.same.checks]", "[gates.checks]")
    Path("gate.toml").write_text(table.replace("[gates.worse]", '[[gates]]\nname = "worse"'))
    said = weigh("gate", "gate.toml", "--json")
    assert [gate["name"] for gate in said.json["gates"]] == ["same", "worse"]
    assert said.code == 1


@pytest.mark.parametrize("baseline", ["base.json", "match"])
def test_a_change_of_a_measure_fails_by_its_bound_and_says_over_what_it_was_measured(base, baseline):
    """`match` never wins a prize alone, `random` often does; what prizes cost differs by chance."""
    checks = (
        "won_alone = { max_increase = 0.1 }\nprice = { max_increase = 0.0 }\nhighest_card = { max_decrease = 0.5 }\n"
    )
    game = (
        "" if baseline == "base.json" else 'game = "goofspiel"\nset = { cards = 6, seats = 2 }\nopponents = ["match"]\n'
    )
    gate = f'{game}baseline = "{baseline}"\ncandidate = "random"\nmargin = 1.2\n'
    Path("gate.toml").write_text(f"[gates.one]\n{gate}[gates.one.checks]\n{checks}")
    said = weigh("gate", "gate.toml", "--json")
    assert said.code == 1, said
    (only,) = said.json["gates"]
    won, price, card = only["checks"]
    assert [check["verdict"] for check in only["checks"]] == ["regression", "inconclusive", "pass"]
    assert 0.1 < won["change_bound"] < won["value"] - won["baseline"]
    assert price["change_bound"] < 0.0 < price["value"] - price["baseline"]
    assert card["change_bound"] is None
    assert {check["blocks"] for check in only["checks"]} == {only["blocks"]}
    text = " ".join(weigh("gate", "gate.toml", "--wide").out.split())
    assert f"checked over {only['blocks']} blocks; max and min have no error rate" in text


@pytest.mark.parametrize(
    ("found", "put", "parts"),
    [
        ("margin = 0.3", "margn = 0.3", ["gate.toml:6: defaults.margn: unknown key", "margin"]),
        ("fallback_rate = 0.0", "falback_rate = 0.0", ["falback_rate: unknown measure of goofspiel", "fallback_rate"]),
        ("max_decrease = 0.2", "max_drop = 0.2", ["max_drop: unknown key"]),
        ("{ max_decrease = 0.2 }", "{}", ["bounds nothing"]),
        ('candidate = "random"', 'candidate = "randomm"', ["gates.worse.candidate", "random"]),
        ('name = "nightly"', 'name = "n"\nmax_void_rate = 0.6', ["gate.toml:2: max_void_rate", "at most 0.5"]),
        ('name = "nightly"', 'name = "n"\nmax_fallback_rate = 1.5', ["max_fallback_rate", "at most 1"]),
        ('name = "nightly"', 'name = "n"\nends = "safe"', ["ends: unknown key"]),
        ("[gates.same]", "[gates.same]\nbaselin = 1", ["baselin: unknown key"]),
        ('name = "nightly"', "nam = 1", ["nam: unknown key"]),
        ("cards = 6", "cards = 99", ["cards"]),
        ('"@careful"', '"@carefull"', ["gates.same.candidate", "careful"]),
        ("margin = 0.1", "margin = -1", ["gates.worse.margin: must be above 0"]),
    ],
)
def test_every_problem_of_a_gate_file_is_named_with_its_line(found, put, parts):
    assert found in FILE
    Path("gate.toml").write_text(FILE.replace(found, put, 1))
    said = weigh("gate", "gate.toml")
    assert said.code == 2, said
    for part in parts:
        assert part in said.err, part
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("gate",), ["--baseline, --candidate, --margin: missing"]),
        (("gate", "--baseline", "match", "--candidate", "match", "--margin", 0.1), ["--game: missing"]),
        (("gate", "--baseline", "none.json", "--candidate", "match", "--margin", 0.1), ["none.json: No such file"]),
        ((*AA, "--opponents", "match,mine.md@openai:x"), ["scripted policies only"]),
        ((*AA, "--opponents", "mtach"), ["mtach", "match"]),
        ((*AA, "--max-blocks", 1), ["1 blocks cannot be judged"]),
        ((*AA, "--max-void-rate", 0.6), ["--max-void-rate"]),
        ((*AA, "--max-fallback-rate", 1.5), ["--max-fallback-rate"]),
        ((*AA, "--blocks", 8), ["--max-blocks"]),
        ((*AA[:-1], 0), ["--margin"]),
        ((*AA, "--name", "a/b"), ["--name"]),
        ((*AA, "--style", "schema"), ["--style"]),
        ((*AA, "--junit", "no/such/x.xml"), ["--junit", "folder does not exist"]),
        (("gate", "--save-baseline", "b.json", "--candidate", "match"), ["--game: missing"]),
        (("gate", "--save-baseline", "b.json", "--candidate", "match", *SMALL, "--margin", 0.1), ["--margin"]),
        (("gate", "--save-baseline", "b.json", "--candidate", "match", *SMALL, "--blocks", 0), ["--blocks"]),
        (("gate", "gate.toml", "--margin", 0.1), ["--margin", "gate.toml"]),
        (("gate", "gate.toml"), ["no such file"]),
    ],
)
def test_what_is_asked_wrongly_is_refused_in_one_line_and_nothing_is_made(words, parts):
    weigh(*words).refused(*parts)
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("put", "parts"),
    [({"schema_version": 9}, ["schema_version is 9", "upgrade"]), ({"more": 1}, ["more", "unknown key"])],
)
def test_a_file_that_is_no_baseline_of_ours_is_refused_clearly(base, put, parts):
    base.write_text(json.dumps({**json.loads(base.read_text()), **put}))
    against("match", "--margin", 0.1).refused("base.json", *parts)

"""`weigh compare`: two arms on the same deals, and A against itself, on the real engine."""

from __future__ import annotations

import io
import signal
import sys
from pathlib import Path
from unittest import mock

import pytest
from scipy import stats

from tests.cli.runner import config, started, weigh
from tests.waiting import until
from weigh.harness.cli.app import run
from weigh.harness.providers.mock_server import MockServerProcess, Options, read_plan
from weigh.harness.store.store import Store
from weigh.policies.replicate import Redrawn

PLAIN, TEMPO = "goofspiel/plain.md@mock:mock-small", "goofspiel/tempo.md@mock:mock-small"
SMALL = ("--game", "goofspiel", "--set", "cards=4", "--set", "seats=2")


@pytest.fixture(scope="module")
def server():
    with MockServerProcess(Options(log_size=50)) as going:
        yield going


@pytest.fixture(autouse=True)
def clean(request):
    if "server" in request.fixturenames:
        going = request.getfixturevalue("server")
        going.follow(read_plan({"rules": []}))
        going.reset()


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compare(*words, **more):
    return weigh("compare", *words, **more)


def records(document, letter):
    (run,) = [arm["run"] for arm in document["arms"] if arm["arm"] == letter]
    with Store.open(Path(run), readonly=True) as store:
        return {record.key: record for record in store.records()}


def test_an_arm_is_no_ladder_and_two_arms_are_none(here):
    said = compare("match", "hoard", *SMALL, "--blocks", 2, "--json")
    arms = [arm["run"] for arm in said.json["arms"] if arm["run"]]
    assert arms
    for words in (["rank", *arms], ["rank", arms[0]], ["report", arms[0]], ["audit", arms[0]], ["plan", arms[0]]):
        weigh(*words).refused("is one arm of a gate or a comparison", "`weigh gate` or `weigh compare`")


@pytest.mark.slow
def test_hoard_against_match_differs_as_worked_out_from_the_records(here):
    said = compare("match", "hoard", "--game", "goofspiel", "--json")
    assert said.code == 0
    document = said.json
    a, b = records(document, "A"), records(document, "B")
    assert a.keys() == b.keys()
    assert len(a) == 80
    blocks = {}
    for key in a:
        # The focal policy of rotation s sits at seat s.
        seat = int(key.rpartition("/r")[2])
        blocks.setdefault(a[key].block, []).append(b[key].scores[seat] - a[key].scores[seat])
    means = [sum(pairs) / 4 for pairs in blocks.values()]
    assert all(len(pairs) == 4 for pairs in blocks.values())
    assert [block["difference"] for block in document["blocks"]] == pytest.approx(means)
    test = stats.ttest_1samp(means, 0)
    interval = test.confidence_interval()
    assert document["difference"]["mean"] == pytest.approx(sum(means) / 20)
    assert document["difference"]["interval"] == pytest.approx([interval.low, interval.high])
    assert test.pvalue < 0.001
    assert document["difference"]["p"] < 0.001
    assert document["answer"] == "a_higher"


def test_both_arms_meet_the_same_deals_names_and_field(here):
    document = compare("match", "random", *SMALL, "--blocks", 6, "--opponents", "random", "--json").json
    a, b = records(document, "A"), records(document, "B")
    assert len(a) == 12
    for key in a:
        seat = int(key.rpartition("/r")[2])
        assert (a[key].deal, a[key].aliases) == (b[key].deal, b[key].aliases)
        assert (a[key].entrants[seat], b[key].entrants[seat]) == ("baseline", "candidate")
        # The other seat's first move depends on nothing but its stream, which is the same.
        assert a[key].moves[0][1 - seat] == b[key].moves[0][1 - seat]
        assert a[key].policies[1 - seat] == b[key].policies[1 - seat]


def test_a_script_against_itself_is_exactly_0_and_the_reason_is_told(here):
    said = compare("match", "hoard", *SMALL, "--aa")
    assert said.code == 0
    text = " ".join(said.out.split())
    assert "A less itself 0.000 in every block: A is a script whose moves follow from what it sees" in text
    equal = compare("match", "match", *SMALL, "--json").json
    assert {block["difference"] for block in equal["blocks"]} == {0.0}
    assert equal["answer"] == "not_significant"
    # Twenty blocks that agree are no proof that the next one will.
    assert (equal["difference"]["interval"], equal["difference"]["sd"]) == (None, 0.0)
    assert "  B - A  0.000 in every block\n" in compare("match", "match", *SMALL).out


def test_chance_against_itself_is_noise_around_0(here):
    document = compare("random", "match", *SMALL, "--blocks", 30, "--aa", "--json").json
    null = document["aa"]
    assert not null["noiseless"]
    assert null["sd"] > 0
    assert null["interval"][0] < 0 < null["interval"][1]
    assert document["answer"] == "b_higher"


def test_every_arm_re_derives_the_redrawn_one_too(here):
    document = compare("random", "match", *SMALL, "--blocks", 2, "--aa", "--json").json
    assert len(document["arms"]) == 3
    for arm in document["arms"]:
        said = weigh("verify", arm["run"])
        assert (said.code, said.out) == (0, f"{arm['run']}: OK, 4 records recomputed, no differences\n")


def test_draws_of_the_redrawn_arm_are_drawn_again_by_verify(here, monkeypatch):
    document = compare("random", "match", *SMALL, "--blocks", 2, "--aa", "--json").json
    monkeypatch.setattr(Redrawn, "sit", lambda self, seat, rng, client: self.policy.sit(seat, rng, client))
    said = weigh("verify", document["arms"][2]["run"])
    assert said.code == 1
    assert "is not what baseline plays" in said.out or "is not what random plays" in said.out


@pytest.mark.slow
def test_the_picture_and_the_lines_fit_80_columns_and_are_ascii_when_piped(here):
    said = compare("match", "hoard", "--game", "goofspiel", "--blocks", 12, "--aa", "--wide")
    assert said.code == 0
    lines = said.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert said.out.isascii()
    document = compare("match", "hoard", "--game", "goofspiel", "--blocks", 12, "--aa", "--json").json
    ordered = sorted(document["blocks"], key=lambda block: (block["difference"], block["block"]))
    shown = [line.split()[:2] for line in lines if line.startswith("b0")]
    expected = [[block["block"].rpartition("/")[2], f"{block['difference']:+.3f}"] for block in ordered]
    assert shown == [[label, "0.000" if number in ("+0.000", "-0.000") else number] for label, number in expected]


def test_a_terminal_that_can_show_them_gets_drawn_marks(here):
    words = ["compare", "match", "hoard", *SMALL, "--wide"]
    for encoding, mark in (("utf-8", "\u25cf"), ("latin-1", "o")):
        screen = Terminal(io.BytesIO(), encoding, write_through=True)
        with mock.patch.object(sys, "stdout", screen):
            assert run(words) == 0
        shown = screen.buffer.getvalue().decode(encoding)
        assert any(line.rstrip().endswith(mark) for line in shown.splitlines() if line.startswith("b0"))


class Terminal(io.TextIOWrapper):
    def isatty(self):
        return True


def test_the_same_command_again_gives_the_same_bytes(here):
    words = ("random", "match", *SMALL, "--aa", "--json")
    assert compare(*words) == compare(*words)


def test_more_blocks_keep_the_blocks_that_are_played(here):
    few = compare("random", "match", *SMALL, "--blocks", 3, "--json").json
    more = compare("random", "match", *SMALL, "--blocks", 5, "--json").json
    assert [arm["run"] for arm in few["arms"]] == [arm["run"] for arm in more["arms"]]
    assert more["blocks"][:3] == few["blocks"]
    assert compare("random", "match", *SMALL, "--blocks", 3, "--json").json["blocks"] == few["blocks"]


@pytest.mark.slow
def test_what_an_arm_took_is_that_of_the_blocks_compared(server, here):
    base = ("--base-url", server.openai_url, "--json", *SMALL)
    whole = compare(PLAIN, "match", *base, "--blocks", 4).json["arms"][0]
    part = compare(PLAIN, "match", *base, "--blocks", 2).json["arms"][0]
    assert (whole["episodes"], part["episodes"]) == (8, 4)
    assert part["calls"] == part["decisions"] == whole["calls"] / 2
    assert part["all_invocations"]["calls"] == whole["calls"] == whole["all_invocations"]["calls"]


@pytest.mark.slow
def test_another_server_on_this_machine_is_asked_afresh(server, here):
    words = (PLAIN, "match", *SMALL, "--blocks", 2, "--json")
    first = compare(*words, "--base-url", server.openai_url).json["arms"][0]
    with MockServerProcess(Options(log_size=50)) as other:
        second = compare(*words, "--base-url", other.openai_url).json["arms"][0]
        assert other.stats()["requests"] == second["calls"] > 0
    assert first["run"] != second["run"]


def test_an_arm_that_the_fallback_played_is_named(server, here):
    server.follow(read_plan({"rules": [{"do": "reply", "text": "?"}]}))
    words = (PLAIN, "match", *SMALL, "--blocks", 6, "--base-url", server.openai_url)
    document = compare(*words, "--json").json
    assert document["arms"][0]["reliability"]["fallback_rate"] == 1.0
    (note,) = document["notes"]
    assert note == "A: the fallback made 100.0% of its moves, so its score tells of the fallback"
    assert "warning   A: the fallback made 100.0% of its moves" in compare(*words).out


def test_a_block_is_one_deal_in_every_seat(here):
    document = compare("match", "hoard", "--game", "goofspiel", "--set", "cards=4", "--blocks", 2, "--json").json
    assert (document["blocks_planned"], document["seats"]) == (2, 4)


def test_too_little_to_say_anything_is_exit_code_3(here):
    said = compare("match", "hoard", *SMALL, "--blocks", 1)
    assert said.code == 3
    assert said.out.startswith("nothing can be said (exit 3) ")
    assert "more blocks may tell" in said.out


def test_what_is_asked_wrongly_is_refused_before_anything_is_made(here):
    compare("match", "steady", *SMALL).refused("steady does not play goofspiel")
    compare("match", "hoard", "--game", "goofspeil").refused("goofspiel")
    compare("match", "hoard", *SMALL, "--opponents", "match,,").refused("--opponents")
    compare("match", "hoard", *SMALL, "--opponents", PLAIN).refused("scripted policies only")
    compare("match", "hoard", *SMALL, "--name", "../up").refused("--name")
    compare("match", "hoard", *SMALL, "--style", "schema").refused("--style")
    compare("match", "goofspiel/plain.md@openai:gpt-5-mini", *SMALL).refused("OPENAI_API_KEY")
    assert compare("match", "hoard").code == 2
    assert list(here.iterdir()) == []


def test_prompts_are_played_by_their_model_with_faults_and_costs_of_both(server, here):
    server.follow(
        read_plan({"rules": [{"contains": "Your hand is a budget", "nth": "1-6", "do": "reply", "text": "?"}]})
    )
    words = (PLAIN, TEMPO, *SMALL, "--blocks", 2, "--base-url", server.openai_url)
    said = compare(*words, "--json")
    assert said.code in (0, 3), said
    plain, tempo = said.json["arms"]
    assert (plain["name"], tempo["name"]) == ("plain-mock-small", "tempo-mock-small")
    assert plain["faults"] == {}
    assert sum(tempo["faults"].values()) == 6
    assert set(tempo["faults"]) == {"unreadable"}
    assert tempo["calls"] > plain["calls"] == plain["decisions"]
    assert plain["cost_usd"] == 0.0
    assert "faults: unreadable" in compare(*words, "--wide").out
    assert server.stats()["requests"] == plain["calls"] + tempo["calls"]


def test_a_is_not_asked_again_when_only_b_changes_and_null_asks_it_afresh(server, here):
    base = ("--base-url", server.openai_url, "--blocks", 2, "--json", *SMALL)
    first = compare(PLAIN, TEMPO, *base).json
    asked = server.stats()["requests"]
    assert asked == sum(arm["calls"] for arm in first["arms"])
    other = here / "mine.md"
    other.write_text("Bid low, always.\n", encoding="utf-8")
    second = compare(PLAIN, f"{other}@mock:mock-small", *base).json
    assert second["arms"][0] == first["arms"][0]
    assert server.stats()["requests"] == asked + second["arms"][1]["calls"]
    third = compare(PLAIN, f"{other}@mock:mock-small", "--aa", *base).json
    assert third["arms"][:2] == second["arms"]
    again = third["arms"][2]
    assert again["calls"] == again["decisions"] > 0
    assert server.stats()["requests"] == asked + second["arms"][1]["calls"] + again["calls"]
    assert again["policy_digest"] != third["arms"][0]["policy_digest"]


def test_entrants_of_a_config_are_compared_as_it_says(server, here):
    models = f'[models.mock]\nbase_url = "{server.openai_url}"\n'
    entrants = '[entrants.old]\nprompt = "goofspiel/plain.md"\nmodel = "mock:mock-small"\n'
    order = config(here, f"[games.goofspiel]\n{entrants}{models}")
    document = compare("@old", "match", "--config", order, *SMALL, "--blocks", 1, "--json").json
    assert [arm["model"] for arm in document["arms"]] == ["mock:mock-small", None]


@pytest.mark.slow
def test_a_ceiling_stops_with_4_and_what_there_is_and_the_command_goes_on(server, here):
    words = (PLAIN, TEMPO, *SMALL, "--blocks", 20, "--base-url", server.openai_url)
    said = compare(*words, "--max-calls", "200")
    assert said.code == 4
    text = " ".join(said.out.split())
    assert "of 20 blocks, against " in text
    assert "not played to its end: the run's 200 calls are used up" in text
    assert "go on with: weigh compare" in said.err
    assert server.stats()["requests"] <= 200
    whole = compare(*words, "--json")
    assert whole.code in (0, 3)
    assert whole.json["blocks_settled"] == 20
    assert server.stats()["requests"] == sum(arm["calls"] for arm in whole.json["arms"])


def test_a_refused_key_is_4_and_nothing_is_said_of_the_prompts(server, here):
    server.follow(read_plan({"rules": [{"do": "respond", "status": 401}]}))
    said = compare(PLAIN, TEMPO, *SMALL, "--blocks", 2, "--base-url", server.openai_url, "--json")
    assert said.code == 4
    assert (said.json["answer"], said.json["blocks_settled"]) == ("nothing", 0)
    assert "401" in said.json["stopped"]
    assert said.json["difference"]["mean"] is None


def test_an_outage_is_replayed_with_the_same_seed_and_counted(server, here):
    gone = {"nth": "5", "do": "respond", "status": 429, "headers": {"x-should-retry": "false"}}
    server.follow(read_plan({"rules": [gone]}))
    document = compare(PLAIN, TEMPO, *SMALL, "--blocks", 4, "--base-url", server.openai_url, "--json").json
    assert document["blocks_settled"] == 4
    assert document["difference"]["missing"] == 0
    assert sum(arm["void_starts"] for arm in document["arms"]) == 1
    assert sum(arm["replayed"] for arm in document["arms"]) == 1
    assert [arm["episodes"] for arm in document["arms"]] == [8, 8]


def test_a_provider_that_fails_one_arm_for_good_is_4_and_no_difference(server, here):
    gone = {"do": "respond", "status": 429, "headers": {"x-should-retry": "false"}}
    gone["contains"] = "Your hand is a budget"
    server.follow(read_plan({"rules": [gone]}))
    said = compare(PLAIN, TEMPO, *SMALL, "--blocks", 4, "--base-url", server.openai_url, "--json")
    assert said.code == 4
    assert said.json["difference"]["n"] == 0
    assert said.json["answer"] == "nothing"


@pytest.mark.slow
def test_ctrl_c_says_how_far_it_came_and_the_same_command_asks_no_call_twice(server, here):
    server.follow(read_plan({"rules": [{"do": "reply", "delay": "40ms"}]}))
    words = ("compare", PLAIN, TEMPO, *SMALL, "--blocks", "32", "--base-url", server.openai_url)
    with started(*words, cwd=here) as going:
        until(lambda: server.stats()["requests"] >= 260)
        going.send_signal(signal.SIGINT)
        out, err = going.communicate(timeout=30)
    assert going.returncode == 130, err
    text = out.decode()
    settled = int(text.partition(" of 32 blocks")[0].split()[-1])
    assert 0 < settled < 32
    assert "not played to its end: interrupted" in text
    assert f"weigh: go on with: weigh {' '.join(words)}" in err.decode()
    server.follow(read_plan({"rules": []}))
    whole = weigh(*words, "--json").json
    assert whole["blocks_settled"] == 32
    assert server.stats()["requests"] == sum(arm["calls"] for arm in whole["arms"])

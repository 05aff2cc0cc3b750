"""The files of `weigh gate`: none that could not be written, none that outlives a failure, none in another's place."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from junitparser import JUnitXml

from tests.cli.runner import weigh
from weigh.harness.gate.baseline import digest_of, read_baseline, written

SMALL = ("--game", "goofspiel", "--set", "cards=4", "--set", "seats=2", "--opponents", "match")
PASSES = ("gate", "--baseline", "match", "--candidate", "match", *SMALL, "--margin", 1.2)
FILES = ("--junit", "gate.xml", "--summary", "gate.md")


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def base():
    said = weigh("gate", "--save-baseline", "base.json", "--candidate", "match", *SMALL, "--blocks", 20)
    assert said.code == 0, said
    return Path("base.json")


@pytest.mark.parametrize("option", ["--junit", "--summary", "--save-baseline"])
@pytest.mark.parametrize("kind", ["loop", "fifo", "proc", "null", "folder", "missing"])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_played(option, kind):
    Path("loop").symlink_to("loop")
    os.mkfifo("fifo")
    places = {"proc": "/proc/j.xml", "null": "/dev/full", "folder": ".", "missing": "no/such/x.xml"}
    words = ("gate", "--candidate", "match", *SMALL) if option == "--save-baseline" else PASSES
    weigh(*words, option, places.get(kind, kind)).refused(option, places.get(kind, kind))
    assert not Path("results").exists()


def test_a_pipe_as_the_summary_of_the_job_is_told_and_never_waited_for():
    os.mkfifo("pipe")
    said = weigh(*PASSES, environ={"GITHUB_STEP_SUMMARY": "pipe"})
    assert said.code == 0
    assert "GITHUB_STEP_SUMMARY cannot be written to" in said.err


def test_two_files_that_are_one_and_files_that_are_read_are_refused(base):
    weigh(*PASSES, "--junit", "x", "--summary", "./x").refused("--junit", "--summary", "one file")
    kept = base.read_bytes()
    for option in ("--junit", "--summary"):
        words = ("gate", "--baseline", "base.json", "--candidate", "match", "--margin", 1.2)
        weigh(*words, option, "./base.json").refused(option, "base.json")
    Path("p.md").write_text("<rules>Bid.</rules>\n")
    weigh(*PASSES[:3], "--candidate", "p.md@openai:x", *PASSES[5:], "--junit", "p.md").refused("--junit", "p.md")
    Path("notes.txt").write_text("mine")
    weigh(*PASSES, "--junit", "notes.txt").refused("--junit", "something else than XML")
    assert (base.read_bytes(), Path("notes.txt").read_text()) == (kept, "mine")


def stale():
    assert weigh(*PASSES, *FILES).code == 0
    assert JUnitXml.fromfile("gate.xml").errors == 0
    assert "PASS" in Path("gate.md").read_text()


def are_errors(part: str) -> None:
    document = JUnitXml.fromfile("gate.xml")
    assert (document.tests, document.errors, document.failures) == (1, 1, 0)
    (case,) = next(iter(document))
    assert part in case.result[0].message
    assert "PASS" not in Path("gate.md").read_text()
    assert "NOT JUDGED" in Path("gate.md").read_text()


def test_a_refusal_leaves_no_green_file_of_an_earlier_build():
    stale()
    said = weigh("gate", "--baseline", "match", "--candidate", "nobody", *SMALL, "--margin", 1.2, *FILES)
    assert said.code == 2
    are_errors("nobody")


def test_an_internal_error_leaves_none(monkeypatch):
    stale()

    def broken(*words):
        raise RuntimeError("a bug")

    monkeypatch.setattr("weigh.harness.gate.gate.run_gates", broken)
    assert weigh(*PASSES, *FILES).code == 4
    are_errors("RuntimeError a bug")


def test_a_folder_that_is_deleted_during_the_run_leaves_none(monkeypatch):
    from weigh.harness.gate import play as gate_play

    stale()
    whole = gate_play._play_all

    async def deleting(games, brake, note):
        shutil.rmtree("results")
        await whole(games, brake, note)

    monkeypatch.setattr(gate_play, "_play_all", deleting)
    said = weigh(*PASSES, "--seed", 5, *FILES)
    assert said.code == 4, said
    are_errors("deleted or moved")


def test_while_nothing_is_judged_the_files_say_so(monkeypatch):
    stale()
    seen = []

    def killed(*words):
        seen.append((Path("gate.xml").read_text(), Path("gate.md").read_text()))
        raise KeyboardInterrupt

    monkeypatch.setattr("weigh.harness.gate.gate.run_gates", killed)
    assert weigh(*PASSES, *FILES).code == 130
    ((document, page),) = seen
    assert "not judged yet" in document and "not judged yet" in page
    are_errors("KeyboardInterrupt")


def test_a_foreign_summary_is_kept_until_there_is_a_verdict(monkeypatch):
    Path("gate.md").write_text("# My page\n")

    def seen(*words):
        assert Path("gate.md").read_text() == "# My page\n"
        raise RuntimeError

    monkeypatch.setattr("weigh.harness.gate.gate.run_gates", seen)
    assert weigh(*PASSES, *FILES).code == 4


@pytest.mark.parametrize("scores", [(0.0,) * 4, (0.0,), ()], ids=len)
@pytest.mark.parametrize("every", [True, False])
def test_a_baseline_with_another_number_of_scores_in_a_block_is_invalid_though_its_digest_fits(base, scores, every):
    kept = read_baseline(base.read_text(), "base.json")
    odd = [block.model_copy(update={"scores": scores}) for block in kept.blocks[: None if every else 1]]
    changed = kept.model_copy(update={"blocks": (*odd, *kept.blocks[len(odd) :])})
    base.write_text(written(changed.model_copy(update={"digest": digest_of(changed)})))
    said = weigh("gate", "--baseline", "base.json", "--candidate", "match", "--margin", 1.2)
    if len(scores) < 2:
        assert (said.code, "scores" in said.err) == (2, True)
        return
    assert said.code == 4, said
    assert 'blocks: "goofspiel/b0000" has 4 scores, and a block here has 2' in said.out
    assert not Path("results/gate-base-match").exists()


def test_a_byte_order_mark_is_no_edit_of_a_baseline(base):
    base.write_bytes(b"\xef\xbb\xbf" + base.read_bytes())
    assert weigh("gate", "--baseline", "base.json", "--candidate", "match", "--margin", 1.2).code == 0


def test_a_file_called_as_a_scripted_policy_stands_for_nothing(base):
    shutil.copy(base, "match")
    shutil.copy(base, "mine")
    said = weigh(*PASSES, "--json")
    assert said.json["gates"][0]["baseline_file"] is None
    (only,) = weigh("gate", "--baseline", "mine", *PASSES[3:], "--json").json["gates"]
    assert only["baseline_file"] == "mine"
    (only,) = weigh("gate", "--baseline", "./match", *PASSES[3:], "--json").json["gates"]
    assert only["baseline_file"] == "./match"


def test_a_margin_beyond_any_possible_loss_is_warned_of(base):
    said = weigh("gate", "--baseline", "base.json", "--candidate", "random", "--margin", 1.0, *FILES, "--json")
    (only,) = said.json["gates"]
    mean = sum(sum(block["scores"]) / 2 for block in json.loads(base.read_text())["blocks"]) / 20
    assert mean <= 0
    (warning,) = only["warnings"]
    assert "the margin 1 is beyond any possible loss" in warning
    assert f"leaves {mean + 1:.3g} to lose" in warning
    assert "beyond any possible loss" in Path("gate.md").read_text()
    assert weigh(*PASSES[:-1], 0.4, "--json").json["gates"][0]["warnings"] == []

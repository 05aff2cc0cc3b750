"""No command writes over what it reads, over a run's own files, or over what is none of its pages."""

from __future__ import annotations

import hashlib
import json
import os

import pytest

from tests.cli.runner import weigh
from tests.harness.web.episodes import played
from tests.harness.web.runs import MODELS, make_run
from weigh.harness.errors import StoreRefused
from weigh.harness.results.export import export, is_of_a_run


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = make_run(tmp_path / "RUN")
    (tmp_path / "r.json").write_text(json.dumps(played("oshi_zumo", {"coins": 6}).model_dump(mode="json")))
    return folder


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


COMMANDS = (
    ("view", "RUN", "-o"),
    ("view", "RUN", "--episode", MODELS, "-o"),
    ("view", "r.json", "-o"),
    ("report", "RUN", "-o"),
    ("report", "RUN", "--format", "markdown", "-o"),
    ("export", "RUN", "--format", "jsonl"),
    ("play", "oshi_zumo", "match", "hoard", "--out"),
)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("name", ["run.sqlite", "run.sqlite-wal", "run.lock", "RUN.SQLITE"])
def test_a_runs_own_files_are_never_written_over(run, words, name):
    before = digest(run / "run.sqlite")
    for target in (f"RUN/{name}", name):
        said = weigh(*words, target)
        assert said.code == 2, said.err
        assert target in said.err
    assert digest(run / "run.sqlite") == before
    assert not (run.parent / name).exists()


@pytest.mark.parametrize("words", COMMANDS[:6], ids=" ".join)
@pytest.mark.parametrize("link", [os.link, os.symlink], ids=["hard", "soft"])
def test_a_link_to_what_is_read_is_what_is_read(run, words, link):
    source = run / "run.sqlite" if words[1] == "RUN" else run.parent / "r.json"
    ending = ".md" if "markdown" in words else ".jsonl" if words[0] == "export" else ".html"
    link(source, run.parent / f"innocent{ending}")
    before = digest(source)
    weigh(*words, f"innocent{ending}").refused(f"innocent{ending}", "give another name")
    assert digest(source) == before


def test_a_record_is_not_written_over_whatever_it_is_called(run):
    (run.parent / "r.json").rename(run.parent / "r.html")
    before = digest(run.parent / "r.html")
    weigh("view", "r.html", "-o", "r.html").refused("r.html", "it would be lost")
    weigh("view", "r.html", "-o", "./RUN/../r.html").refused("it would be lost")
    assert digest(run.parent / "r.html") == before


def test_a_prompt_is_not_written_over_by_the_episode_it_played(run):
    prompt = run.parent / "prompt.md"
    prompt.write_text("Play well.")
    words = ("play", "oshi_zumo", "prompt.md@openai:m", "match", "--out", "prompt.md")
    weigh(*words, environ={"OPENAI_API_KEY": "none"}).refused("it would be lost")
    assert prompt.read_text() == "Play well."


def test_the_library_refuses_it_too(run):
    with pytest.raises(StoreRefused, match="where a run keeps what was played"):
        export(run, run / "run.sqlite", "jsonl")
    assert not is_of_a_run(run / "view.html")
    assert not is_of_a_run(run / "run.sqlite.html")


@pytest.mark.parametrize("words", [("view", "RUN", "-o"), ("report", "RUN", "--replays")], ids=" ".join)
def test_a_folder_of_somebody_elses_files_is_left_alone(run, words):
    other = run.parent / "site"
    other.mkdir()
    (other / "index.html").write_text("<h1>Mine</h1>")
    weigh(*words, "site/").refused("index.html", kind="target-is-foreign")
    weigh(*words, "RUN/").refused("run.lock", kind="target-is-foreign")
    assert sorted(each.name for each in other.iterdir()) == ["index.html"]
    assert (other / "index.html").read_text() == "<h1>Mine</h1>"


def test_a_folder_that_is_empty_or_holds_earlier_pages_is_written_anew(run):
    (run.parent / "pages").mkdir()
    (run.parent / "pages" / ".DS_Store").write_text("x")
    for _ in range(2):
        assert weigh("view", "RUN", "-o", "pages/").code == 0
    (run.parent / "pages" / "index.html").unlink()  # as a stop in the middle leaves it
    assert weigh("view", "RUN", "-o", "pages/").code == 0
    assert weigh("report", "RUN", "-o", "pages/report.html", "--replays", "pages").code == 0
    assert weigh("report", "RUN", "-o", "pages/report.html", "--replays", "pages").code == 0
    (run.parent / "pages" / "notes.txt").write_text("x")
    weigh("view", "RUN", "-o", "pages/").refused("notes.txt")


def test_one_page_in_a_folder_replaces_no_other_file(run):
    (run.parent / "mixed").mkdir()
    (run.parent / "mixed" / "notes.txt").write_text("mine")
    assert weigh("view", "RUN", "--episode", MODELS, "-o", "mixed/").code == 0
    (run.parent / "mixed" / "goofspiel-b0000-r0.html").write_text("mine")
    weigh("view", "RUN", "--episode", MODELS, "-o", "mixed/").refused(kind="target-is-foreign")
    assert (run.parent / "mixed" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "words",
    [
        ("view", "RUN", "-o", "foo.txt"),
        ("view", "r.json", "-o", "foo.pdf"),
        ("view", "r.json", "-o", "foo.json"),
        ("report", "RUN", "-o", "zz.pdf"),
        ("report", "RUN", "--format", "markdown", "-o", "zz.pdf"),
    ],
    ids=" ".join,
)
def test_a_name_that_says_something_else_is_refused(run, words):
    weigh(*words).refused(words[-1], kind="wrong-ending")
    assert not (run.parent / words[-1]).exists()


@pytest.mark.parametrize("words", [("RUN",), ("RUN", "--episode", MODELS), ("r.json",)], ids=" ".join)
def test_a_page_can_go_to_standard_output(run, words):
    said = weigh("view", *words, "-o", "-")
    assert said.code == 0
    assert said.out.startswith("<!doctype html>")
    assert said.out.rstrip().endswith("</html>")
    assert said.err == ""
    assert not (run.parent / "-").exists()
    weigh("view", *words, "-o", "-", "--json").refused(kind="options-conflict")


def test_a_file_of_a_run_stands_for_its_run(run):
    assert weigh("view", "RUN/run.sqlite").out.strip() == "RUN/view.html"

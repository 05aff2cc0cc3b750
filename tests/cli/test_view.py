"""`weigh view`: pages and texts of records and runs, and what it says when there is nothing to look at."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.runner import config, weigh
from tests.harness.web.episodes import by_models, played
from tests.harness.web.runs import MODELS, OPEN, VOID, make_run
from weigh.games.registry import GAMES
from weigh.harness.store.store import Store


def record_file(folder, record=None, name="record.json"):
    path = folder / name
    path.write_text(json.dumps((record or played("oshi_zumo", {"coins": 6})).model_dump(mode="json")), encoding="utf-8")
    return path


def test_a_record_becomes_a_page_beside_it(tmp_path):
    path = record_file(tmp_path)
    said = weigh("view", path)
    assert said.code == 0
    assert said.out.strip() == str(tmp_path / "record.view.html")
    html = (tmp_path / "record.view.html").read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert "oshi_zumo/b0000/r0" in html
    assert sorted(each.name for each in tmp_path.iterdir()) == ["record.json", "record.view.html"]


def test_a_played_record_and_a_played_run_can_be_viewed(tmp_path):
    out = tmp_path / "r.json"
    assert weigh("play", "goofspiel", "match", "random", "--set", "cards=4", "--out", out).code == 0
    assert weigh("view", out, "-o", tmp_path / "r.html").code == 0
    weigh("ladder", config(tmp_path), "--results", tmp_path / "results")
    said = weigh("view", tmp_path / "results" / "s", "-o", tmp_path / "run.html", "--json")
    assert said.json == {
        "file": str(tmp_path / "run.html"),
        "pages": 1,
        "episodes": 6,
        "bytes": (tmp_path / "run.html").stat().st_size,
        "opened": False,
    }


def test_a_run_becomes_one_page_in_its_folder_or_pages_in_another(tmp_path):
    run = make_run(tmp_path / "run")
    assert weigh("view", run).out.strip() == str(run / "view.html")
    said = weigh("view", run, "-o", f"{tmp_path}/pages/new/", "--json").json
    assert said["file"] == str(tmp_path / "pages" / "new" / "index.html")
    assert said["pages"] == 5
    assert len(list((tmp_path / "pages" / "new").glob("*.html"))) == 5
    assert weigh("view", run, "--episode", MODELS).out.strip() == str(run / "view-goofspiel-b0000-r0.html")
    assert "served-by-7" in (run / "view-goofspiel-b0000-r0.html").read_text(encoding="utf-8")
    assert weigh("verify", run, "--json").code in (0, 1), "pages in a run's folder do not disturb it"
    with Store.open(run) as store:
        assert len(store.finished()) == 4


def test_too_large_a_run_is_refused_with_the_way_out(tmp_path):
    run = make_run(tmp_path / "run")
    weigh("view", run, "--max-mb", "0.01").refused("4 episodes are more than 0.01 MB in one page", "-o DIR/")
    assert not (run / "view.html").exists()


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("nowhere.json",), ("nowhere.json: No such file",)),
        (("RECORD", "--episode", MODELS), ("is no run folder",)),
        (("RECORD", "--text", "-o", "x.html"), ("--text writes no page",)),
        (("RUN", "--episode", VOID), ("it is void (502 from the <b>gateway</b>)",)),
        (("RUN", "--episode", OPEN), ("it is not finished yet",)),
        (("RUN", "--episode", "goofspiel/b0000/r9"), ("has no episode", "did you mean 'goofspiel/b0000/r")),
        (("EMPTY",), ("EMPTY",)),
        (("RECORD", "-o", "nowhere/x.html"), ("nowhere/x.html",)),
        (("records.jsonl",), ("a record on each line",)),
        (("-",), ("not a record: schema_version",)),
    ],
)
def test_what_cannot_be_viewed_is_refused_in_one_line(tmp_path, monkeypatch, words, parts):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "EMPTY").mkdir()
    make_run(tmp_path / "RUN")
    record_file(tmp_path, name="RECORD")
    said = weigh("view", *words, stdin='{"schema_version": 99}')
    said.refused(*parts)
    assert not list(tmp_path.rglob("*.html"))


def test_a_record_from_standard_input_needs_a_place(tmp_path):
    text = record_file(tmp_path).read_text(encoding="utf-8")
    weigh("view", "-", stdin=text).refused("-o FILE.html")
    assert weigh("view", "-", "-o", tmp_path / "page.html", stdin=text).code == 0


def test_a_record_that_cannot_be_played_names_the_step(tmp_path):
    record = played("oshi_zumo", {"coins": 6}).model_copy(update={"moves": ((1, 7),)})
    weigh("view", record_file(tmp_path, record)).refused("step 0, seat 1: 7 is not a legal bid")


def test_a_forged_record_is_shown_as_it_was_played_and_said_to_differ(tmp_path):
    record = played("oshi_zumo", {"coins": 6}).model_copy(update={"ending": "forged"})
    said = weigh("view", record_file(tmp_path, record))
    assert said.code == 0
    assert "does not reproduce (1 finding; the first: " in said.err
    assert "forged" in (tmp_path / "record.view.html").read_text(encoding="utf-8")


def test_no_browser_opens_where_nobody_looks(tmp_path, monkeypatch):
    import webbrowser

    monkeypatch.setattr(webbrowser, "open", lambda url: pytest.fail("opened"))
    assert weigh("view", record_file(tmp_path), environ={"DISPLAY": ":0"}).code == 0, "standard output is no terminal"


@pytest.mark.parametrize("name", GAMES)
def test_the_text_tells_every_move_and_the_exact_end(tmp_path, name):
    record = played(name, seed=6)
    said = weigh("view", record_file(tmp_path, record), "--text")
    assert said.code == 0
    assert "\x1b" not in said.out
    assert said.out.count("\n--- ") == len(record.moves) + 1
    assert f"--- {'auction' if name == 'half_hearted_step' else 'turn' if name == 'ballast' else 'round'} 1" in said.out
    assert f"=== {record.reason}: {record.ending}" in said.out
    for seat, value in enumerate(record.scores):
        assert re.search(
            rf"^ *{re.escape(f'{value:+.4f}' if value else '0.0000')}  {record.aliases[seat]}  entrant-{seat}\b",
            said.out,
            re.M,
        )
    assert sum(said.out.count(f"  {event['type']:<9} ") >= 1 for event in record.events) == len(record.events)
    assert not list(tmp_path.glob("*.html"))


def test_the_text_says_who_moved_and_why(tmp_path):
    record = by_models(played("goofspiel", {"seats": 3, "cards": 4}))
    said = weigh("view", record_file(tmp_path, record), "--text").out
    assert "fallback (match) after illegal (99 is not a legal bid), then empty (no text)" in said
    assert "retry after truncated (cut at the token cap)" in said
    assert "points: Ash " in said


def test_the_text_of_a_run_tells_one_or_all(tmp_path):
    run = make_run(tmp_path / "run")
    assert weigh("view", run, "--text").out.count("\n--- start") == 4
    said = weigh("view", run, "--text", "--episode", MODELS, "--json").json
    assert [each["key"] for each in said] == [MODELS]
    assert said[0]["lines"][0] == f"=== {MODELS}"


def test_a_stopped_episode_is_told_as_such(tmp_path):
    said = weigh("view", record_file(tmp_path, played("goofspiel", stop=2)), "--text").out
    assert "--- stopped by the clock" in said
    assert "=== deadline: wall-clock" in said


def test_a_run_without_a_finished_episode_has_nothing_to_tell(tmp_path):
    from tests.harness.store.store_cases import new_run

    new_run(tmp_path / "run").close()
    said = weigh("view", tmp_path / "run", "--text")
    assert (said.code, said.out) == (3, "")
    assert weigh("view", tmp_path / "run").code == 0, "the index says what is unfinished"

"""`weigh report`: where it goes, in which form, and what ends how."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.cli.runner import SCRIPTED, config, documents, weigh


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two ladders, and one without a finished episode."""
    place = tmp_path_factory.mktemp("runs")
    order = config(place, SCRIPTED + "[games.oshi_zumo]\nblocks = 2\n")
    for words in ((), ("--name", "other", "--seed", 4)):
        assert weigh("ladder", order, *words).code == 0
    assert weigh("ladder", order, "--name", "none", "--max-seconds", "0.000001").code == 4
    return place / "results"


def test_without_a_place_it_lies_in_the_run(folder):
    said = weigh("report", folder / "s")
    assert (said.code, said.out) == (0, f"{folder / 's' / 'report.html'}\n")
    assert re.fullmatch(r"weigh: \d+ kB written\n", said.err)
    assert (folder / "s" / "report.html").read_text("utf-8").startswith("<!doctype html>")
    said = weigh("report", folder / "s", "--format", "markdown")
    assert said.out == f"{folder / 's' / 'report.md'}\n"
    assert (folder / "s" / "report.md").read_text("utf-8").startswith("## s: 10 of 10 episodes, ")


@pytest.mark.parametrize(
    ("name", "start"),
    [("r.html", "<!doctype"), ("r.md", "## s: "), ("r.markdown", "## s: "), ("r", "<!doctype")],
)
def test_the_name_of_the_file_tells_the_format(folder, tmp_path, name, start):
    assert weigh("report", folder / "s", "-o", tmp_path / name).code == 0
    assert (tmp_path / name).read_text("utf-8").startswith(start)


def test_a_name_and_a_format_that_disagree_are_refused(folder, tmp_path):
    weigh("report", folder / "s", "-o", tmp_path / "r.md", "--format", "html").refused("--format html", "r.md")
    assert documents(tmp_path) == []


def test_standard_output_gets_markdown_unless_told_otherwise(folder):
    said = weigh("report", folder / "s", "-o", "-")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("## s: 10 of 10 episodes, ")
    assert weigh("report", folder / "s", "-o", "-", "--format", "html").out.startswith("<!doctype html>")


def test_what_is_there_is_replaced_whole_and_equal_runs_give_equal_bytes(folder, tmp_path):
    target = tmp_path / "r.html"
    target.write_text("old")
    assert weigh("report", folder / "s", "-o", target).code == 0
    first = target.read_bytes()
    assert weigh("report", folder / "s", "-o", target).code == 0
    assert target.read_bytes() == first
    assert documents(tmp_path) == [target]


@pytest.mark.parametrize("place", ["missing/r.html", "."])
def test_a_place_that_cannot_be_written_is_refused_and_nothing_is_left(folder, tmp_path, place):
    weigh("report", folder / "s", "-o", tmp_path / place).refused(str(tmp_path))
    assert documents(tmp_path) == []


def test_several_runs_need_a_place(folder, tmp_path):
    weigh("report", folder / "s", folder / "other").refused("-o FILE")
    said = weigh("report", folder / "s", folder / "other", "-o", tmp_path / "both.md")
    assert said.code == 0
    text = (tmp_path / "both.md").read_text("utf-8")
    assert text.startswith("## s, other: 20 of 20 episodes, ")
    assert f"weigh verify {folder / 's'} {folder / 'other'}" in text


def test_the_data_is_printed_and_no_file_is_written(folder):
    before = documents(folder)
    said = weigh("report", folder / "s", "--json")
    assert (said.code, said.err) == (0, "")
    ranked = weigh("rank", folder / "s", "--json", "--ratings", "--head-to-head", "--measures").json
    data = said.json
    assert data["ladder"] == {key: ranked[key] for key in data["ladder"]}
    for key in ("ratings", "head_to_head", "measures"):
        assert data[key] == ranked[key]
    assert data["audit"] == weigh("audit", folder / "s", "--json").json
    assert documents(folder) == before


def test_the_data_and_a_file(folder, tmp_path):
    said = weigh("report", folder / "s", "--json", "-o", tmp_path / "r.html")
    assert said.json["schema_version"] == 1
    assert documents(tmp_path) == [tmp_path / "r.html"]


def test_no_finished_episode_ends_with_4_and_says_so(folder, tmp_path):
    said = weigh("report", folder / "none", "-o", tmp_path / "r.html")
    assert said.code == 4
    assert said.err.splitlines()[-1] == "weigh: no episode was finished, so nothing is ranked"
    assert "No finished episode" in (tmp_path / "r.html").read_text("utf-8")
    assert weigh("report", folder / "none", "--json").code == 4


def test_what_is_no_run_is_refused(tmp_path):
    weigh("report", tmp_path).refused(kind="not-a-run")
    assert documents(tmp_path) == []


def links(page: Path) -> set[str]:
    return {link for link in re.findall(r'<a href="([^"]*)"', page.read_text("utf-8")) if not link.startswith("#")}


def test_replays_are_written_and_every_link_leads_to_one(folder, tmp_path):
    page = tmp_path / "a b" / "r.html"
    page.parent.mkdir()
    assert weigh("report", folder / "s", "-o", page, "--replays", tmp_path / "c d").code == 0
    assert len(list((tmp_path / "c d").glob("*.html"))) == 6 + 2 * 2 + 1
    found = links(page)
    assert found
    for link in found:
        path, _, fragment = link.partition("#")
        assert (page.parent / unquote(path)).is_file()
        assert re.fullmatch(r"(step=\d+)?", fragment)
    assert "weigh view" not in page.read_text("utf-8")


def test_without_replays_the_command_that_shows_one_is_told(folder, tmp_path):
    page = tmp_path / "r.html"
    assert weigh("report", folder / "s", "-o", page).code == 0
    assert links(page) == set()
    told = re.search(r"<code>weigh view (\S+) --episode (\S+)</code>", page.read_text("utf-8"))
    assert told is not None
    assert weigh("view", told[1], "--episode", told[2], "--text").code == 0


def test_replays_of_several_runs_have_folders_of_their_own(folder, tmp_path):
    page = tmp_path / "r.html"
    assert weigh("report", folder / "s", folder / "other", "-o", page, "--replays", tmp_path / "replays").code == 0
    assert len([path for path in (tmp_path / "replays").iterdir() if path.is_dir()]) == 2
    assert all((tmp_path / unquote(link.partition("#")[0])).is_file() for link in links(page))


@pytest.mark.parametrize("words", [("-o", "-"), ("-o", "r.md"), ("--json",)])
def test_replays_need_a_page_that_links_to_them(folder, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    weigh("report", folder / "s", "--replays", "replays", *words).refused("--replays")
    assert documents(tmp_path) == []


def test_the_options_of_the_ranking_are_in_the_commands_that_derive_it_again(folder, tmp_path):
    words = ("--max-fallback-rate", 0.5, "--without-fallbacks")
    assert weigh("report", folder / "s", *words, "-o", tmp_path / "r.html").code == 0
    text = (tmp_path / "r.html").read_text("utf-8")
    assert f"<code>weigh report {folder / 's'} --max-fallback-rate 0.5 --without-fallbacks --json</code>" in text

"""A run's page, and a run as a folder of pages, as a browser shows them."""

from __future__ import annotations

import pytest

from tests.browser.chromium import until
from tests.harness.web.runs import MODELS, OPEN, VOID, make_run
from weigh.harness.store.store import Store
from weigh.harness.web.viewer.run import run_folder_pages, run_page


@pytest.fixture
def run(tmp_path):
    """One file."""
    make_run(tmp_path / "league")
    with Store.open(tmp_path / "league", readonly=True) as store:
        path = tmp_path / "run.html"
        path.write_text("".join(run_page(store, 10_000_000)), encoding="utf-8")
    return path


def keys(page):
    return [text.strip() for text in page.locator("#rows tbody th").all_inner_texts()]


ALL = [MODELS, "goofspiel/b0000/r1", "oshi_zumo/b0000/r0", "oshi_zumo/b0000/r1", VOID, OPEN]


@pytest.mark.smoke
def test_the_index_lists_every_episode_with_its_scores_and_ending(look, run):
    page = look(run)
    assert page.inner_text("#listing-title") == "league"
    assert "4 finished episodes, 1 void, 1 unfinished" in page.inner_text("#listing-about")
    assert keys(page) == ALL
    first = page.locator("#rows tbody tr").first.inner_text()
    assert "ann" in first
    assert "prizes-exhausted" in first


def test_void_and_unfinished_episodes_are_grey_with_their_cause(look, run):
    page = look(run)
    void, unfinished = page.locator("#rows tbody tr").nth(4), page.locator("#rows tbody tr").nth(5)
    assert "void at step 2: 502 from the <b>gateway</b>" in void.inner_text()
    assert "not finished; the run is stopped: too many voids" in unfinished.inner_text()
    colour = "row => getComputedStyle(row).color"
    assert void.evaluate(colour) == unfinished.evaluate(colour) != page.locator("#rows tbody tr").first.evaluate(colour)
    assert void.locator("a").count() == unfinished.locator("a").count() == 0
    page = look(run, f"#episode={VOID}")
    assert "cannot be opened: void at step 2" in page.inner_text("#trouble")


def test_filters_narrow_the_list(look, run):
    page = look(run)
    page.select_option("#filter-game", "oshi_zumo")
    assert keys(page) == ALL[2:]
    page.select_option("#filter-entrant", "cat")
    assert keys(page) == ALL[3:4]
    page.click("text=Clear")
    until(page, "document.querySelectorAll('#rows tbody tr').length === 6")
    page.check("#filter-fallbacks")
    assert keys(page) == [MODELS]
    page.uncheck("#filter-fallbacks")
    page.check("#filter-faults")
    assert keys(page) == [MODELS]
    page.uncheck("#filter-faults")
    page.select_option("#filter-ending", "wall-clock")
    assert keys(page) == ["oshi_zumo/b0000/r1"]
    page.select_option("#filter-ending", "")
    page.check("#filter-overbids")
    with_overbids = keys(page)
    page.uncheck("#filter-overbids")
    assert set(with_overbids) < set(ALL)
    page.select_option("#filter-entrant", "ann")
    page.fill("#filter-low", "0.999")
    kept = keys(page)
    page.fill("#filter-low", "")
    page.fill("#filter-high", "0.998")
    assert set(kept).isdisjoint(keys(page))
    assert page.inner_text("#listing-count").endswith("of 6 episodes")


def test_columns_sort_both_ways_with_the_unknown_last(look, run):
    page = look(run)
    page.locator("#rows thead button", has_text="fallbacks").click()
    assert keys(page)[3:] == [MODELS, VOID, OPEN]
    page.locator("#rows thead button", has_text="fallbacks").click()
    assert keys(page)[0] == MODELS
    assert keys(page)[4:] == [VOID, OPEN]
    assert page.locator("#rows thead th").nth(5).get_attribute("aria-sort") == "descending"


@pytest.mark.parametrize("wide", [320, 360])
def test_nothing_overflows_a_narrow_screen(look, run, wide):
    for fragment in ("", f"#episode={MODELS}&step=0"):
        page = look(run, fragment, viewport={"width": wide, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth") == wide


def test_an_episode_opens_in_place_and_the_way_back_leads_to_the_index(look, run):
    page = look(run)
    page.locator("#rows a").nth(1).click()
    until(page, "document.getElementById('banner').textContent.startsWith('round 1')")
    assert not page.locator("#listing").is_visible()
    page.keyboard.press("ArrowRight")
    until(page, "location.hash === '#episode=goofspiel/b0000/r1&step=0'")
    page.click("#back")
    until(page, "!document.getElementById('listing').hidden")
    assert keys(page) == ALL
    page.go_back()
    until(page, "!document.getElementById('episode').hidden")
    assert page.inner_text("#moves-title") == "Moves: round 1"


def test_a_deep_link_into_a_run_lands(look, run):
    page = look(run, "#episode=goofspiel/b0000/r1&step=2")
    assert page.inner_text("#moves-title") == "Moves: round 3"
    assert page.title() == "goofspiel/b0000/r1 · weigh"
    page = look(run, "#episode=goofspiel/b0009/r1&step=2")
    assert "this run has no episode goofspiel/b0009/r1" in page.inner_text("#trouble")


@pytest.mark.smoke
def test_a_folder_of_pages_holds_together(look, tmp_path):
    make_run(tmp_path / "league")
    folder = tmp_path / "pages"
    folder.mkdir()
    with Store.open(tmp_path / "league", readonly=True) as store:
        for each in run_folder_pages(store):
            (folder / each.name).write_text("".join(each.parts), encoding="utf-8")
    page = look(folder / "index.html")
    assert keys(page) == ALL
    page.locator("#rows a").nth(2).click()
    page.wait_for_url("**/oshi_zumo-b0000-r0.html*")
    assert page.inner_text("#banner") == "the token in the middle"
    page.click("#back")
    page.wait_for_url("**/index.html*")
    assert keys(page) == ALL

"""What stands around a board: the playback, the address, the focus, paper, and what is left without a script."""

from __future__ import annotations

import re

import pytest

from tests.browser.chromium import until
from tests.harness.web.episodes import by_models, played
from tests.harness.web.runs import MODELS, make_run
from weigh.games.registry import GAMES
from weigh.harness.store.store import Store
from weigh.harness.web.viewer.run import record_page, run_folder_pages, run_page

KEY = "oshi_zumo/b0000/r0"


@pytest.fixture
def league(tmp_path):
    """A run as one file, `run.html`, and as a folder of pages, `pages`."""
    make_run(tmp_path / "league")
    (tmp_path / "pages").mkdir()
    with Store.open(tmp_path / "league", readonly=True) as store:
        (tmp_path / "run.html").write_text("".join(run_page(store, 10_000_000)), encoding="utf-8")
        for each in run_folder_pages(store):
            (tmp_path / "pages" / each.name).write_text("".join(each.parts), encoding="utf-8")
    return tmp_path


def written(folder, record):
    path = folder / "page.html"
    path.write_text("".join(record_page(record)), encoding="utf-8")
    return path


def keys(page):
    return [text.strip() for text in page.locator("#rows tbody th").all_inner_texts()]


# -- the playback ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("wide", "high"), [(1366, 700), (1280, 800)])
def test_a_board_of_four_and_its_playback_fit_a_laptop(look, tmp_path, wide, high):
    record = by_models(played("goofspiel", {"seats": 4}, seed=3))
    page = look(written(tmp_path, record), "#frame=6", viewport={"width": wide, "height": high})
    board, deck = (page.locator(each).bounding_box() for each in ("#board", "#deck"))
    assert board["y"] + board["height"] <= deck["y"]
    assert deck["y"] + deck["height"] <= high


@pytest.mark.parametrize("name", GAMES)
def test_the_playback_covers_no_board_that_has_no_room_above_it(look, tmp_path, name):
    page = look(written(tmp_path, played(name, seed=3)), viewport={"width": 1366, "height": 420})
    page.evaluate("document.getElementById('board').scrollIntoView({block: 'start'})")
    board, deck = (page.locator(each).bounding_box() for each in ("#board", "#deck"))
    assert board["y"] + board["height"] <= deck["y"]


TOPS = """() => {
  const tops = new Set(), last = Number(document.getElementById('scrub').max);
  for (let frame = 0; frame <= last; frame++) {
    tops.add(Math.round(document.getElementById('deck').getBoundingClientRect().top + scrollY));
    document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
  }
  return Math.max(...tops) - Math.min(...tops);
}"""


@pytest.mark.parametrize("name", GAMES)
def test_the_playback_stays_where_it_is_from_beat_to_beat(look, tmp_path, name):
    page = look(written(tmp_path, played(name, seed=3)), viewport={"width": 1366, "height": 900})
    assert page.evaluate(f"({TOPS})()") <= 8


def test_a_fallback_is_seen_on_the_scrubber_the_caption_the_seat_and_in_the_table(look, tmp_path):
    page = look(written(tmp_path, by_models(played("goofspiel", seed=3))), "#step=0")
    assert page.inner_text("#banner").split() == ["round", "1:", "bids", "⚑", "Ash", "↻", "Aspen"]
    assert page.locator("#marks .flagged-fallback").count() == 1
    assert "Ash fallback, Aspen second attempt" in page.get_attribute("#marks .flagged", "title")
    signs = page.locator("#picture .seat-fallback").evaluate_all(
        "seats => seats.map(seat => getComputedStyle(seat, '::after').content)"
    )
    assert signs == ['"⚑"', '"⚑"']
    heads = page.locator("#seats thead th").all_inner_texts()
    fallbacks, retries = heads.index("⚑ fallbacks"), heads.index("↻ second attempts")
    rows = [row.locator("th, td").all_inner_texts() for row in page.locator("#seats tbody tr").all()]
    assert [(row[fallbacks], row[retries]) for row in rows[:3]] == [("1", "0"), ("0", "1"), ("0", "0")]
    page.keyboard.press("Home")
    first = page.locator("#seats tbody tr").first.locator("th, td").all_inner_texts()
    assert first[fallbacks] == "0", "counted up to the frame"
    page.keyboard.press("End")
    page.keyboard.press("f")
    assert page.inner_text("#banner").startswith("round 1: bids")
    page = look(written(tmp_path, played("goofspiel", seed=3)))
    assert "⚑ fallbacks" not in page.locator("#seats thead th").all_inner_texts(), "no column of zeros"


@pytest.mark.parametrize("name", GAMES)
def test_the_end_has_a_banner_of_its_own_with_the_winners_marks(look, tmp_path, name):
    record = played(name, seed=3)
    page = look(written(tmp_path, record), "#frame=0")
    page.keyboard.press("End")
    banner = page.locator("#banner")
    assert banner.get_attribute("class") == "caption banner ended"
    winners = [seat for seat, value in enumerate(record.scores) if value == max(record.scores)]
    assert banner.locator(".seat").count() == (0 if len(winners) == len(record.scores) else len(winners))
    ground = "node => getComputedStyle(node).backgroundColor"
    quiet = banner.evaluate(ground)
    banner.evaluate("node => { node.className = 'caption banner'; }")
    assert quiet != banner.evaluate(ground), "red is for what is loud"


# -- the address and the focus -----------------------------------------------------------------------------------------


def test_filters_are_in_the_address_and_survive_reload_and_back(look, league):
    page = look(league / "run.html")
    page.select_option("#filter-game", "oshi_zumo")
    page.fill("#filter-low", "0.5")
    page.locator("#rows thead button", has_text="ending").click()
    until(page, "location.hash === '#game=oshi_zumo&low=0.5&sort=ending'")
    shown = keys(page)
    assert 0 < len(shown) < 6
    page.reload()
    assert (keys(page), page.input_value("#filter-game")) == (shown, "oshi_zumo")
    page.locator("#rows a").first.click()
    until(page, "!document.getElementById('episode').hidden")
    page.go_back()
    until(page, "!document.getElementById('listing').hidden")
    assert (keys(page), page.input_value("#filter-low")) == (shown, "0.5")
    page = look(league / "run.html", "#faults=1&entrant=nobody&sort=constructor")
    assert keys(page) == [MODELS]
    assert page.input_value("#filter-entrant") == ""


def test_the_index_of_a_folder_agrees_with_its_filters_after_the_browsers_back(look, league):
    page = look(league / "pages" / "index.html")
    page.select_option("#filter-game", "oshi_zumo")
    shown = keys(page)
    page.locator("#rows a").first.click()
    page.wait_for_url("**/oshi_zumo-b0000-r0.html*")
    page.go_back()
    page.wait_for_url("**/index.html*")
    assert (page.input_value("#filter-game"), keys(page)) == ("oshi_zumo", shown)
    page.locator("#rows a").first.click()
    page.click("#back")
    until(page, "document.getElementById('listing') && !document.getElementById('listing').hidden")
    assert (page.input_value("#filter-game"), keys(page)) == ("oshi_zumo", shown)
    assert page.evaluate("document.activeElement.textContent") == KEY, "the way back leads to the row"
    until(page, "location.hash === '#game=oshi_zumo'")


def test_the_theme_goes_from_page_to_page_of_a_folder(look, league):
    page = look(league / "pages" / "index.html", color_scheme="light")
    page.click("#theme")
    page.click("#theme")
    page.locator("#rows a").first.click()
    page.wait_for_url("**/goofspiel-b0000-r0.html*")
    assert page.get_attribute("#theme", "aria-label") == "Theme: dark"
    page.keyboard.press("End")
    until(page, "location.hash.includes('frame=') && location.hash.endsWith('theme=dark')")
    page.click("#back")
    page.wait_for_url("**/index.html*")
    assert page.get_attribute("#theme", "aria-label") == "Theme: dark"


def test_the_focus_goes_to_the_episodes_heading_and_back_to_its_row(look, league):
    page = look(league / "run.html")
    page.locator("#rows a", has_text=KEY).focus()
    page.keyboard.press("Enter")
    until(page, "!document.getElementById('episode').hidden")
    assert page.evaluate("document.activeElement.id") == "episode-title"
    page.focus("#back")
    page.keyboard.press("Enter")
    until(page, "!document.getElementById('listing').hidden")
    assert page.evaluate("document.activeElement.textContent") == KEY


def test_the_way_past_the_header_leaves_the_address_alone(look, tmp_path):
    page = look(written(tmp_path, played("goofspiel", seed=3)), "#step=3")
    page.focus(".skip")
    page.keyboard.press("Enter")
    assert page.evaluate("[location.hash, document.activeElement.id]") == ["#step=3", "main"]


def test_landmarks_have_names_of_their_own(look, league):
    page = look(league / "run.html", f"#episode={MODELS}&step=0")
    for summary in page.locator("#moves summary").all():
        summary.click()
    named = page.evaluate(
        """() => [...document.querySelectorAll('section, [role=region], form, nav')]
        .filter((node) => node.checkVisibility())
        .map((node) => node.getAttribute('aria-label') ?? (node.getAttribute('aria-labelledby') ?? '').split(' ')
        .map((id) => document.getElementById(id)?.textContent ?? '').join(' '))"""
    )
    assert len(named) >= 6
    assert all(named)
    assert len(set(named)) == len(named), named


def test_the_board_of_half_hearted_step_and_the_table_of_calibration_are_heard(look, tmp_path):
    page = look(written(tmp_path, played("half_hearted_step", seed=3)), "#step=9")
    assert "Row 0: " in page.locator("#picture").aria_snapshot()
    page = look(written(tmp_path, played("persistent_calibration", seed=3)), "#step=1")
    heard = page.locator("#picture").aria_snapshot()
    assert "table" in heard
    assert "img" in heard


# -- paper, and no script ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_on_paper_no_text_needs_a_background(look, tmp_path, name):
    page = look(written(tmp_path, by_models(played(name, seed=3))), color_scheme="dark")
    page.emulate_media(media="print")
    until(page, "document.getElementById('scrub').value === document.getElementById('scrub').max")
    light = page.evaluate(
        """() => [...document.querySelectorAll('#episode *')]
        .filter((node) => !node.closest('svg') && node.checkVisibility())
        .filter((node) => [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()))
        .filter((node) => {
          const [red, green, blue] = getComputedStyle(node).color.match(/[0-9.]+/g).map(Number);
          return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 160;
        }).map((node) => `${node.className}: ${node.textContent}`)"""
    )
    assert light == []
    assert page.evaluate("getComputedStyle(document.getElementById('banner')).opacity") == "1"
    assert "⚑" not in page.inner_text("#feed")
    assert "moved by the fallback" in page.inner_text("#feed") or name == "ballast"


def test_on_paper_the_index_keeps_its_columns(look, league):
    page = look(league / "run.html", viewport={"width": 620, "height": 900})
    page.emulate_media(media="print")
    assert page.locator("#rows thead th").count() == 8
    assert all(cell.is_visible() for cell in page.locator("#rows tbody tr").first.locator("th, td").all())
    assert page.evaluate("document.getElementById('rows').getBoundingClientRect().right <= innerWidth")


@pytest.mark.parametrize("name", GAMES)
def test_without_a_script_the_end_and_all_that_happened_are_there(look, tmp_path, name):
    record = played(name, seed=3)
    page = look(written(tmp_path, record), java_script_enabled=False)
    assert not any(button.is_visible() for button in page.locator("button").all())
    said = page.inner_text("body")
    assert "cannot step from frame to frame" in said
    assert said.count("wins") + said.count("draw") + said.count("share") >= 1
    assert page.locator(".plain > ol > li").count() >= len(record.moves) + 1
    assert page.locator(f".plain .{name}").is_visible()


def test_without_a_script_an_index_lists_and_a_folder_leads_to_its_pages(look, league):
    page = look(league / "run.html", java_script_enabled=False)
    assert page.locator(".plain tbody tr").count() == 6
    page = look(league / "pages" / "index.html", java_script_enabled=False)
    page.locator(".plain a").first.click()
    assert re.search(r"goofspiel-b0000-r0\.html$", page.url)
    assert page.locator(".plain .goofspiel").is_visible()

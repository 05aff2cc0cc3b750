"""One episode's page as a browser shows it."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from tests.browser.chromium import looking, until
from tests.harness.web.episodes import by_models, played
from tests.harness.web.longest import longest_half_hearted_step
from tests.harness.web.runs import MODELS, make_run
from weigh.games.registry import GAMES
from weigh.harness.store.store import Store
from weigh.harness.web.scene import exact_score
from weigh.harness.web.viewer.run import episode_page, record_page

HOSTILE = '</script><script>window.stung=1</script><img src=x onerror="window.stung=1">\u202egnp\x1b[31m "&amp;'
SHOWN = "\\u202egnp\\x1b[31m"


def written(folder, record, name="page.html"):
    path = folder / name
    path.write_text("".join(record_page(record)), encoding="utf-8")
    return path


def goofspiel(folder):
    return written(folder, played("goofspiel", seed=3))


def frame(page):
    """Which frame is shown, from 1."""
    return int(page.input_value("#scrub")) + 1


@pytest.mark.smoke
def test_it_opens_from_a_file_and_shows_the_first_beat(look, tmp_path):
    page = look(goofspiel(tmp_path))
    assert page.title() == "goofspiel/b0000/r0 · weigh"
    assert page.inner_text("#banner") == "round 1: prize 13"
    assert page.inner_text("#position") == "1 of 29"
    assert page.locator("#picture .goofspiel").count() == 1
    assert "entrant-2" in page.inner_text("#subtitle")


def test_keys_move_play_and_help(look, tmp_path):
    page = look(goofspiel(tmp_path))
    seen = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "Home", "ArrowLeft", "o", "o", "o"):
        page.keyboard.press(key)
        seen.append(frame(page))
    assert seen == [2, 3, 2, 29, 29, 1, 1, 7, 28, 7]
    page.keyboard.press("?")
    assert page.locator("#help").evaluate("dialog => dialog.open")
    page.keyboard.press("ArrowRight")
    assert frame(page) == 7, "keys are the dialog's while it is open"
    page.keyboard.press("Escape")
    for _ in range(5):
        page.keyboard.press("+")
    assert page.inner_text("#speed") == "8×"
    page.keyboard.press("-")
    assert page.inner_text("#speed") == "4×"
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    assert page.get_attribute("#play", "aria-label") == "Pause"
    until(page, "document.getElementById('scrub').value === '28'")
    until(page, "document.getElementById('play').getAttribute('aria-label') === 'Play'")


def test_the_scrubber_and_its_marks_lead_to_beats(look, tmp_path):
    page = look(goofspiel(tmp_path))
    page.locator(".label.kind-overbid").first.click()
    assert frame(page) == 7
    assert page.inner_text("#banner") == "OVERBID by 8"
    page.focus("#scrub")
    page.keyboard.press("ArrowRight")
    assert frame(page) == 8
    box = page.locator("#marks").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 1, box["y"] + 4)
    assert frame(page) == 29
    page.locator("#feed .jump", has_text="round 5: bids").click()
    assert page.inner_text("#banner") == "round 5: bids"
    assert page.get_attribute("#scrub", "aria-valuetext") == f"frame {frame(page)} of 29: round 5: bids"


def test_deep_links_land_and_follow(look, tmp_path):
    path = goofspiel(tmp_path)
    page = look(path, "#step=2")
    assert page.inner_text("#banner") == "round 3: bids"
    assert page.inner_text("#moves-title") == "Moves: round 3"
    page.evaluate("location.hash = '#frame=6'")
    until(page, "document.getElementById('scrub').value === '6'")
    page.keyboard.press("End")
    until(page, "location.hash === '#frame=28'")
    before = page.evaluate("history.length")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    until(page, "location.hash === '#step=0'")
    assert page.evaluate("history.length") == before, "steps are no places to go back to"
    assert frame(look(path, "#frame=0")) == 1
    assert frame(look(path, "#%zz")) == 1


@pytest.mark.parametrize(
    ("fragment", "shown", "said"),
    [
        ("#frame=29", 29, "There is no frame 29: this episode has frames 0 to 28. Shown is its last frame."),
        ("#step=99999", 29, "There is no step 99999: this episode has steps 0 to 12. Shown is its last frame."),
        ("#step=x&frame=3", 1, "There is no step x: this episode has steps 0 to 12. Shown is its first frame."),
        ("#frame=-1", 1, "There is no frame -1: this episode has frames 0 to 28. Shown is its first frame."),
    ],
)
def test_a_place_that_is_not_there_is_said_to_be_none(look, tmp_path, fragment, shown, said):
    page = look(goofspiel(tmp_path), fragment)
    assert frame(page) == shown
    assert page.inner_text("#trouble") == said
    assert page.get_attribute("#trouble", "role") == "alert"
    page.keyboard.press("ArrowLeft" if shown > 1 else "ArrowRight")
    assert not page.locator("#trouble").is_visible()


@pytest.mark.parametrize("name", GAMES)
def test_the_last_frame_equals_the_record(look, tmp_path, name):
    record = played(name, seed=8)
    page = look(written(tmp_path, record), "#frame=9999")
    shown = page.locator("#seats .score").evaluate_all("cells => cells.map(cell => Number(cell.dataset.value))")
    assert tuple(shown) == record.scores
    assert record.ending in page.inner_text("#facts") or page.locator("#facts").text_content().count(record.ending)
    page.keyboard.press("Home")
    assert page.locator("#seats .score[data-value]").count() == 0, "no score before the end"


TOO_WIDE = """() => {
  const found = [], picture = document.getElementById('picture'), last = Number(document.getElementById('scrub').max);
  for (let frame = 0; frame <= last; frame++) {
    if (document.documentElement.scrollWidth > innerWidth || picture.scrollWidth > picture.clientWidth) {
      found.push(document.getElementById('banner').textContent);
    }
    document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
  }
  return found;
}"""


@pytest.mark.parametrize("wide", [320, 360])
@pytest.mark.parametrize("name", GAMES)
def test_every_game_fits_a_narrow_screen_at_every_beat(look, tmp_path, name, wide):
    long = by_models(played(name, seed=5))
    long = long.model_copy(update={"aliases": ("Maple" * 60, *long.aliases[1:])})
    page = look(written(tmp_path, long), viewport={"width": wide, "height": 640})
    assert page.evaluate(f"({TOO_WIDE})()") == []


def test_hostile_text_stays_text(look, tmp_path):
    make_run(tmp_path / "run", reply=HOSTILE + "{" * 2_000_000, reasoning=HOSTILE)
    with Store.open(tmp_path / "run", readonly=True) as store:
        record = store.record(MODELS)
        record = record.model_copy(update={"entrants": (HOSTILE, "bob", "cat"), "key": HOSTILE})
        path = tmp_path / "hostile.html"
        path.write_text("".join(episode_page(store, record)), encoding="utf-8")
        kept = "".join(episode_page(store, store.record(MODELS)))
    assert len(kept) < 200_000, "2 MB of a model's text are not in the page"
    path = tmp_path / "calls.html"
    path.write_text(kept, encoding="utf-8")
    page = look(path, "#step=0")
    made = page.locator("#moves .move").nth(1)
    made.locator("summary", has_text="reply").last.click()
    said = made.locator("pre").last
    assert said.inner_text().startswith("</script><script>window.stung=1</script><img src=x")
    assert SHOWN in said.inner_text()
    assert len(said.inner_text()) == 2_000
    made.locator("button", has_text="show all").click()
    assert len(said.inner_text()) > 19_000
    assert re.search(r"19\d{5} more characters are not in this page", made.inner_text())
    names = look(tmp_path / "hostile.html", "#step=0")
    assert "</script><script>window.stung=1" in names.inner_text("#seats")
    assert "\u202e" not in names.content()
    for each in (page, names):
        assert each.evaluate("window.stung") is None
        assert each.locator("#episode script, #episode img").count() == 0


def test_who_made_a_move_and_what_it_took_is_visible(look, tmp_path):
    make_run(tmp_path / "run")
    with Store.open(tmp_path / "run", readonly=True) as store:
        path = tmp_path / "page.html"
        path.write_text("".join(episode_page(store, store.record(MODELS))), encoding="utf-8")
    page = look(path, "#step=0")
    first, second, third = page.locator("#moves .move").all()
    assert "fallback: match" in first.inner_text()
    assert "illegal at attempt 1: 99 is not a legal bid" in first.inner_text()
    assert "empty at attempt 2: no text" in first.inner_text()
    assert "second attempt" in second.inner_text()
    assert "attempt 1: wait" in second.inner_text()
    assert "connection reset" in second.inner_text()
    assert "served-by-7 · 321 tokens in (40 cached) · 123 out (45 reasoning) · 2.25 s · $0.0125" in second.inner_text()
    second.locator("summary", has_text="notes it kept").click()
    assert second.locator("pre").inner_text() == "kept in mind"
    assert third.locator(".by").inner_text() == "model"
    page.keyboard.press("Home")
    assert "nobody has seen a move of it" in page.inner_text("#moves")


def test_the_feed_holds_what_happened_up_to_the_beat_and_says_it_aloud(look, tmp_path):
    page = look(goofspiel(tmp_path), "#frame=3")
    assert page.locator("#feed .entry:visible").count() == 4
    assert page.locator("#feed [aria-current]").inner_text().startswith("round 2: bids")
    assert page.get_attribute("#said", "aria-live") == "polite"
    assert page.inner_text("#said").startswith("Bids for 12: ")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#feed .entry:visible").count() == 3


def test_dark_and_light_follow_the_system_and_the_button(look, tmp_path):
    path = goofspiel(tmp_path)
    paper = "getComputedStyle(document.body).backgroundColor"
    page = look(path, color_scheme="dark")
    dark = page.evaluate(paper)
    assert look(path, color_scheme="light").evaluate(paper) != dark
    page.click("#theme")
    assert page.evaluate(paper) != dark
    page.click("#theme")
    assert (page.evaluate(paper), page.get_attribute("#theme", "aria-label")) == (dark, "Theme: dark")


def test_on_paper_stand_all_lines_and_the_final_board(look, tmp_path):
    page = look(goofspiel(tmp_path), color_scheme="dark")
    screen = page.evaluate("getComputedStyle(document.body).color")
    page.emulate_media(media="print")
    until(page, "document.getElementById('scrub').value === '28'")
    assert page.locator("#feed .entry:visible").count() == 29
    assert page.locator("#picture .goofspiel-standing").is_visible()
    assert not page.locator(".deck").is_visible()
    assert page.evaluate("getComputedStyle(document.body).color") != screen
    page.emulate_media(media="screen")
    until(page, "document.getElementById('scrub').value === '0'")
    assert page.locator("#feed .entry:visible").count() == 1


def test_nothing_moves_by_itself_for_readers_who_asked_for_that(look, tmp_path):
    path = goofspiel(tmp_path)
    asked = "getComputedStyle(document.getElementById('banner')).animationName"
    assert look(path, "#frame=6").evaluate(asked) == "arrive"
    assert look(path, "#frame=6", reduced_motion="reduce").evaluate(asked) == "none"


def test_a_tree_with_another_element_builds_nothing(browser, tmp_path):
    path = goofspiel(tmp_path)
    text = path.read_text(encoding="utf-8")
    assert text.count('["div",{"class":"goofspiel"') > 1
    path.write_text(text.replace('["div",{"class":"goofspiel"', '["iframe",{"class":"goofspiel"'), encoding="utf-8")
    with pytest.raises(AssertionError, match="a picture has no element iframe"), looking(browser) as looked:
        page = looked.open(path)
        assert page.locator("iframe").count() == 0


def test_a_record_that_does_not_re_derive_says_so(look, tmp_path):
    record = played("oshi_zumo", {"coins": 6}).model_copy(update={"ending": "pushed <b>away</b>"})
    page = look(written(tmp_path, record))
    assert "This record does not re-derive." in page.inner_text("#warnings")
    assert "pushed <b>away</b>" in page.inner_text("#warnings")
    assert not look(goofspiel(tmp_path)).locator("#warnings").is_visible()


STEPPING = """() => {
  const steps = [], last = Number(document.getElementById('scrub').max);
  const watch = new MutationObserver(() => {});
  watch.observe(document.body, {childList: true, subtree: true, attributes: true, characterData: true});
  for (let frame = 0; frame < last; frame++) {
    document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
    let put = 0, set = 0;
    for (const change of watch.takeRecords()) {
      if (change.type !== 'childList') set += 1;
      for (const node of change.addedNodes) put += 1 + (node.querySelectorAll?.('*').length ?? 0);
    }
    const shown = ['picture', 'seats', 'moves'].map((id) => document.getElementById(id).querySelectorAll('*').length);
    steps.push([put, set, ...shown]);
  }
  return steps;
}"""
"""What each step forward does to the page: the elements and texts put in, the other changes, and the elements that the
picture, the seats and the moves then have."""


def assert_bounded(steps):
    """A step draws what it shows, of bounded size, and touches hardly anything else however long the episode is."""
    for put, changed, *shown in steps:
        assert 0 < put <= sum(shown) + 10
        assert changed <= 30
        assert sum(shown) < 2_000


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("goofspiel", {"seats": 10}),
        ("oshi_zumo", {"coins": 50, "min_bid": 0, "max_rounds": 100}),
        ("persistent_calibration", {"seats": 13}),
        ("half_hearted_step", {}),
    ],
)
def test_a_step_of_a_long_episode_draws_what_it_shows_and_nothing_else(look, tmp_path, name, config):
    page = look(written(tmp_path, played(name, config, seed=4)))
    page.keyboard.press("Home")
    assert_bounded(page.evaluate(f"({STEPPING})()"))


def test_the_longest_game_of_75_steps_is_stepped_through_to_the_scores_of_its_record(look, tmp_path):
    record = longest_half_hearted_step()
    assert len(record.moves) == 75
    page = look(written(tmp_path, record))
    page.keyboard.press("Home")
    assert_bounded(page.evaluate(f"({STEPPING})()"))
    shown = page.locator("#seats").inner_text()
    assert all(exact_score(Fraction(score)) in shown for score in record.scores)

"""A report as a browser shows it: no script, no request, nothing cut off, and readable for everybody."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.harness.report.small_runs import HOSTILE, contents, make_run, tables, with_faults
from weigh.harness.report.render.html import html_page
from weigh.harness.report.report import document

NAMES = ("ann", "bob-the-second", "cy", HOSTILE)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Four entrants, one of them a model with faults; two games; partial."""
    folder = tmp_path_factory.mktemp("report")
    records = tables(NAMES, blocks=8)
    played = [
        with_faults(each, each.entrants.index("ann"), "illegal", "empty", "refused") if "ann" in each.entrants else each
        for each in records[:14]
    ]
    run = make_run(
        folder / "run",
        [*played, *tables(NAMES[:3], "oshi_zumo", 2, 6, coins=8)],
        missing=records[14:],
        models={"ann": "openai:gpt-5"},
        calls=True,
        status="interrupted",
    )
    path = folder / "report.html"
    path.write_text(html_page(document(contents(run))), encoding="utf-8")
    return path


@pytest.mark.smoke
def test_nothing_runs_and_nothing_is_asked_for(look, report):
    page = look(report, java_script_enabled=False)
    assert page.title().startswith("run: ")
    assert page.locator("svg.drawing").count() > 10


def test_the_style_sheet_is_allowed_by_the_policy(look, report):
    page = look(report)
    assert page.evaluate("getComputedStyle(document.querySelector('.span')).strokeWidth") == "7px"


@pytest.mark.parametrize("wide", [360, 1000, 1600])
def test_the_page_never_scrolls_sideways(look, report, wide):
    page = look(report, viewport={"width": wide, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= wide


@pytest.mark.parametrize("wide", [360, 1000])
def test_every_mark_lies_within_its_drawing(look, report, wide):
    page = look(report, viewport={"width": wide, "height": 900})
    outside = """[...document.querySelectorAll('svg.drawing')].filter((drawing) => {
      const frame = drawing.getBoundingClientRect();
      return [...drawing.querySelectorAll('circle, path, line, rect')].some((mark) => {
        const box = mark.getBoundingClientRect();
        return box.left < frame.left - 6 || box.right > frame.right + 6;
      });
    }).length"""
    assert page.evaluate(outside) == 0


@pytest.mark.parametrize("wide", [360, 1000])
def test_words_of_an_axis_do_not_overlap(look, report, wide):
    page = look(report, viewport={"width": wide, "height": 900})
    overlapping = """[...document.querySelectorAll('svg.axis')].filter((axis) => {
      const boxes = [...axis.querySelectorAll('text')].map((text) => text.getBoundingClientRect())
        .filter((box) => box.width > 0).sort((one, other) => one.left - other.left);
      return boxes.some((box, n) => n > 0 && box.left < boxes[n - 1].right);
    }).length"""
    assert page.evaluate(overlapping) == 0


def test_the_dot_is_where_the_number_is(look, report):
    page = look(report)
    rows = page.evaluate(
        """[...[...document.querySelectorAll('.summary table')].find((table) => table.querySelector('svg.drawing'))
          .tBodies[0].rows].map((row) => {
          const frame = row.querySelector('svg.drawing').getBoundingClientRect();
          const at = (name) => {
            const box = row.querySelector(name).getBoundingClientRect();
            return (box.left + box.width / 2 - frame.left) / frame.width;
          };
          return [Number(row.cells[3].textContent), at('circle.mean'), at('line.zero')];
        })"""
    )
    by_mean = sorted(rows)
    assert [place for _, place, _ in by_mean] == sorted(place for _, place, _ in rows)
    (first, here, zero), (last, there, _) = by_mean[0], by_mean[-1]
    a_unit = (there - here) / (last - first)
    assert all(abs(place - (zero + mean * a_unit)) < 0.01 for mean, place, _ in rows)


def test_the_dark_theme_is_the_readers(look, report):
    paper = "getComputedStyle(document.body).backgroundColor"
    assert look(report, color_scheme="light").evaluate(paper) != look(report, color_scheme="dark").evaluate(paper)


def test_print_is_light_and_within_the_sheet(look, report):
    page = look(report, color_scheme="dark", viewport={"width": 703, "height": 990})
    screen = page.evaluate("getComputedStyle(document.body).color")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).color") != screen
    assert not page.locator("nav").is_visible()
    beyond = "[...document.querySelectorAll('table')].filter((t) => t.getBoundingClientRect().right > 705).length"
    assert page.evaluate(beyond) == 0


@pytest.mark.parametrize(("scheme", "wide"), [("light", 1280), ("dark", 1280), ("light", 360)])
def test_axe_finds_no_serious_fault(look, report, scheme, wide):
    # The page's policy forbids every script, axe's as well.
    page = look(report, color_scheme=scheme, viewport={"width": wide, "height": 900}, bypass_csp=True)
    for summary in page.locator("summary").all():
        summary.click()
    found = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == []


def test_every_link_of_the_contents_leads_to_a_heading(look, report):
    page = look(report)
    for link in page.locator("nav a").all():
        target = (link.get_attribute("href") or "").removeprefix("#")
        assert page.locator(f"[id='{target}'] > :is(h2, h3)").count() == 1

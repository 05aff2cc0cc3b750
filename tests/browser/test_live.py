"""The live page and a person's seat in a real browser, at commands that are playing."""

from __future__ import annotations

import json
import re
import signal
from contextlib import contextmanager

import pytest

from tests.browser.chromium import until
from tests.cli.runner import config, started, weigh
from weigh.harness.providers.mock_server import MockServerProcess, Options, read_plan

HOSTILE = '</script><script>window.stung=1</script><img src=x onerror="window.stung=1">\u202e'

LADDER = """\
name = "minds"
seed = 3
[games.goofspiel]
seats = 2
cards = 4
blocks = 2
[entrants]
bold = "goofspiel/plain.md@mock:mock-small"
calm = "goofspiel/plain.md@mock:mock-large"
[models.mock]
base_url = "{url}"
"""


@pytest.fixture(scope="module")
def server():
    with MockServerProcess(Options(latency="150ms")) as going:
        yield going


@pytest.fixture(autouse=True)
def clean(server):
    server.follow(read_plan({"rules": []}))
    server.reset()


@contextmanager
def serving(*words, cwd, pages=1):
    """A command that serves; gives the process and the addresses that it told."""
    with started(*words, cwd=cwd) as going:
        urls = []
        while len(urls) < pages:
            line = going.stderr.readline().decode()
            assert line, "it ended without an address"
            urls += re.findall(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", line)
        yield going, urls


@contextmanager
def looking_at(browser, url, lost=False, **context):
    """A page of this server, that asks nobody else and complains of nothing; `lost` where its server ends first."""
    opened = browser.new_context(**context)
    page = opened.new_page()
    page.set_default_timeout(10_000)
    asked, said = [], []
    page.on("request", lambda request: None if request.url.startswith((url, "data:")) else asked.append(request.url))
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    try:
        page.goto(url)
        yield page
        assert not asked, asked
        assert not [line for line in said if not (lost and "Failed to load resource" in line)], said
        assert page.evaluate("window.stung") is None
    finally:
        opened.close()


def test_a_ladder_is_followed_to_its_end(browser, server, tmp_path):
    config(tmp_path, LADDER.format(url=server.openai_url), "l.toml")
    with (
        serving("ladder", "l.toml", "--serve", cwd=tmp_path) as (going, (url,)),
        looking_at(browser, url, viewport={"width": 1280, "height": 1000}) as page,
    ):
        until(page, "document.getElementById('run-state').textContent === 'live'")
        assert page.inner_text("#run-title") == "minds"
        until(page, "!document.getElementById('episode').hidden")
        until(page, "document.querySelectorAll('#feed .entry:not([hidden])').length > 1")
        assert page.locator("#picture .goofspiel").count() == 1
        until(page, "document.querySelectorAll('#standing tbody tr').length >= 2")
        until(page, "document.getElementById('run-state').textContent === 'over'")
        assert page.locator("#run-over").is_visible()
        assert page.inner_text("#run-over").startswith("complete: 4 of 4 episodes finished")
        rows = page.locator("#standing tbody tr").all_inner_texts()
        assert {row.split()[0] for row in rows} >= {"bold", "calm"}
        assert page.locator("#recent button").count() == 4
        assert going.wait(20) == 0
        # What was heard stays, with the server gone.
        page.keyboard.press("Home")
        assert page.input_value("#scrub") == "0"
        page.keyboard.press("End")
        assert page.locator("#seats .score").first.get_attribute("data-value") is not None


@pytest.mark.smoke
def test_one_episode_is_shown_beat_by_beat_with_hostile_text_as_text(browser, server, tmp_path):
    reply = f"{HOSTILE}\n" + json.dumps({"bid": 1})
    server.follow(read_plan({"rules": [{"nth": "1", "do": "reply", "text": reply}]}))
    words = ("play", "goofspiel", "goofspiel/plain.md@mock:mock-small", "match", "--set", "cards=5")
    with (
        serving(*words, "--base-url", server.openai_url, "--serve", cwd=tmp_path) as (going, (url,)),
        looking_at(browser, url) as page,
    ):
        until(page, "!document.getElementById('episode').hidden")
        assert not page.locator("#run-ladder").is_visible()
        until(page, "document.getElementById('run-state').textContent === 'over'")
        assert going.wait(20) == 0
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        page.locator("#moves details", has_text="reply").first.locator("summary").click()
        shown = page.locator("#moves pre").first.inner_text()
        assert "</script><script>window.stung=1</script>" in shown
        assert "\\u202e" in shown
        page.keyboard.press("End")
        values = page.locator("#seats .score").evaluate_all("all => all.map(one => one.dataset.value)")
        assert sum(map(float, values)) == pytest.approx(0)


def test_who_looks_back_is_left_there_and_led_on_when_they_ask(browser, server, tmp_path):
    words = ("play", "goofspiel", "goofspiel/plain.md@mock:mock-small", "match", "--set", "cards=9")
    with (
        serving(*words, "--base-url", server.openai_url, "--serve", cwd=tmp_path) as (_, (url,)),
        looking_at(browser, url) as page,
    ):
        until(page, "Number(document.getElementById('scrub').max) >= 3")
        page.keyboard.press("Home")
        before = int(page.get_attribute("#scrub", "max"))
        until(page, f"Number(document.getElementById('scrub').max) > {before}")
        assert page.input_value("#scrub") == "0"
        page.click("#live-edge")
        until(page, "Number(document.getElementById('scrub').value) > 2")
        until(page, "document.getElementById('run-state').textContent === 'over'")


def test_a_run_that_is_killed_is_said_to_be_unheard_of(browser, server, tmp_path):
    words = ("play", "goofspiel", "goofspiel/plain.md@mock:mock-small", "match")
    with (
        serving(*words, "--base-url", server.openai_url, "--serve", cwd=tmp_path) as (going, (url,)),
        looking_at(browser, url, lost=True) as page,
    ):
        until(page, "!document.getElementById('episode').hidden")
        going.send_signal(signal.SIGKILL)
        going.wait(10)
        until(page, "document.getElementById('run-state').textContent.startsWith('not connected')")
        assert page.locator("#picture .goofspiel").count() == 1


def test_the_live_page_fits_a_phone_and_the_dark(browser, server, tmp_path):
    config(tmp_path, LADDER.format(url=server.openai_url), "l.toml")
    with (
        serving("ladder", "l.toml", "--serve", cwd=tmp_path) as (_, (url,)),
        looking_at(browser, url, viewport={"width": 360, "height": 800}, color_scheme="dark") as page,
    ):
        until(page, "document.getElementById('run-state').textContent === 'over'")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 28)"


@pytest.mark.smoke
@pytest.mark.slow
def test_a_person_plays_in_the_browser_and_sees_the_whole_when_it_is_over(browser, tmp_path):
    words = ("play", "goofspiel", "human", "match", "--set", "cards=4", "--out", "r.json", "--serve")
    with (
        serving(*words, cwd=tmp_path) as (going, (url,)),
        looking_at(browser, url) as page,
    ):
        until(page, "document.getElementById('chair-state').textContent === 'your move'")
        assert page.inner_text("#chair-title").startswith("You are ")
        assert "Your legal bids: 1, 2, 3, 4." in page.inner_text("#situation")
        assert page.locator("#episode").is_hidden()
        assert page.locator("#buttons button").all_inner_texts() == ["1", "2", "3", "4"]
        page.fill("#line", "9")
        page.keyboard.press("Enter")
        until(page, "!document.getElementById('refused').hidden")
        assert "9 is not a legal bid now" in page.inner_text("#refused")
        page.locator("#buttons button", has_text="4").click()
        until(page, "document.querySelectorAll('#past li').length === 1")
        assert "match" not in page.inner_text("main"), "who the other is, is not told before the end"
        page.fill("#line", "1")
        page.keyboard.press("Enter")
        until(page, "document.querySelectorAll('#past li').length === 2")
        page.locator("#buttons button", has_text="2").click()
        until(page, "document.querySelectorAll('#past li').length === 3")
        page.locator("#buttons button", has_text="3").click()
        until(page, "document.getElementById('chair-state').textContent === 'over'")
        assert going.wait(20) == 0
        assert "was match" in page.inner_text("#chair-over")
        assert page.locator("#picture .goofspiel").count() == 1
        page.keyboard.press("Home")
        assert page.input_value("#scrub") == "0"
    record = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert [row[0] for row in record["moves"]] == [4, 1, 2, 3]
    assert weigh("verify", tmp_path / "r.json").code == 0


def test_two_people_have_a_page_each_that_shows_their_own_seat(browser, tmp_path):
    with serving("play", "ballast", "human", "human", "--serve", cwd=tmp_path, pages=2) as (going, urls):
        assert len(set(urls)) == 2
        with looking_at(browser, urls[0], lost=True) as one, looking_at(browser, urls[1], lost=True) as two:
            until(one, "document.getElementById('chair-state').textContent === 'your move'")
            until(two, "document.getElementById('chair-state').textContent === 'waiting for the first move'")
            assert two.locator("#moving").is_hidden()
            one.select_option("#pick", label="place 4 2 1")
            one.click("#pick-go")
            until(two, "document.getElementById('chair-state').textContent === 'your move'")
            told = two.inner_text("#past")
            assert "announced 1" in told
            assert "weight 4" not in two.inner_text("main")
            assert "weight 4" in one.inner_text("#past") or one.inner_text("#past") == ""
            going.send_signal(signal.SIGINT)
            assert going.wait(20) == 130
            until(one, "document.getElementById('chair-state').textContent === 'over'")
            assert "not finished" in one.inner_text("#chair-over")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(browser, server, tmp_path, scheme):
    from axe_playwright_python.sync_playwright import Axe

    config(tmp_path, LADDER.format(url=server.openai_url), "l.toml")
    with (
        serving("ladder", "l.toml", "--serve", cwd=tmp_path) as (_, (url,)),
        looking_at(browser, url, color_scheme=scheme, bypass_csp=True) as page,
    ):
        until(page, "document.getElementById('run-state').textContent === 'over'")
        serious(Axe().run(page))
    with (
        serving("play", "goofspiel", "human", "match", "--serve", cwd=tmp_path) as (_, (url,)),
        looking_at(browser, url, lost=True, color_scheme=scheme, bypass_csp=True) as page,
    ):
        until(page, "document.getElementById('chair-state').textContent === 'your move'")
        serious(Axe().run(page))


def serious(results):
    found = [
        (fault["id"], [node["html"][:200] for node in fault["nodes"]])
        for fault in results.response["violations"]
        if fault["impact"] in ("serious", "critical")
    ]
    assert not found, found

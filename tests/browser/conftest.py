"""Fixtures: one browser for each file of tests, a fresh page for each test. What looks at a page is slow, but for one
test of each kind of page."""

from __future__ import annotations

import os

import pytest

from tests.browser.chromium import CHROMIUM, chromium, looking


def pytest_collection_modifyitems(items):
    for item in items:
        if "browser" in item.fixturenames:
            item.add_marker(pytest.mark.browser)
            if item.get_closest_marker("smoke") is None:
                item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="module")
def browser():
    """Closed with its file: while it is open, no other test of the process could run an event loop."""
    if not os.access(CHROMIUM, os.X_OK):
        if os.environ.get("CI"):
            pytest.fail(f"there is no browser at {CHROMIUM}: make chromium")
        pytest.skip(f"NO BROWSER at {CHROMIUM}: the pages are not looked at (make chromium)")
    with chromium() as opened:
        yield opened


@pytest.fixture
def look(browser):
    """`look(path, "#step=3", **context)` opens a page; the test ends with nothing asked for and nothing complained."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def open_page(path, fragment="", **context):
            return stack.enter_context(looking(browser, **context)).open(path, fragment)

        yield open_page

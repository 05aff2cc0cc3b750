"""Headless Chromium for the tests of pages: Debian's, driven through Playwright, cut off from every network."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = Path(os.environ.get("CHROMIUM") or "/usr/bin/chromium")
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser. Playwright's loop runs while it is open, so nothing within may call `asyncio.run`."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Looked:
    """A page that is looked at, and everything that must not happen on it."""

    page: Page
    asked: list[str] = field(default_factory=list)
    """Every request but for files of this machine."""
    said: list[str] = field(default_factory=list)
    """What its console told, and every error that nobody caught."""

    def open(self, path: Path, fragment: str = "") -> Page:
        self.page.goto(path.as_uri() + fragment)
        return self.page


@contextmanager
def looking(browser: Browser, **context: Any) -> Iterator[Looked]:
    """A fresh page; at the end it must have asked nobody for anything and complained of nothing."""
    opened = browser.new_context(**context)
    page = opened.new_page()
    page.set_default_timeout(10_000)
    looked = Looked(page)
    page.on("request", lambda request: None if _is_local(request.url) else looked.asked.append(request.url))
    page.on("console", lambda message: looked.said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: looked.said.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (looked.said.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    try:
        yield looked
        assert not looked.asked, looked.asked
        assert not looked.said, looked.said
    finally:
        opened.close()


def until(page: Page, condition: str) -> None:
    """Wait until a condition of the page holds. Playwright's own way to wait needs `eval`, which the page forbids."""
    for _ in range(200):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"it never came: {condition}")


def _is_local(url: str) -> bool:
    return url.startswith(("file://", "data:", "about:"))

"""Every link inside the documentation, and every path that pages, code and examples name, leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path

import pytest

from tests.cli.runner import ROOT
from tests.docs.pages import ALL, DOCS, WRITTEN, anchors, prose, text

PLACES = ("benches", "docs", "examples", "games", "harness", "policies", "prompts", "tests")
NAMED = re.compile(rf"(?<![\w/.-])((?:{'|'.join(PLACES)})/[\w./-]*[\w/])")
"""A path of this repository."""
MADE_UP = ("prompts/mine.md", "prompts/bidder.md", "prompts/old.md", "prompts/new.md", "prompts/a.md", "prompts/b.md")


def of_page(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", ALL, ids=of_page)
def test_a_link_leads_to_a_page_and_a_heading(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if fragment:
            assert fragment in anchors(target), link


@pytest.mark.parametrize("page", WRITTEN, ids=of_page)
def test_a_path_that_a_page_names_is_there(page: Path) -> None:
    for path in NAMED.findall(re.sub(r"\]\([^)]*\)", "]", prose(page))):
        assert path in MADE_UP or "NAME" in path or (ROOT / path).exists(), path


def sources() -> Iterator[Path]:
    for place in PLACES:
        for ending in ("py", "toml", "md"):
            yield from (ROOT / place).rglob(f"*.{ending}") if place != "docs" else ()
    yield from (ROOT / "results").glob("*.md")


def test_a_page_that_code_names_is_there() -> None:
    for source in sources():
        for path in re.findall(r"(?<![\w/.])docs/[\w/.-]+\.md", text(source)):
            assert (ROOT / path).exists() or source.parent == Path(__file__).parent, (source, path)


def test_the_menu_of_the_site_has_every_page() -> None:
    menu = [DOCS / f"{name}.md" for pages in run_path(str(DOCS / "conf.py"))["MENU"].values() for name in pages]
    decisions = {page for page in ALL if page.parent == DOCS / "adr" and page.name != "README.md"}
    assert sorted(menu) == sorted(set(ALL) - {ROOT / "README.md", DOCS / "README.md"} - decisions)


def test_every_page_is_reached_from_the_map() -> None:
    seen: set[Path] = set()
    waiting = [DOCS / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        links = re.findall(r"\]\(([^)\s#]+)", prose(page))
        waiting += [(page.parent / link).resolve() for link in links if "://" not in link]
    assert set(WRITTEN) - seen - {ROOT / "README.md"} == set()

"""The pages are as short as they are meant to be."""

from __future__ import annotations

import re

import pytest

from tests.cli.runner import ROOT
from tests.docs.pages import DOCS, prose, text

LONGEST = {
    "README.md": 600,
    "docs/tutorial.md": 1_200,
    "docs/glossary.md": 300,
    "docs/contributing.md": 600,
    "docs/howto/paper.md": 350,
    "docs/howto/prompt.md": 500,
    "docs/howto/ci.md": 900,
    "docs/howto/models.md": 500,
    "docs/howto/extend.md": 600,
    "docs/howto/trouble.md": 500,
    "docs/explanation/method.md": 1_200,
    "docs/explanation/appendix.md": 7_000,
    "docs/explanation/guarantees.md": 400,
    "docs/explanation/comparison.md": 400,
    "docs/reference/records.md": 2_500,
}
MET = ("README.md", "docs/tutorial.md", "docs/glossary.md", "docs/explanation/method.md")
"""What a user meets, with the how-to pages."""


def words(written: str) -> int:
    return sum(bool(re.search(r"[^\W_]", word)) for word in written.split())


@pytest.mark.parametrize("page", LONGEST)
def test_a_page_is_no_longer_than_its_limit(page: str) -> None:
    assert words(prose(ROOT / page)) <= LONGEST[page]


def test_a_user_meets_few_words() -> None:
    """Blocks of code included."""
    pages = [ROOT / page for page in MET] + sorted((DOCS / "howto").glob("*.md"))
    assert sum(words(text(page)) for page in pages) <= 7_500


def test_the_glossary_has_twelve_words() -> None:
    assert len(re.findall(r"^\| \*\*", text(DOCS / "glossary.md"), re.MULTILINE)) == 12

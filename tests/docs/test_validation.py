"""docs/explanation/validation.md holds what benches print, below their own words, and nothing else."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import cleandoc

import pytest

from benches.__main__ import PAGE, SECTION

SECTIONS = {found[2]: found[0] for found in SECTION.finditer(PAGE.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_begins_with_the_words_of_its_bench(name: str) -> None:
    words = cleandoc(import_module(f"benches.{name}").__doc__ or "")
    assert f"<!-- python -m benches {name} -->\n{words}\n\n" in SECTIONS[name]
    assert "\n|:--|" in SECTIONS[name]


def test_nothing_on_the_page_is_written_by_hand_but_headings() -> None:
    rest = SECTION.sub("", PAGE.read_text(encoding="utf-8"))
    lines = [line for line in rest.splitlines() if line and not line.startswith("#")]
    assert lines == ["<!-- Written by `make bench`. Do not edit. -->"]
    assert len(re.findall("<!-- python", PAGE.read_text(encoding="utf-8"))) == len(SECTIONS) == 7

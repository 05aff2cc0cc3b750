"""The how-to pages hold the tables that the code and the benches hold."""

from __future__ import annotations

import re

from tests.docs.pages import DOCS, text
from weigh.games.registry import GAMES
from weigh.harness.results.ranking.warning_words import ITEMS, WORDS


def test_every_kind_of_warning_has_a_row_and_no_other() -> None:
    kinds = re.findall(r"^\| `(\w+)` \|", text(DOCS / "howto" / "trouble.md"), re.MULTILINE)
    assert sorted(kinds) == sorted({name.partition(".")[0] for name in WORDS})
    assert set(ITEMS) <= set(kinds)


def margins(page: str) -> dict[str, list[str]]:
    """The cells of the row of each game, in the first table that has rows for games."""
    rows = re.findall(rf"^\| ({'|'.join(GAMES)}) \| (.*) \|$", text(DOCS / page), re.MULTILINE)
    return {game: cells.split(" | ") for game, cells in rows}


def test_the_margins_are_those_that_the_bench_measured() -> None:
    measured = margins("explanation/validation.md")
    told = margins("howto/ci.md")
    assert set(measured) == set(GAMES)
    for game, (seats, _, reach, margin, blocks, _, episodes) in measured.items():
        assert told[game] == [seats, margin, blocks, episodes, reach]

"""The collusion audit in a report: flagged pairs are marked, untested ones in brackets, and other games say why not."""

from __future__ import annotations

import re

import pytest

from tests.harness.audit.collusion.leagues import PLANTED, League
from weigh.harness.audit.collusion.audit import Settings, audit
from weigh.harness.audit.collusion.seats import RunOf
from weigh.harness.report.render.document import Cell, Table, Text
from weigh.harness.report.sections.pairs import collusion_section


@pytest.fixture(scope="module")
def planted():
    """A league in which ann stands aside for bob."""
    return audit([RunOf("league", PLANTED.seed, PLANTED.records())], Settings(permutations=999))


def matrix(found) -> dict[tuple[str, str], Cell]:
    (table,) = [
        each for each in collusion_section(found, "goofspiel", "c").blocks if isinstance(each, Table) and each.matrix
    ]
    names = [row[0].text for row in table.rows]
    return {(row[0].text, name): cell for row in table.rows for name, cell in zip(names, row[1:], strict=True)}


def test_the_flagged_are_marked_in_text_and_in_the_sentence(planted):
    cells = matrix(planted)
    flagged = {(each.by, each.toward) for each in planted.flagged}
    assert ("ann", "bob") in flagged
    assert {pair for pair, cell in cells.items() if cell.text.endswith("!")} == flagged
    assert cells["ann", "bob"].tone == "above-4 flagged"
    verdict = collusion_section(planted, "goofspiel", "c").blocks[0]
    assert isinstance(verdict, Text)
    assert re.match(rf"{len(flagged)} pairs? flagged: .*ann -> bob", verdict.spans[0].text)


def test_every_number_is_the_audits(planted):
    cells = matrix(planted)
    for each in planted.tables[0].directions:
        text = cells[each.by, each.toward].text.strip("()!")
        assert float(text) == pytest.approx(each.difference, abs=0.0051)
    assert cells["ann", "ann"].text not in ("0", "0.00")


def test_where_nothing_could_be_tested_it_says_so():
    found = audit(
        [RunOf("league", 5, League(("ann", "bob", "cat"), blocks=2, cards=5).records())], Settings(permutations=99)
    )
    blocks = collusion_section(found, "goofspiel", "c").blocks
    assert isinstance(blocks[0], Text)
    assert blocks[0].spans[0].text.startswith("No pair of 3 entrants could be tested")
    assert not [each for each in blocks if isinstance(each, Table) and each.matrix]


def test_another_game_says_why_it_does_not_apply():
    found = audit([], expected={"run": {"oshi_zumo": 4}}, finished={"oshi_zumo": 4})
    (reason,) = collusion_section(found, "oshi_zumo", "c").blocks
    assert "not applicable" in str(reason)


def test_no_flag_where_none_was_in_reach_is_not_told_as_good_news():
    league = League(PLANTED.names, blocks=14, feeders={"ann": "bob"})
    found = audit([RunOf("league", league.seed, league.records())], Settings(permutations=999))
    assert (found.flagged, found.reachable) == ((), False)
    verdict = collusion_section(found, "goofspiel", "c").blocks[0]
    assert isinstance(verdict, Text)
    assert verdict.spans[0].text.startswith("No pair could have been flagged")

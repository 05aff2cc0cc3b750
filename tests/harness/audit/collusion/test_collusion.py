"""The whole audit on leagues that the real engine played into real stores."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from tests.harness.audit.collusion.leagues import HONEST, PLANTED, SEVEN, UNSEEN, League
from weigh.games.goofspiel.rules import GOOFSPIEL
from weigh.harness.audit.collusion.audit import Audit, Settings, audit
from weigh.harness.audit.collusion.seats import RunOf
from weigh.harness.report.render.markdown import markdown_sections
from weigh.harness.report.render.text import plain_lines
from weigh.harness.report.sections.audit import sections
from weigh.harness.results import load
from weigh.harness.store.record import Record
from weigh.harness.store.store import Store

QUICK = Settings(permutations=1_999)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return PLANTED.into(tmp_path_factory.mktemp("runs") / "planted")


def records_of(folder: Path) -> list[Record]:
    with Store.open(folder, readonly=True) as store:
        return list(store.records())


def of(records: list[Record], run: str = "run", seed: int | None = 5, settings: Settings = QUICK) -> Audit:
    return audit([RunOf(run, seed, records)], settings)


def text(found: Audit, rounds: int = 10) -> str:
    return "\n".join(plain_lines(sections(found, rounds)))


def test_a_planted_feeder_is_flagged_and_nobody_else(planted: Path) -> None:
    found = of(records_of(planted))
    assert [(each.by, each.toward) for each in found.flagged] == [("ann", "bob")]
    ((table,), (account,)) = (found.tables, found.tables[0].gains)
    assert (account.by, account.toward, account.rounds_conceded) == ("ann", "bob", account.high_rounds)
    assert account.toward_share is not None
    assert account.toward_share_without is not None
    assert account.toward_share > account.toward_share_without
    assert all(each.bid == each.lowest and 2 * each.prize > 9 and each.held > 1 for each in account.rounds)
    assert "(by p(max) only)" in text(found)
    # The literal index sees nothing at all of it.
    assert all(each.high_share == 0 for each in table.indices)


def test_an_honest_league_is_not_flagged() -> None:
    found = of(HONEST.records())
    assert found.flagged == ()
    assert found.reachable


def test_the_index_is_the_one_that_ranking_shows(planted: Path) -> None:
    seats = load(planted).seats
    known = seats.groupby("entrant").collusion_index.mean().to_dict()
    (table,) = of(records_of(planted)).tables
    assert {each.entrant: each.mean for each in table.indices} == pytest.approx(known)


def test_the_order_of_records_and_runs_changes_nothing(planted: Path) -> None:
    records = records_of(planted)
    other = [record.model_copy(update={"scores": tuple(reversed(record.scores))}) for record in records[:9]]
    runs = [RunOf("a", 5, records), RunOf("b", 6, other)]
    mixed = list(records)
    Random(1).shuffle(mixed)
    again = [RunOf("b", 6, list(reversed(other))), RunOf("a", 5, mixed)]
    assert audit(runs, QUICK).to_json() == audit(again, QUICK).to_json()


def test_the_same_blocks_twice_are_no_more_evidence_than_once(planted: Path) -> None:
    records = records_of(planted)
    once = of(records).tables[0]
    twice = audit([RunOf("a", 5, records), RunOf("b", 5, records)], QUICK).tables[0]
    assert (twice.episodes, twice.blocks) == (2 * once.episodes, once.blocks)
    for one, two in zip(once.directions, twice.directions, strict=True):
        assert two.p == pytest.approx(one.p)
        assert two.difference == pytest.approx(one.difference)
    apart = audit([RunOf("a", 5, records), RunOf("b", 6, records)], QUICK).tables[0]
    assert apart.blocks == 2 * once.blocks


def test_a_full_table_says_that_it_cannot_be_tested_and_never_p_1() -> None:
    found = of(League(("ann", "bob", "cat"), blocks=6, feeders={"ann": "bob"}).records())
    (table,) = found.tables
    assert table.tested == ()
    assert all(each.p is None for each in table.directions)
    assert not found.reachable
    said = text(found)
    assert table.directions[0].untestable == "bob sat at every table of ann"
    assert said.count("untested") == 1  # for all pairs at once
    assert said.startswith("goofspiel   no pair of 3 entrants could be tested")


def test_too_few_blocks_say_how_many_more_would_do() -> None:
    league = League(SEVEN, blocks=14, feeders={"ann": "bob"})
    found = of(league.records())
    (table,) = found.tables
    assert (found.flagged, table.reachable, table.times_blocks) == ((), False, 2.0)
    assert text(found).startswith("goofspiel   no pair could have been flagged")
    assert "about 2 times as many blocks would do" in text(found)


def test_too_few_permutations_are_told_from_too_few_blocks(planted: Path) -> None:
    found = of(records_of(planted), settings=Settings(fdr=0.01, permutations=99))
    (table,) = found.tables
    assert (found.flagged, table.reachable, table.times_blocks) == ((), False, None)
    assert "--permutations must be larger" in text(found)


def test_tables_of_other_forms_are_audited_apart() -> None:
    small = League(("ann", "bob", "cat"), blocks=1, cards=5).records()
    large = League(("ann", "bob", "cat"), blocks=2, cards=8).records()
    found = audit([RunOf("a", 1, small), RunOf("b", 1, large)], QUICK)
    assert [str(table.form) for table in found.tables] == ["3 seats, 5 cards, 5 rounds", "3 seats, 8 cards, 8 rounds"]
    assert [table.episodes for table in found.tables] == [3, 6]


def test_other_games_are_named_with_the_reason_and_have_no_number(planted: Path) -> None:
    found = audit(
        [RunOf("run", 5, records_of(planted)[:6])],
        QUICK,
        expected={"run": {"goofspiel": 84, "oshi_zumo": 4, "persistent_calibration": 2}},
        finished={"goofspiel": 6, "oshi_zumo": 3},
    )
    goofspiel, oshi, calibration = found.to_json()["games"]  # type: ignore[misc]
    assert (goofspiel["episodes"], goofspiel["expected"]) == (6, 84)
    assert oshi["game"] == "oshi_zumo"
    assert (oshi["episodes"], oshi["expected"]) == (3, 4)
    assert oshi["not_applicable"] == "two-player game"
    assert all(oshi[key] is None for key in ("index", "directions", "tested", "flagged", "blocks", "reachable"))
    assert goofspiel.keys() == oshi.keys() == calibration.keys()
    said = text(found)
    assert "6 of 84 episodes" in said
    assert "oshi_zumo   not applicable: two-player game (3 of 4 episodes)" in said


def test_rounds_are_capped_in_text_and_whole_in_json(planted: Path) -> None:
    found = of(records_of(planted))
    account = found.tables[0].gains[0]
    said = text(found, rounds=4)
    assert f"{len(account.rounds) - 4} more rounds" in said
    document = json.loads(json.dumps(found.to_json(), allow_nan=False))
    (flag,) = document["games"][0]["flagged"]
    assert len(flag["gain"]["rounds"]) == len(account.rounds)
    assert "a human should look" in said
    assert "more rounds" not in text(found, rounds=len(account.rounds))


def test_a_narrow_terminal_gets_fewer_columns_and_a_pipe_all(planted: Path) -> None:
    found = of(records_of(planted))
    for width in (60, 80, 100):
        assert max(map(len, plain_lines(sections(found, 5), width))) <= width
        assert max(map(len, plain_lines(sections(found, 5, wide=True), width))) <= width
    wide = plain_lines(sections(found, 5, wide=True), 300)
    assert "fallback  conceded  maximum  in reach" in "\n".join(wide)
    assert plain_lines(sections(found, 5, wide=True), 10_000) == plain_lines(sections(found, 5, wide=True))


def test_names_cannot_act_on_a_terminal_or_on_markdown() -> None:
    evil = "a\x1b[2J|<b>"
    found = of(League((evil, "bob", "cat"), blocks=2, cards=5).records())
    assert "\x1b" not in text(found)
    page = markdown_sections(sections(found, 3))
    assert "\x1b" not in page
    assert "<b>" not in page


def test_a_run_that_stopped_before_a_round_has_an_index_of_nothing() -> None:
    data = League(("ann", "bob", "cat"), blocks=1, cards=5).records()[0].model_dump(mode="json")
    data |= {"moves": [], "decisions": [], "reason": "deadline", "scores": [0.0] * 3}
    found = of([Record.model_validate(data)])
    (table,) = found.tables
    assert [each.mean for each in table.indices] == [0.0] * 3
    assert {each.untestable for each in table.directions} == {
        f"{name} has no bid of its own that counts" for name in ("ann", "bob", "cat")
    }
    assert GOOFSPIEL.name in text(found)


@pytest.mark.slow
@pytest.mark.parametrize("way", UNSEEN)
def test_what_the_output_says_is_missed_is_missed(way) -> None:
    league = League(SEVEN, blocks=28, feeders={"ann": "bob"}, way=way)
    assert of(league.records()).flagged == ()

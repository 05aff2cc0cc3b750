"""Whole reports of real runs: every number is the one that was computed, and what is not known is not 0."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape

import pytest

from tests.harness.report.small_runs import HOSTILE, QUICK, contents, make_run, tables, with_faults
from weigh.harness.report.contents import gather, replay_names
from weigh.harness.report.render.html import html_page
from weigh.harness.report.render.markdown import MOST_BYTES, harmless, markdown_page
from weigh.harness.report.report import document
from weigh.harness.report.sections.ladder import BARRING
from weigh.harness.results import load

NAMES = ("ann", "bob", "cy", "dan")
MODEL = "openai:gpt-5"


def texts(page):
    """What a reader sees, without the style sheet."""
    body = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", "\n", body))


def row(page, table, name):
    """The cells of one row of one table, by the beginnings of its caption and of its name."""
    for found in re.findall(r"<table.*?</table>", page, re.DOTALL):
        caption = unescape(found.partition("<caption><span>")[2].partition("</span>")[0])
        if caption.startswith(table):
            for line in re.findall(r"<tr>(.*?)</tr>", found.partition("<tbody>")[2], re.DOTALL):
                cells = [
                    unescape(re.sub(r"<svg.*?</svg>|<[^>]+>", "", cell))
                    for cell in re.findall(r"<t[hd].*?</t[hd]>", line, re.DOTALL)
                ]
                if any(cell.startswith(name) for cell in cells[:2]):
                    return cells
    raise AssertionError(f"no row {name} in {table}")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Four entrants, one a model with faults and calls; 10 of 12 episodes, one void."""
    records = tables(NAMES, blocks=6)
    played = [
        with_faults(each, each.entrants.index("ann"), "illegal", "empty", "refused") if "ann" in each.entrants else each
        for each in records[:10]
    ]
    folder = make_run(
        tmp_path_factory.mktemp("models") / "run",
        played,
        missing=records[10:],
        models={"ann": MODEL},
        calls=True,
        status="stopped: max_usd",
    )
    return contents(folder)


@pytest.fixture(scope="module")
def page(models):
    return html_page(document(models))


def test_the_ladder_is_the_one_that_rank_gives(models, page):
    (game,) = models.ladder.games
    for each in game.standings:
        mean = f"{each.mean:+.3f}" if round(each.mean, 3) else "0.000"
        first = row(page, "goofspiel: who leads", each.entrant)
        assert (first[3], first[5]) == (mean, str(each.blocks))
        assert row(page, "goofspiel: 10 of 12 episodes", each.entrant)[2] == mean


def test_a_partial_run_says_so_at_the_top_and_everywhere(page):
    seen = texts(page)
    assert "run: 10 of 12 episodes, 4 entrants, 1 game" in seen
    assert "stopped: max_usd" in seen


def test_every_warning_stands_in_full_in_the_page_and_is_counted_in_markdown(models, page):
    markdown = markdown_page(document(models))
    told = [each for each in models.ladder.games[0].warnings if each.kind not in ("not_separated", "partial")]
    for caveat in models.ladder.games[0].warnings:
        assert caveat.text in texts(page)
    unranked = sum(each.unranked is not None for each in models.ladder.games[0].standings)
    shown = sum(harmless(each.text) in markdown for each in told)
    assert shown == min(2, len(told))
    rest = len(told) + unranked - 2
    assert (f"{rest} more in report.html" in markdown) == (rest > 0)


def test_the_first_screen_is_short_and_the_same_in_both_forms(models, page):
    markdown = markdown_page(document(models))
    assert len(markdown.splitlines()) <= 37
    assert len(markdown.encode()) < 2_800
    head = texts(page.partition("<nav")[0])
    for word in ("Reliability", "Cost", "Power", "Collusion audit"):
        assert f"**{word}**: " in markdown
        assert word in head
    for each in models.ladder.games[0].standings:
        assert each.entrant in head
        assert f"| {each.entrant} |" in markdown
    assert "weigh verify " in markdown


@pytest.mark.parametrize("guaranteed", [True, False])
def test_a_claim_says_whether_rare_failures_are_excluded(models, guaranteed):
    (game,) = models.ladder.games
    first = replace(
        game.standings[0], first=True, first_guaranteed=guaranteed, first_p_value=0.01, first_p_value_holm=0.01
    )
    ladder = replace(models.ladder, games=(replace(game, standings=(first, *game.standings[1:])),))
    made = document(replace(models, ladder=ladder))
    for form in (markdown_page(made), texts(html_page(made).partition("<nav")[0])):
        assert (BARRING in form) is not guaranteed


def test_faults_stand_by_cause_for_those_who_can_have_any(models, page):
    ann = next(each for each in models.ladder.games[0].standings if each.entrant == "ann")
    # Of each episode its first decision failed twice, its second once.
    assert row(page, "goofspiel: attempts without", "ann")[2:] == [str(ann.episodes)] * 3
    ways = row(page, "goofspiel: how moves came about", "ann")
    assert ways[2:] == ["50.0%", "25.0%", "25.0%", str(4 * ann.episodes)]
    with pytest.raises(AssertionError, match="no row bob"):
        row(page, "goofspiel: attempts without", "bob")


def test_cost_and_latency_are_those_of_the_calls(models, page):
    ann = next(each for each in models.ladder.games[0].standings if each.entrant == "ann")
    cells = row(page, "goofspiel: cost and tokens", "ann")
    assert cells[2:4] == ["$0.5000", f"${0.5 * ann.episodes:.2f}"]
    assert ann.traffic is not None
    assert row(page, "goofspiel: seconds to an answer", "ann")[2] == f"{ann.traffic.latency.p50:.2f} s"


def test_a_cost_that_nobody_knows_is_not_0(tmp_path):
    from tests.harness.store.store_cases import call
    from weigh.harness.store.store import Store

    records = [with_faults(each, 0, "illegal") for each in tables(NAMES, blocks=2)]
    folder = make_run(tmp_path / "run", records, models={"ann": MODEL})
    with Store.open(folder) as store:
        store.add_call(call(records[0].key, seat=0, cost=None))
    found = row(html_page(document(contents(folder))), "goofspiel: cost and tokens", records[0].entrants[0])
    assert found[1:3] == ["unknown", "unknown"]


def test_scripted_runs_say_that_nothing_was_spent(tmp_path):
    folder = make_run(tmp_path / "run", tables(NAMES, blocks=3))
    seen = texts(html_page(document(contents(folder))))
    assert "No model was asked, so nothing was spent." in seen
    assert "No model made a decision, so no attempt could fail." in seen
    assert "$" not in seen


def test_the_pair_matrix_holds_both_directions(models, page):
    pair = next(each for each in models.pairs[0].pairs if abs(each.difference) > 0.01)
    order = models.pairs[0].entrants
    cells = row(page, "goofspiel: mean score of the row", pair.entrant)
    assert cells[1 + order.index(pair.opponent)].rstrip("*") == f"{pair.difference:+.2f}"
    back = row(page, "goofspiel: mean score of the row", pair.opponent)
    assert back[1 + order.index(pair.entrant)].rstrip("*") == f"{-pair.difference:+.2f}"


def test_the_same_run_gives_the_same_bytes(tmp_path):
    folder = make_run(tmp_path / "run", tables(NAMES, blocks=4))
    first, second = (document(contents(folder)) for _ in range(2))
    assert html_page(first) == html_page(second)
    assert markdown_page(first) == markdown_page(second)


def test_an_empty_run_says_so_and_has_no_numbers(tmp_path):
    folder = make_run(tmp_path / "run", [], missing=tables(NAMES, blocks=2), status="interrupted")
    found = contents(folder)
    seen = texts(html_page(document(found)))
    assert found.finished == 0
    assert "No finished episode" in seen
    assert "run: 0 of 4 episodes" in seen
    assert "0.000" not in seen


def test_several_runs_and_games_stand_in_one_report(tmp_path):
    one = make_run(tmp_path / "one", tables(NAMES, blocks=2), run_id="20260501-142233-s7-00000001")
    two = make_run(
        tmp_path / "two",
        tables(("ann", "bob"), "oshi_zumo", 2, 3, coins=30),
        run_id="20260501-142233-s7-00000002",
        seed=8,
    )
    found = contents(one, two)
    page = html_page(document(found))
    assert [game.game for game in found.ladder.games] == ["goofspiel", "oshi_zumo"]
    assert "one, two: 10 of 10 episodes" in texts(page)
    assert row(page, "Games", "one")[1] == "goofspiel"
    assert "oshi_zumo   not applicable: two-player game" in texts(page)
    look = found.notable["oshi_zumo"][0]
    assert look.run == "20260501-142233-s7-00000002"
    assert f"weigh view {two} --episode {look.episode}" in texts(page)


def test_of_forty_entrants_a_part_is_shown_and_the_rest_counted(tmp_path):
    names = [f"entrant-{n:02}" for n in range(40)]
    records = [each for n in range(0, 40, 4) for each in tables(names[n : n + 4], seats=4, blocks=1)]
    keyed = [
        each.model_copy(update={"key": f"goofspiel/b{n:04d}/r0", "block": f"goofspiel/b{n:04d}"})
        for n, each in enumerate(records)
    ]
    made = document(contents(make_run(tmp_path / "run", keyed)))
    page = html_page(made)
    assert "The first 10 of 40 entrants stand here; 30 are left out." in texts(page)
    text = markdown_page(made)
    assert len(text.encode()) <= MOST_BYTES
    assert "rows left out" in text


def test_hostile_names_stay_text_in_both_forms(tmp_path):
    records = [with_faults(each, 0, "illegal", "empty") for each in tables((HOSTILE, "b`|b", "c\n- c", "@d"), blocks=6)]
    folder = make_run(tmp_path / "run", records, missing=tables((HOSTILE, "x", "y"), blocks=9)[-1:], status=HOSTILE)
    made = document(contents(folder))
    page, text = html_page(made), markdown_page(made)
    assert "<img" not in page + text
    assert "\u202e" not in page + text
    assert not re.search(r"@(?!&#8203;)\w", re.sub(r"`[^`]*`", "", text.replace("\\`", "")))
    assert '<img src=x onerror="stung()">' in texts(page)
    for rows in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in rows.splitlines()}
        assert len(widths) == 1, rows


def test_the_data_is_json_and_holds_what_rank_and_audit_print(models):
    data = json.loads(json.dumps(models.to_json(), allow_nan=False))
    assert data["ladder"] == json.loads(json.dumps(models.ladder.to_json()))
    assert data["audit"]["games"][0]["game"] == "goofspiel"
    assert (data["runs"][0]["finished"], data["runs"][0]["planned"]) == (10, 12)
    assert {each["why"] for each in data["notable"]["goofspiel"]} >= {"faults"}


def test_the_view_without_fallbacks_is_named(tmp_path):
    records = [with_faults(each, 0, "illegal", "empty") for each in tables(NAMES, blocks=2)]
    folder = make_run(tmp_path / "run", [*records, *tables(NAMES, blocks=4)[4:]])
    from weigh.harness.cli.commands.audit import audit_of

    found = gather(load([folder]), audit_of([folder], QUICK), without_fallbacks=True)
    assert "without episodes with a fallback move" in texts(html_page(document(found)))


def test_replays_are_found_by_the_names_they_were_written_under():
    written = frozenset(["goofspiel-b0000-r0.html", "goofspiel-b0000-r0-2.html", "index.html"])
    keys = ["goofspiel/b0000/r0", "goofspiel/b0000?r0", "not/drawn"]
    assert replay_names(keys, written) == {keys[0]: "goofspiel-b0000-r0.html", keys[1]: "goofspiel-b0000-r0-2.html"}

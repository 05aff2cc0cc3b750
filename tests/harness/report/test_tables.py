"""Tables: readable at any width, safe for any name, the same numbers in every form."""

import csv
import io
import json
from itertools import pairwise

import pandas as pd
import pytest

from tests.harness.report.printed import markdown, plain_lines, printed
from tests.harness.results.ladder_frames import by_strength, planned, seats, voids
from weigh.harness.errors import Refused
from weigh.harness.report.render.latex import latex_tables
from weigh.harness.report.render.text import distinct, width_of
from weigh.harness.report.render.text import plain_lines as text_lines
from weigh.harness.report.sections.ladder import answer_sections
from weigh.harness.report.sections.ladder_table import PAPER, column_sections, csv_text, fields_named
from weigh.harness.results.ranking.ladder import rank
from weigh.harness.results.ranking.rows import Ordered
from weigh.harness.words import interval, share

FOUR = {"ann": 0.3, "bob": 0.1, "cy": -0.1, "dan": -0.3}


def ladder_of(strengths=None, **options):
    strengths = strengths or FOUR
    names = list(strengths)
    return rank(
        seats(planned(names, 4, 6, game="goofspiel"), by_strength(strengths), scripted=names[-1:], **options),
        ordered={"goofspiel": Ordered(30)},
    )


def test_sixty_columns_show_the_essential_ones():
    lines = printed(ladder_of(), 60).splitlines()
    assert all(width_of(line) <= 60 for line in lines)
    assert lines[0] == "goofspiel: 24 of 30 episodes, 6 blocks"
    assert lines[1].split() == ["rank", "entrant", "mean", "95%", "CI", "n", "fallback"]
    assert lines[2].split()[:3] == ["1", "ann", "+0.303"]
    assert lines[2].split()[-2:] == ["24", "0.0%"]


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 132, 200, 300])
def test_no_line_of_a_table_is_wider_than_the_terminal(width):
    names = {
        "a name of exactly forty characters, one 1": 0.3,
        "b" * 200: 0.1,
        "日本語の名前がここに長い": -0.1,
        "dan": -0.3,
    }
    text = printed(ladder_of(names), width)
    assert all(width_of(line) <= width for line in text.splitlines())
    assert sum(line.startswith("rank") for line in text.splitlines()) == 1


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_answer_comes_first_and_no_mean_stands_without_its_interval(width):
    names = {"a-provider/a-model-with-a-long-name": 0.3, "bob": 0.1, "cy": -0.1, "dan": -0.3}
    ladder = ladder_of(names, changes={"bob": {"by_model": 9, "by_fallback": 1}})
    lines = text_lines(answer_sections(ladder, width), width)
    assert all(width_of(line) <= width for line in lines)
    assert lines[0].startswith("goofspiel  ")
    (head,) = [line for line in lines if line.startswith("rank ")]
    assert "95% CI" in head
    assert ("fallback" in head) == (width >= 60)
    bob = next(standing for standing in ladder.games[0].standings if standing.entrant == "bob")
    (row,) = [line for line in lines if " bob " in line]
    assert interval((bob.interval.low, bob.interval.high)) in row
    labels = [line.split()[0] for line in lines[lines.index(head) + 6 :] if line[:1].strip()]
    assert labels[-1] == "more"
    assert len(labels) <= 6


def answer(ladder, width=None):
    return text_lines(answer_sections(ladder, width), width)


def test_the_first_line_says_who_is_first_by_how_much_and_how_surely():
    ladder = ladder_of()
    lead, ann = ladder.games[0].lead, ladder.games[0].standings[0]
    sure = interval((lead.interval.low, lead.interval.high))
    assert answer(ladder)[0] == (
        f"goofspiel  ann is first, barring rare failures: {lead.difference:.3f} ahead of bob, 95% CI {sure}, "
        f"p = {ann.first_p_value_holm:.2g}; 24 of 30 episodes are finished"
    )
    (rare,) = [told for told in answer(ladder) if told.startswith("rare")]
    assert "6 blocks cannot exclude a loss of 1.30 in up to 39% of blocks, which would move a mean by 0.51" in rare


def test_the_answer_says_how_much_the_choice_of_blocks_decides():
    noisy = rank(seats(planned(list(FOUR), 4, 12), by_strength({"ann": 0.04, "bob": 0.02, "cy": 0, "dan": -0.06}, 0.3)))
    (trust,) = [line for line in answer(noisy) if line.startswith("trust")]
    (game,) = noisy.games
    assert f"reliability {game.split_half_reliability:.2f}; {game.blocks_deciding_first} of 12 blocks decide" in trust


def test_a_first_of_several_games_names_the_correction():
    frames = [seats(planned(list(FOUR), 4, 8, game=game), by_strength(FOUR)) for game in ("g", "h")]
    for line in answer(rank(pd.concat(frames)))[:1]:
        assert line.endswith("(Holm, 2 games)")


def test_without_a_first_the_line_says_how_many_blocks_would_settle_it():
    noisy = rank(seats(planned(list(FOUR), 4, 12), by_strength({"ann": 0.04, "bob": 0.02, "cy": 0, "dan": -0.06}, 0.3)))
    (caveat,) = [each for each in noisy.games[0].warnings if each.kind == "not_separated"]
    assert caveat.case == "more_blocks"
    words = answer(noisy)[0].split()
    assert words[1:4] == ["no", "clear", "first:"]
    needed = words[words.index("about") + 1]
    assert int(needed) == caveat.values["needed"] > 12
    assert "(12 played)" in answer(noisy)[0]


def test_columns_that_are_not_shown_are_counted():
    ladder = ladder_of(changes={"bob": {"by_model": 9, "by_fallback": 1}})
    wide = set(plain_lines(ladder)[1].replace("tokens ", "").replace("own ", "").replace("95% ", "").split())

    def told(width):
        lines = answer(ladder, width)
        (more,) = [line for line in lines if line.startswith("more ")]
        (head,) = [line for line in lines if line.startswith("rank ")]
        return int(more.split()[1]), set(head.split())

    whole, _ = told(None)
    assert whole > 5
    assert whole < len(wide)
    few, narrow = told(40)
    assert few - whole == len([title for title in ("fallback", "blocks") if title not in narrow]) + 1


def test_a_wide_table_that_does_not_fit_says_how_many_columns_are_left():
    lines = printed(ladder_of(), 100).splitlines()
    (left,) = [line for line in lines if "--columns" in line]
    assert int(left.split()[0]) > 0
    assert not any("--columns" in line for line in plain_lines(ladder_of()))


def test_columns_asked_for_are_those_shown_in_their_order():
    ladder = ladder_of()
    (section,) = column_sections(ladder, fields_named(["mean", "retried", "rank"]))
    assert text_lines([section])[1].split() == ["entrant", "mean", "retried", "rank"]
    with pytest.raises(Refused) as caught:
        fields_named(["mean", "retired"])
    assert caught.value.kind == "bad-column"
    assert "retried" in str(caught.value)


def test_latex_holds_five_columns_and_names_are_no_commands():
    ladder = ladder_of({"a_b & \\c": 0.3, "50%": 0.1, "cy": -0.1, "dan": -0.3})
    lines = latex_tables(column_sections(ladder, fields_named(PAPER))).splitlines()
    assert lines[1] == r"\begin{tabular}{rlrlr}"
    assert {line.replace(r"\&", "").count("&") for line in lines[5:9]} == {4}
    assert r"a\_b \& \textbackslash{}c" in lines[5]
    assert r"50\%" in lines[6]


def test_columns_come_with_width_and_go_in_a_fixed_order():
    heads = [set(printed(ladder_of(), width).splitlines()[1].split()) for width in (40, 60, 80, 120, 300)]
    for fewer, more in pairwise(heads):
        assert fewer < more
    assert {"P(first)", "adjusted", "void", "cost", "s/call", "retried"} <= heads[-1]


def test_a_column_that_says_nothing_is_left_out():
    assert "collusion" not in plain_lines(ladder_of())[1]


def test_names_are_text_not_markup_and_no_terminal_control():
    hostile = {"[red]x[/red]": 0.3, "\x1b[31mred": 0.1, "a\u202eb": -0.1, "two\nlines": -0.3}
    for text in (printed(ladder_of(hostile), 200), "\n".join(plain_lines(ladder_of(hostile)))):
        assert "[red]x[/red]" in text
        assert "\x1b" not in text
        assert "\\x1b[31mred" in text
        assert "\\u202e" in text
        assert "two\nlines" not in text


def test_a_terminal_with_a_small_encoding_is_no_error():
    text = printed(ladder_of({"naïve": 0.3, "日本": 0.1, "cy": -0.1, "dan": -0.3}), 100, "ascii")
    assert text.isascii()
    assert "na\\xefve" in text


def test_ties_are_marked_and_the_unranked_say_why():
    equal = rank(seats(planned(list(FOUR), 4, 6), lambda e, s: 0.0, changes={"dan": {"by_fallback": 9, "by_model": 1}}))
    lines = plain_lines(equal)
    assert [line.split()[:2] for line in lines[2:6]] == [["1-3", "ann"], ["1-3", "bob"], ["1-3", "cy"], ["-", "dan"]]
    assert "not ranked: dan: the fallback made 90.0% of its moves, more than 20.0%" in lines


def test_faults_costs_seats_and_caveats_stand_below():
    faulty = {"by_model": 7, "by_retry": 2, "by_fallback": 1, "fault_illegal": 3, "fault_truncated": 1}
    lines = plain_lines(ladder_of(changes={"bob": faulty, "cy": {"cost_usd": None}}))
    assert (
        "faults: bob: illegal 72, truncated 24 in 240 decisions; 30.0% asked again, 10.0% moved by the fallback"
    ) in lines
    assert (
        "cost: bob: $0.2400, $0.0100 an episode, 240 calls, "
        "tokens 24k in (9.6k cached), 4.8k out (1.2k reasoning), 0.50 s a call"
    ) in lines
    assert any(line.startswith("cost: cy: unknown, 240 calls") for line in lines)
    assert not any(line.startswith("cost: dan") for line in lines)
    assert any(line.startswith("score by seat: seat 0 0.000") for line in lines)
    assert "note: 24 of 30 episodes are finished; ranks may change" in lines


def test_voids_and_left_out_episodes_stand_in_the_heading():
    episodes = planned(list(FOUR), 4, 6)
    frame = seats(episodes, by_strength(FOUR), scripted=["dan"])
    frame.loc[frame.index[0], "by_fallback"] = 1
    ladder = rank(frame, voids([(episodes[0], [0])]), exclude_fallback_episodes=True)
    assert plain_lines(ladder)[0] == "g: 23 episodes, 6 blocks, 1 with fallback moves left out, 1 void"


def test_markdown_keeps_its_shape_whatever_the_names():
    hostile = {"a|b": 0.3, "<img src=x>": 0.1, "`code`*bold*": -0.1, "dan": -0.3}
    lines = markdown(ladder_of(hostile)).splitlines()
    table = [line for line in lines if line.startswith("|")]
    cells = [line.replace("\\|", "").count("|") for line in table]
    assert len(table) == 6
    assert len(set(cells)) == 1
    assert "a\\|b" in table[2]
    assert "&lt;img src=x&gt;" in table[3]
    assert "\\`code\\`\\*bold\\*" in table[4]
    assert lines[0] == "### goofspiel: 24 of 30 episodes, 6 blocks"


def test_no_name_mentions_refers_or_links_where_markdown_is_pasted():
    page = markdown(ladder_of({"@root": 0.3, "#12": 0.1, "https://x.test": -0.1, "dan": -0.3}))
    assert "@root" not in page
    assert "#12" not in page
    assert "://" not in page


def test_csv_holds_every_number_unrounded_and_the_names_as_they_are():
    ladder = ladder_of({'say "hi", all': 0.3, "two\nlines": 0.1, "cy": -0.1, "dan": -0.3})
    rows = list(csv.DictReader(io.StringIO(csv_text(ladder), newline="")))
    standings = ladder.games[0].standings
    assert [row["entrant"] for row in rows] == ['say "hi", all', "two\nlines", "cy", "dan"]
    for row, standing in zip(rows, standings, strict=True):
        assert float(row["mean"]) == standing.mean
        assert float(row["interval.low"]) == standing.interval.low
        assert int(row["rank_interval.high"]) == standing.rank_interval[1]
        assert float(row["adjusted_interval.low"]) == standing.adjusted_interval.low
        assert row["first_p_value"] == ("" if standing.first_p_value is None else str(standing.first_p_value))
        assert float(row["seat_means.3"]) == standing.seat_means[3]
        assert int(row["reliability.faults.illegal"]) == 0
        assert row["collusion"] == ""
    assert csv_text(rank(seats([], by_strength(FOUR)))) == "game,entrant\n"


def test_every_form_of_nothing_says_so():
    empty = rank(seats([], by_strength(FOUR)))
    assert plain_lines(empty) == []
    ordered = rank(seats([], by_strength(FOUR)), ordered={"g": Ordered(8)})
    assert plain_lines(ordered) == [
        "g: 0 of 8 episodes, 0 blocks",
        "note: 0 of 8 episodes are finished; ranks may change",
    ]


def test_json_keys_are_a_contract():
    document = json.loads(json.dumps(ladder_of().to_json(), allow_nan=False))
    assert list(document) == ["schema_version", "games", "max_fallback_rate", "fallback_episodes", "accounts"]
    game = document["games"][0]
    assert list(game) == [
        *("game", "episodes", "expected", "blocks", "bounds", "whole", "left_out", "voids"),
        *("standings", "seats", "lead", "minimum_detectable_difference"),
        *("split_half_reliability", "blocks_deciding_first", "rare_loss", "warnings", "cost_frontier"),
    ]
    assert list(game["standings"][0]) == [
        *("entrant", "scripted", "models", "policies", "rank", "unranked", "rank_interval", "probability_first"),
        *("first_p_value", "first_p_value_holm", "first", "first_guaranteed"),
        *("episodes", "blocks", "unscored", "mean", "interval", "adjusted", "adjusted_interval", "schedule_strength"),
        *(
            "opponents",
            "seat_means",
            "points",
            "collusion",
            "collusion_high",
            "reliability",
            "spend",
            "traffic",
        ),
    ]
    assert list(game["lead"]) == [
        "leader",
        "runner_up",
        "difference",
        "interval",
        "blocks_needed",
        "minimum_detectable_difference",
    ]
    assert list(game["seats"][0]) == ["seat", "mean", "interval", "episodes"]
    assert list(game["warnings"][0]) == ["kind", "text"]


def test_long_names_are_cut_and_stay_apart():
    assert distinct(["short", "a long name"], 8) == ["short", "a lon..."]
    assert distinct(["prompt-alpha-v1", "prompt-alpha-v2"], 10) == ["prom...-v1", "prom...-v2"]
    middle = [f"prompt-{n}-{'x' * 20}-end" for n in range(12)]
    assert len(set(distinct(middle, 9))) == 12
    assert all(width_of(name) <= 9 for name in distinct(middle, 9))
    assert distinct(middle, 9)[11] == "prompt~12"


def test_shares_never_round_something_to_nothing():
    assert [share(value) for value in (None, 0.0, 0.0004, 0.0123, 0.9996, 1.0)] == [
        *("-", "0.0%", "<0.1%", "1.2%", ">99.9%", "100.0%")
    ]


def test_an_interval_has_one_form():
    assert interval((-0.0694, 0.0751)) == "[-0.069, +0.075]"
    assert interval((0.0321, 0.0559), "{:.2f}".format) == "[0.03, 0.06]"
    assert interval(None) == "-"


def test_with_several_games_a_line_below_says_what_the_correction_made_of_a_first():
    frames = []
    for game, blocks in (("goof", 3), ("oshi", 8)):
        frame = seats(planned(list(FOUR), 4, blocks, game="goof"), by_strength(FOUR))
        frame["game"] = game
        frames.append(frame)
    said = [line for line in plain_lines(rank(pd.concat(frames))) if line.startswith("first")]
    assert said == [
        "first, barring rare failures: ann (p = 0.032, among all games 0.032)",
        "first, barring rare failures: ann (p = 0.0005, among all games 0.001)",
    ]
    (alone,) = [line for line in plain_lines(rank(frames[1])) if line.startswith("first")]
    assert alone == "first, barring rare failures: ann (p = 0.001, among all games 0.001)"


def test_the_cost_frontier_has_who_is_beaten_on_both_left_out():
    costs = {"ann": 0.04, "bob": 0.02, "cy": 0.03, "dan": 0.0}
    means = {"ann": 0.3, "bob": 0.1, "cy": 0.0, "dan": 0.4}
    episodes = planned(list(means), 4, 4, game="g")
    frame = seats(
        episodes, by_strength(means), scripted=["dan"], changes={n: {"cost_usd": c} for n, c in costs.items()}
    )
    (game,) = rank(frame).games
    assert game.cost_frontier == ("bob", "ann")
    unknown = seats(episodes, by_strength(means), scripted=["dan"], changes={"ann": {"cost_usd": None}})
    assert "ann" not in rank(unknown).games[0].cost_frontier

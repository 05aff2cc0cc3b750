"""The ladder as a frame: the columns of its CSV, with types that can be reckoned with."""

import csv
import io
import math

import pandas as pd
import pytest

from tests.cli.runner import config, weigh
from tests.harness.results.ladder_frames import FOUR, by_strength, four, planned, seats
from weigh.harness.report.sections.ladder_table import csv_text
from weigh.harness.results import load
from weigh.harness.results.ranking.ladder import rank
from weigh.harness.results.ranking.standings import ladder_frame, ladder_rows


def test_the_frame_has_the_rows_and_the_columns_of_the_csv():
    second = seats(planned(list(FOUR), 4, 1, game="h"), by_strength(FOUR))
    ladder = rank(pd.concat([four(changes={"ann": {"by_fallback": 9, "by_model": 1}}), second]))
    frame = ladder_frame(ladder)
    rows = list(csv.DictReader(io.StringIO(csv_text(ladder))))
    assert list(frame.columns) == list(rows[0])
    assert len(frame) == len(rows) == 8
    for found, row in zip(frame.to_dict("records"), rows, strict=True):
        for column, value in row.items():
            if value == "":
                assert pd.isna(found[column]) or found[column] == "", column
            elif isinstance(found[column], str | bool):
                assert str(found[column]) == value, column
            else:
                assert float(found[column]) == float(value), column


def test_types_are_those_of_numbers_texts_and_flags():
    frame = ladder_frame(rank(four()))
    types = {column: str(kind) for column, kind in frame.dtypes.items()}
    assert types["mean"] == types["probability_first"] == types["first_p_value"] == types["collusion"] == "float64"
    assert types["episodes"] == types["rank"] == types["spend.calls"] == "int64"
    assert types["first"] == types["scripted"] == "bool"
    assert types["entrant"] == types["unranked"] == "str"
    assert frame.groupby("scripted")["mean"].mean()[True] == pytest.approx(-0.3, abs=0.05)
    assert math.isnan(frame.set_index("entrant").loc["dan", "collusion"])


def test_a_ladder_of_nobody_is_a_frame_without_rows():
    frame = ladder_frame(rank(seats([], by_strength(FOUR))))
    assert (list(frame.columns), len(frame)) == (["game", "entrant"], 0)


def test_the_results_of_a_run_hold_its_ladder(tmp_path):
    assert weigh("ladder", config(tmp_path)).code == 0
    folder = tmp_path / "results" / "s"
    results = load(folder)
    said = weigh("rank", folder, "--json").json
    assert results.rank().to_json() == said
    assert list(results.ladder["entrant"]) == [standing["entrant"] for standing in said["games"][0]["standings"]]
    assert list(results.ladder["mean"]) == [standing["mean"] for standing in said["games"][0]["standings"]]
    strict = weigh("rank", folder, "--json", "--without-fallbacks", "--max-fallback-rate", "0").json
    assert results.rank(max_fallback_rate=0, exclude_fallback_episodes=True).to_json() == strict
    columns, _ = ladder_rows(results.rank())
    assert list(results.ladder.columns) == columns

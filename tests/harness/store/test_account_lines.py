"""What a ladder says of calls, tokens and money: flags in the table, lines below it, keys in JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from tests.harness.report.printed import markdown, plain_lines
from tests.harness.results.ladder_frames import by_strength, planned, seats
from weigh.harness.report.sections.ladder_table import csv_text
from weigh.harness.results.ranking.ladder import rank
from weigh.harness.results.ranking.standings import Ladder
from weigh.harness.store.usage import Account, Accounts, Usage

FOUR = {"ann": 0.3, "bob": 0.1, "cy": -0.1, "dan": -0.3}
MODEL = "openai:gpt-5"

CLEAN = Usage(answered=100, attempts=100, input_tokens=9000, output_tokens=800, cost_known_usd=0.5)
ROUGH = Usage(
    answered=116,
    input_tokens=1_200_000,
    cached_tokens=300_000,
    output_tokens=30_000,
    reasoning_tokens=10_000,
    unknown_usage_calls=4,
    cost_known_usd=0.12,
    unknown_cost_calls=4,
    cache_written_tokens=20_000,
    attempts=120,
    reused_calls=4,
    timed_out_calls=1,
    repeated_calls=8,
    outage_calls=2,
    fatal_calls=2,
    lost_calls=1,
    unbilled_calls=6,
    unknown_billing_calls=4,
    truncated_calls=3,
    refused_calls=7,
    reasoning_only_calls=5,
    cut_prompt_calls=2,
    unknown_stop_calls=6,
)


def ladder_of(spent: dict[str, Usage], changes: dict[str, dict[str, Any]] | None = None) -> Ladder:
    accounts = tuple(
        Account("g", entrant, None, replace(used, seconds=(0.5, 0.25, 1.25))) for entrant, used in spent.items()
    )
    models = (Account(None, None, MODEL, sum(spent.values(), Usage())),) if spent else ()
    return rank(
        seats(planned(list(FOUR), 4, 6), by_strength(FOUR), scripted=["dan"], changes=changes),
        accounts=Accounts(tuple(replace(account, model=MODEL) for account in accounts), accounts, models),
    )


def caveat(ladder: Ladder, kind: str) -> str | None:
    return next((each.text for each in ladder.games[0].warnings if each.kind == kind), None)


def test_all_calls_of_an_entrant_stand_in_one_line_with_nothing_that_did_not_happen() -> None:
    lines = plain_lines(ladder_of({"ann": ROUGH, "bob": CLEAN}))
    assert (
        "calls: ann: 130 requests for 120 attempts, 8 repeated, 1 timed out, 2 given up, 2 fatal, 1 lost, 4 reused, "
        "6 unbilled, 4 of unknown billing, 7 refused, 2.5% truncated, 4.2% reasoning without text, "
        "2 prompts probably cut, 6 with an unknown finish reason, "
        "answered in 0.50 s (median), 1.25 s (95%), 1.25 s (most)"
    ) in lines
    assert (
        "calls: bob: 100 requests for 100 attempts, answered in 0.50 s (median), 1.25 s (95%), 1.25 s (most)"
    ) in lines
    assert not any(line.startswith(("calls: cy", "calls: dan")) for line in lines)


def test_the_last_lines_tell_what_each_model_took_in_all() -> None:
    lines = plain_lines(ladder_of({"ann": ROUGH}))
    assert lines[-2] == ""
    assert lines[-1].startswith(f"in all: {MODEL}: >=$0.1200, 130 requests for 120 attempts, ")
    assert lines[-1].endswith(
        "tokens >=1.2M in (300k cached, 20k cache-written), >=30k out (10k reasoning), cost unknown for 4 calls"
    )
    assert markdown(ladder_of({"ann": ROUGH})).splitlines()[-1].startswith("- in all: openai:gpt-5: ")
    assert not any(line.startswith("in all") for line in plain_lines(ladder_of({})))


def test_p32_p34_m26_r15_rows_are_marked_and_the_marks_explained() -> None:
    cut = replace(CLEAN, truncated_calls=40, reused_calls=10, attempts=110)
    ladder = ladder_of(
        {"ann": ROUGH, "bob": cut, "cy": CLEAN}, {"ann": {"refusal_streak": 4, "fault_refused": 1, "decisions": 10}}
    )
    header, *rows = plain_lines(ladder)[1:6]
    at = header.index("warnings")
    flags = {row.split()[1]: row[at:].split("  ")[0] for row in rows}
    assert flags == {"ann": "prompts cut, refused, no text, reused", "bob": "truncated, reused", "cy": "-", "dan": "-"}
    assert "the rules first" in (caveat(ladder, "cut_prompts") or "")
    assert "ann in 2 calls; give it a larger context" in (caveat(ladder, "cut_prompts") or "")
    assert "ann 4 attempts in a row (24 in all)" in (caveat(ladder, "refusals") or "")
    assert "ann 4%; look at the server's reasoning parser" in (caveat(ladder, "reasoning_only") or "")
    assert "bob 36% and cy 0%" in (caveat(ladder, "unequal_truncation") or "")
    assert "raise the max_tokens of bob" in (caveat(ladder, "unequal_truncation") or "")
    assert "ann 4 of 120, bob 10 of 110" in (caveat(ladder, "reused") or "")


def test_a_ladder_without_such_things_has_no_flags_and_no_caveat_of_them() -> None:
    ladder = ladder_of({"ann": CLEAN, "bob": CLEAN})
    assert "warnings" not in plain_lines(ladder)[1]
    for kind in ("cut_prompts", "refusals", "reasoning_only", "unequal_truncation", "reused"):
        assert caveat(ladder, kind) is None


@pytest.mark.parametrize(
    ("spent", "flagged"),
    [
        (replace(CLEAN, reasoning_only_calls=3), False),  # no more than 3 %
        (replace(CLEAN, reasoning_only_calls=4), True),
        (replace(CLEAN, answered=29, reasoning_only_calls=29), False),  # too few to tell
        (replace(CLEAN, truncated_calls=9), False),
        (replace(CLEAN, truncated_calls=10), True),
        (replace(CLEAN, cut_prompt_calls=1), True),
        (replace(CLEAN, reused_calls=1), True),
    ],
)
def test_a_row_is_marked_from_a_threshold_on(spent: Usage, flagged: bool) -> None:
    assert ("warnings" in plain_lines(ladder_of({"ann": spent}))[1]) == flagged


def test_a_lead_in_truncation_counts_only_between_entrants_that_answered_often() -> None:
    cut = replace(CLEAN, truncated_calls=50)
    assert caveat(ladder_of({"ann": cut}), "unequal_truncation") is None
    assert caveat(ladder_of({"ann": cut, "bob": replace(CLEAN, answered=29)}), "unequal_truncation") is None
    assert caveat(ladder_of({"ann": cut, "bob": replace(CLEAN, truncated_calls=41)}), "unequal_truncation") is None
    assert caveat(ladder_of({"ann": cut, "bob": replace(CLEAN, truncated_calls=39)}), "unequal_truncation") is not None


def test_the_streak_of_an_entrant_is_its_longest() -> None:
    frame = seats(planned(list(FOUR), 4, 6), by_strength(FOUR), changes={"ann": {"fault_refused": 2}})
    mine = frame.index[frame["entrant"] == "ann"]
    frame.loc[mine[3], "refusal_streak"] = 2
    frame.loc[mine[5], "refusal_streak"] = 5
    (ann,) = (standing for standing in rank(frame).games[0].standings if standing.entrant == "ann")
    assert ann.reliability.refusal_streak == 5


def test_accounts_are_in_json_with_their_keys() -> None:
    document = json.loads(json.dumps(ladder_of({"ann": ROUGH}).to_json(), allow_nan=False))
    accounts = document["accounts"]
    assert list(accounts) == ["rows", "entrants", "models"]
    (row,) = accounts["rows"]
    assert (row["game"], row["entrant"], row["model"]) == ("g", "ann", MODEL)
    assert list(row) == ["game", "entrant", "model", "traffic", "bill"]
    assert list(row["traffic"]) == [
        *("attempts", "calls", "answered", "timed_out_calls", "repeated_calls", "outage_calls", "fatal_calls"),
        *("lost_calls", "reused_calls", "unbilled_calls", "unknown_billing_calls", "truncated_calls"),
        *(
            "truncation_rate",
            "refused_calls",
            "reasoning_only_calls",
            "reasoning_only_rate",
            "cut_prompt_calls",
            "unknown_stop_calls",
        ),
        "latency",
    ]
    assert row["traffic"]["latency"] == {"mean": pytest.approx(2 / 3), "p50": 0.5, "p95": 1.25, "max": 1.25}
    assert row["bill"] == {
        "input_tokens": 1_200_000,
        "cached_tokens": 300_000,
        "cache_written_tokens": 20_000,
        "output_tokens": 30_000,
        "reasoning_tokens": 10_000,
        "unknown_usage_calls": 4,
        "cost_usd": None,
        "cost_known_usd": 0.12,
        "unknown_cost_calls": 4,
    }
    by_name = {standing["entrant"]: standing for standing in document["games"][0]["standings"]}
    assert by_name["ann"]["traffic"] == row["traffic"]
    assert by_name["bob"]["traffic"] is None
    assert {"refusal_streak"} <= by_name["ann"]["reliability"].keys()
    assert {"cache_written_tokens"} <= by_name["ann"]["spend"].keys()


def test_csv_has_the_same_columns_for_those_who_made_no_call() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(ladder_of({"ann": ROUGH})), newline="")))
    assert all(one.keys() == other.keys() for one, other in pairwise(rows))
    cells = {row["entrant"]: row["traffic.latency.p95"] for row in rows}
    assert cells == {"ann": "1.25", "bob": "", "cy": "", "dan": ""}
    assert rows[0]["traffic.lost_calls"] == "1"
    assert "traffic" not in rows[0]

"""A third of all requests meets one of everything that a provider does wrong, on three wires at once: every episode is
played, and no policy is charged with what was not its own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.e2e.ladders import Ladder, config
from weigh.harness.providers.mock_server import MockServerProcess, Options, read_plan
from weigh.harness.store.store import Store

pytestmark = pytest.mark.slow

ENTRANTS = [
    ("ada", "plain.md@chat:mock-a"),
    ("bea", "bold.md@responses:mock-b"),
    ("cyd", "plain.md@claude:mock-c"),
    ("match", "match"),
]
PASSING = [
    {"do": "respond", "status": 429, "retry_after": "300ms"},
    {"do": "respond", "status": 503, "retry_after": "300ms"},
    {"do": "respond", "status": 529},
    {"do": "respond", "status": 500},
    {"do": "respond", "status": 408},
    {"do": "error-in-200"},
    {"do": "error-in-200", "code": 429},
    {"do": "null-choices"},
    {"do": "malformed", "what": "json"},
    {"do": "malformed", "what": "utf-8"},
    {"do": "cut"},
    {"do": "cut", "after": None, "how": "close"},
    {"do": "gzip-cut"},
    {"do": "html", "status": 502, "size": 30_000},
]
ODD = [
    {"do": "html"},
    {"do": "respond", "status": 400, "message": "unexpected end of data"},
    {"do": "respond", "status": 302, "headers": {"Location": "https://login.example/"}, "body": ""},
]
"""Fatal before a first good answer, and passing after it."""
SILENT = [{"do": "hang"}, {"do": "hang", "after_headers": True}]
"""The request is taken, and silence follows: the one thing that is charged."""


def test_every_episode_is_played_and_nothing_but_silence_is_charged(tmp_path: Path) -> None:
    rules = [{**rule, "share": 0.022} for rule in PASSING]
    rules += [{**rule, "share": 0.02, "nth": "60-"} for rule in ODD]
    rules += [{**rule, "share": 0.006} for rule in SILENT]
    named = [{**rule, "name": f"{number}-{rule['do']}"} for number, rule in enumerate(rules)]
    with MockServerProcess(Options(latency="5ms", seed=7, plan=read_plan({"rules": named}), log_size=10)) as server:
        games = "[games.goofspiel]\nseats = 4\ncards = 5\nblocks = 4\n"
        limits = "episodes_in_flight = 8\ndecision_timeout = 6.0\nreplays = 10\noutages_in_a_row = 100"
        models = f'[models.responses]\nbase_url = "{server.openai_url}"\nwire = "openai-responses"'
        ladder = Ladder(tmp_path, config(server, entrants=ENTRANTS, games=games, limits=limits, models=models))
        result = ladder.play()
        assert result.code == 0, result
        stats = server.stats()
    calls = ladder.calls
    assert sum(stats["by_rule"].values()) > 0.25 * stats["requests"]
    assert len(calls) == stats["requests"]
    assert {call.fate for call in calls} <= {"answered", "wait", "outage", "timed_out"}
    silent = sum(count for name, count in stats["by_rule"].items() if name.endswith("hang"))
    timed_out = Counter(call.fate for call in calls)["timed_out"]
    assert 0 < timed_out <= silent
    with Store.open(ladder.run, readonly=True) as store:
        records = list(store.records())
        assert len(records) == 16 == len(list(store.episodes()))
    faults = Counter(note.fault for record in records for decision in record.decisions for note in decision.faults)
    assert set(faults) <= {"timed_out"}
    assert faults["timed_out"] <= timed_out

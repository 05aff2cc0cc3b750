"""A run that dies again and again, without a chance to clean up, ends like one that never did, at no further cost."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from tests.e2e.ladders import Ladder, config, ended, kill, texts_of, texts_sent, weigh
from tests.waiting import until
from weigh.harness.providers.mock_server import MockServerProcess, Options

GAMES = "[games.goofspiel]\nseats = 4\ncards = 5\nblocks = 2\n[games.oshi_zumo]\ncoins = 8\nsize = 2\nblocks = 3\n"
ENTRANTS = [
    ("ada", "plain.md@chat:mock-a"),
    ("bea", "bold.md@chat:mock-b"),
    ("cyd", "plain.md@claude:mock-c"),
    ("match", "match"),
]
TABLES = 4
"""Episodes in flight; of the four seats of each, three are asked over HTTP."""


@pytest.mark.slow
def test_a_run_killed_at_random_moments_ends_with_equal_records_and_asks_for_nothing_twice(tmp_path: Path) -> None:
    options = Options(latency="uniform:10-60ms", faults="illegal=0.1,empty=0.05", seed=3, log_size=10_000)
    dice = Random(20)
    with MockServerProcess(options) as server:
        text = config(server, entrants=ENTRANTS, games=GAMES, limits=f"episodes_in_flight = {TABLES}")
        whole = Ladder(tmp_path / "whole", text)
        result = whole.play()
        assert result.code == 0, result
        calls = Counter(texts_sent(call) for call in whole.calls)
        # Every question of this run differs from every other, so its text tells which one it was.
        assert set(calls.values()) == {1}
        assert any(fault for fault in whole.records if '"fault":"illegal"' in fault)

        server.reset()
        killed = Ladder(tmp_path / "killed", text)
        kills = seen = 0
        rows: Counter[tuple[str, ...]] = Counter()
        answered: set[tuple[str, ...]] = set()
        while True:
            process = killed.start()
            target = seen + dice.choice((0, 1, dice.randint(2, 60)))
            while process.poll() is None and server.stats()["requests"] < target:
                time.sleep(0.005)
            time.sleep(dice.uniform(0.0, 0.1 if target > seen else 1.5))
            over = process.poll() is not None or kills == 8
            if over:
                result = ended(process)
                assert result.code == 0, result
            else:
                kill(process)
                kills += 1
            asked, seen = _asked_since(server, seen)
            stored = killed.calls if killed.count("meta") else []
            # What was answered before is not asked again, and nothing is asked twice in one sitting.
            assert answered.isdisjoint(asked)
            assert set(asked.values()) <= {1}
            # Every request is in the ledger, once for each time it left; a kill may fall between ledger and network.
            made = Counter(texts_sent(call) for call in stored) - rows
            assert asked <= made
            assert (made - asked).total() <= (0 if over else TABLES * 3)
            lost = {texts_sent(call) for call in stored if call.fate == "lost"}
            answered = {texts_sent(call) for call in stored if call.fate == "answered"}
            assert len(made.keys() & lost - answered) <= TABLES * 3
            rows += made
            if over:
                break
        assert kills >= 5
        stats, log = server.stats(), server.log()

    assert killed.records == whole.records
    kept = [call for call in stored if call.fate == "answered"]
    assert Counter(texts_sent(call) for call in kept) == calls
    assert len({call.key for call in kept}) == len(kept)
    assert {call.fate for call in stored} == {"answered", "lost"}
    # To the request: what the server sent whole, and nobody was there to keep, is all that it was asked again for.
    sent_whole = sum(entry["sent"] == "200" for entry in log)
    assert stats["answered_again"] == sent_whole - len(kept)
    verified = weigh("verify", str(killed.run))
    assert verified.code == 0, verified


def _asked_since(server: MockServerProcess, seen: int) -> tuple[Counter[tuple[str, ...]], int]:
    """What the server was asked after its first `seen` requests, once all whose client died have left it."""
    until(lambda: not server.stats()["in_flight"])
    log = server.log()
    assert len(log) == server.stats()["requests"]
    return Counter(texts_of(entry["body"]) for entry in log[seen:]), len(log)

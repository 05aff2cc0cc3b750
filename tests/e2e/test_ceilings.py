"""Ladders that reach a limit on spending: they stop cleanly, and end as if there had been none, at no further cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.ladders import Ladder, config
from weigh.harness.providers.mock_server import MockServerProcess, Options

pytestmark = pytest.mark.slow

ENTRANTS = [
    ("ada", "plain.md@chat:mock-a"),
    ("bea", "bold.md@chat:mock-b"),
    ("cyd", "plain.md@claude:mock-c"),
    ("match", "match"),
]
SMALL = "[games.goofspiel]\nseats = 4\ncards = 4\nblocks = 1\n"
PRICE = "price = { input = 100.0, output = 100.0 }"
MODELS = "\n".join(f'[models."{name}"]\n{PRICE}' for name in ("chat:mock-a", "chat:mock-b", "claude:mock-c"))
CALLS = 4 * 4 * 3
"""Tables, rounds and prompted seats."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Ladder:
    """The same ladder without a ceiling."""
    with MockServerProcess(Options(seed=2)) as server:
        ladder = Ladder(tmp_path_factory.mktemp("whole"), config(server, entrants=ENTRANTS, games=SMALL, models=MODELS))
        assert ladder.play().code == 0
    return ladder


@pytest.mark.parametrize(
    ("ceiling", "reason", "latency"),
    [
        ("max_calls = 14", "the run's 14 calls are used up (limits.max_calls)", "20ms"),
        ("max_tokens = 6000", "the run's 6000 tokens are used up (limits.max_tokens): ", "20ms"),
        ("max_usd = 0.6", "the run's 0.6 USD are used up (limits.max_usd): ", "20ms"),
        # Two by two, the four tables take eight seconds, and one to start in.
        ("max_seconds = 5", "the run's 5 seconds are used up (limits.max_seconds)", "1s"),
    ],
)
def test_a_ceiling_stops_the_run_and_a_higher_one_lets_it_go_on(
    tmp_path: Path, whole: Ladder, ceiling: str, reason: str, latency: str
) -> None:
    with MockServerProcess(Options(latency=latency, seed=2)) as server:
        text = config(
            server, entrants=ENTRANTS, games=SMALL, limits=f"episodes_in_flight = 2\n{ceiling}", models=MODELS
        )
        ladder = Ladder(tmp_path, text)
        stopped = ladder.play()
        assert stopped.code == 4, stopped
        assert reason in stopped.err
        assert ladder.status.startswith(f"stopped: {reason}")
        counted = [call.completion.usage for call in ladder.calls if call.completion]
        if ceiling.startswith("max_tokens"):
            assert sum((usage.input or 0) + (usage.output or 0) for usage in counted) <= 6000
        if ceiling.startswith("max_usd"):
            assert sum(call.cost or 0.0 for call in ladder.calls) <= 0.6
        made = server.stats()["requests"]
        assert 0 < made < CALLS
        if "calls" in ceiling:
            assert made == 14
            # What was spent before counts.
            assert ladder.play().code == 4
            assert server.stats()["requests"] == made
        # Calls in flight were let to return, and are kept.
        assert [call.fate for call in ladder.calls] == ["answered"] * made
        ladder.write(text.replace(ceiling, ""))
        resumed = ladder.play()
        assert resumed.code == 0, resumed
        assert server.stats()["requests"] == CALLS
        assert server.stats()["answered_again"] == 0
    assert ladder.records == whole.records
    assert sum(call.cost or 0.0 for call in ladder.calls) == pytest.approx(
        sum(call.cost or 0.0 for call in whole.calls)
    )


def test_a_ceiling_in_dollars_is_not_begun_with_where_a_price_is_unknown(tmp_path: Path) -> None:
    with MockServerProcess() as server:
        text = config(server, entrants=ENTRANTS, games=SMALL, limits="max_usd = 5.0")
        ladder = Ladder(tmp_path, text)
        refused = ladder.play()
        assert refused.code == 2, refused
        assert "limits.max_usd cannot be kept" in refused.err
        assert "chat:mock-a" in refused.err and "claude:mock-c" in refused.err
        assert "price = {" in refused.err
        assert not ladder.run.exists()
        assert server.stats()["requests"] == 0
        # As the refusal says.
        ladder.write(config(server, entrants=ENTRANTS, games=SMALL, limits="max_usd = 5.0", models=MODELS))
        assert ladder.play().code == 0

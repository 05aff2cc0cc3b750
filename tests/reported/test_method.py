"""How public leaderboards came to say what was not so, and what is done about it here."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.cli.runner import config, weigh
from tests.reported.ladders import kept, play
from weigh.games.game import AnyGame, State
from weigh.games.registry import GAMES, read_config
from weigh.harness.audit.verify.record import verify_record
from weigh.harness.providers.mock_server import MockServerProcess
from weigh.harness.run.episode import Table, play_episode
from weigh.harness.store.record import Record
from weigh.policies.contract import Completion, Request, Sampling
from weigh.policies.operator_prompt import OperatorPrompt
from weigh.policies.prompted import PromptedPolicy
from weigh.policies.scripted.registry import fallback_of

SMALL = {
    "goofspiel": {"seats": 2, "cards": 4},
    "oshi_zumo": {"coins": 5, "size": 1},
    "ballast": {"weights": 3, "scales": 2},
    "persistent_calibration": {"seats": 3},
    "half_hearted_step": {"size": 5, "lives": 1, "bid_limit": 9},
}
DRAWS = ("goofspiel", "oshi_zumo", "ballast", "persistent_calibration")
"""Half-Hearted Step has a winner whenever it was played."""

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)


def ladder_of(folder: Path) -> dict[str, Any]:
    said = weigh("rank", folder / "results" / "small", "--json")
    assert said.code == 0
    return {row["entrant"]: row for row in said.json["games"][0]["standings"]}


# -- M01, M02: who is ranked -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["empty", "null", "refused", "truncated", "unreadable", "tool-calls"])
def test_M01_a_model_that_never_moves_is_listed_and_not_ranked(
    server: MockServerProcess, tmp_path: Path, kind: str
) -> None:
    said = play(tmp_path, server, {"do": "reply", "kind": kind})
    assert said.code == 0
    assert "not ranked: asked: made no move of its own" in said.out
    asked = ladder_of(tmp_path)["asked"]
    assert (asked["rank"], asked["reliability"]["own_move_rate"], asked["reliability"]["fallback_rate"]) == (
        None,
        0.0,
        1.0,
    )
    assert asked["mean"] is not None
    # And without the episodes in which the fallback moved, there is nothing to score it by.
    said = weigh("rank", tmp_path / "results" / "small", "--without-fallbacks", "--json")
    (game,) = said.json["games"]
    assert {row["entrant"]: row["mean"] for row in game["standings"]} == {"asked": None, "plain": None}
    assert game["left_out"] == 2


def test_M01_the_threshold_stands_in_the_config(server: MockServerProcess, tmp_path: Path) -> None:
    often = {"nth": "1-4", "do": "reply", "kind": "illegal"}  # both attempts at two of eight decisions
    said = play(tmp_path, server, often)
    assert "not ranked: asked: the fallback made 25.0% of its moves, more than 20.0%" in said.out
    other = tmp_path / "other"
    other.mkdir()
    assert "not ranked" not in play(other, server, often, limits="[rank]\nmax_fallback_rate = 0.25").out


def test_M02_a_provider_that_starves_one_seat_moves_no_rating(server: MockServerProcess, tmp_path: Path) -> None:
    starved = {"nth": "6-", "do": "respond", "status": 429, "headers": {"x-should-retry": "false"}}
    said = play(tmp_path, server, starved, limits="outages_in_a_row = 9")
    assert said.code == 4
    rows = ladder_of(tmp_path)
    assert {name: row["episodes"] for name, row in rows.items()} == {"asked": 1, "plain": 1}
    assert {name: row["reliability"]["voids"] for name, row in rows.items()} == {"asked": 1, "plain": 1}
    # Whose provider it was is told apart from whom it cost an episode.
    assert {name: row["reliability"]["voids_own"] for name, row in rows.items()} == {"asked": 1, "plain": 0}
    assert rows["asked"]["reliability"]["fallback_rate"] == 0.0
    assert play(tmp_path, server, limits="outages_in_a_row = 9").code == 0
    assert {row["episodes"] for row in ladder_of(tmp_path).values()} == {2}


# -- M19, M20: every way to end ----------------------------------------------------------------------------------------


def at_random(game: AnyGame, fields: dict[str, Any], seed: int) -> list[State]:
    """Every position of a random episode."""
    rng = Random(seed)
    asked = read_config(game, fields)
    states = [game.start(asked, game.deal(asked, rng))]
    while states[-1].to_act:
        state = states[-1]
        states.append(state.play({seat: state.legal(seat).sample(rng) for seat in sorted(state.to_act)}))
    return states


@every_game
def test_M19_each_seat_can_win_and_whoever_wins_is_named(game: AnyGame) -> None:
    winners: set[tuple[int, ...]] = set()
    for seed in range(400):
        outcome = at_random(game, SMALL[game.name], seed)[-1].outcome
        assert outcome is not None
        assert sum(outcome.scores) == 0
        best = max(outcome.scores)
        winners.add(tuple(seat for seat, score in enumerate(outcome.scores) if score == best))
    seats = game.seat_count(read_config(game, SMALL[game.name]))
    assert winners >= {(seat,) for seat in range(seats)}
    assert any(len(shared) > 1 for shared in winners) == (game.name in DRAWS)


@every_game
def test_M19_an_episode_stopped_anywhere_ends_cleanly(game: AnyGame) -> None:
    for state in at_random(game, SMALL[game.name], 1)[:-1]:
        outcome = state.stop().outcome
        assert outcome is not None
        assert (outcome.reason, sum(outcome.scores)) == ("deadline", 0)
    nothing = at_random(game, SMALL[game.name], 1)[0].stop().outcome
    assert nothing is not None
    assert set(nothing.scores) == {0}


class Mute:
    """A model that never says anything, at the end of its seat's line."""

    def open(self, step: int, attempt: int) -> None:
        return

    async def complete(self, request: Request) -> Completion:
        return Completion("", "end")


@every_game
def test_M19_an_episode_in_which_nobody_makes_a_move_of_their_own_ends_cleanly(game: AnyGame) -> None:
    asked = read_config(game, SMALL[game.name])
    policy = PromptedPolicy("mute", OperatorPrompt("mute", "-"), "mock:m", Sampling(), "json-only", game, asked)
    seats = game.seat_count(asked)
    names = ("Ash", "Birch", "Cedar")[:seats]
    table = Table(
        "k", "b", game, asked, game.deal(asked, Random(2)), 2, (policy,) * seats, names, fallback_of(game.name)
    )
    record = asyncio.run(play_episode(table, {seat: Mute() for seat in range(seats)}))
    assert isinstance(record, Record)
    assert record.reason == "complete"
    assert {decision.by for decision in record.decisions} == {"fallback"}
    assert sum(record.fallbacks) == len(record.decisions)
    assert verify_record(record) == []


@every_game
def test_M20_a_seat_that_is_asked_always_has_a_move(game: AnyGame) -> None:
    for seed in range(40):
        for state in at_random(game, SMALL[game.name], seed):
            for seat in state.to_act:
                legal = state.legal(seat)
                assert len(legal) >= 1
                assert next(iter(legal)) in legal


def resolved(**document: Any) -> dict[str, Any]:
    said = weigh("resolve", "-", stdin=json.dumps(document))
    assert said.code == 0, said
    found: dict[str, Any] = said.json
    return found


def test_M20_equal_bids_in_every_round_are_a_draw_and_shown_as_ties() -> None:
    deal = {"prize_order": [3, 1, 4, 2]}
    found = resolved(game="goofspiel", config={"seats": 2, "cards": 4}, deal=deal, moves=[[c, c] for c in (2, 4, 1, 3)])
    assert (found["over"], found["ending"], found["scores"]) == (True, "prizes-exhausted", [0.0, 0.0])
    assert found["measures"]["points"] == [5.0, 5.0]
    found = resolved(game="oshi_zumo", config={"coins": 4}, moves=[[1, 1]] * 4)
    assert (found["over"], found["ending"], found["scores"]) == (True, "coins-exhausted", [0.0, 0.0])
    # Two free rounds of nothing: the cap ends it, and the middle is a draw.
    found = resolved(game="oshi_zumo", config={"coins": 4, "min_bid": 0, "max_rounds": 2}, moves=[[0, 0]] * 2)
    assert (found["over"], found["ending"], found["scores"]) == (True, "round-cap", [0.0, 0.0])


# -- M07, M13: what seats are told the game is about -------------------------------------------------------------------


def told(game: AnyGame, fields: dict[str, Any]) -> str:
    return game.rulebook(read_config(game, fields))


@pytest.mark.parametrize("seats", [3, 4, 7])
def test_M13_the_score_goofspiel_tells_is_the_score_it_gives(seats: int) -> None:
    game, fields = GAMES["goofspiel"], {"seats": seats, "cards": 6}
    assert f"you score ({seats} × s − 1) / {seats - 1}" in told(game, fields)
    for seed in range(20):
        outcome = at_random(game, fields, seed)[-1].outcome
        assert outcome is not None
        points = outcome.measures["points"]
        assert isinstance(points, list)
        shares = [point / sum(points) for point in points]
        assert list(map(float, outcome.scores)) == pytest.approx([(seats * s - 1) / (seats - 1) for s in shares])


@pytest.mark.parametrize("seats", [2, 3, 13])
def test_M13_the_score_persistent_calibration_tells_is_the_score_it_gives(seats: int) -> None:
    game, fields = GAMES["persistent_calibration"], {"seats": seats}
    assert f"(players beaten − players who beat you) / {seats - 1}" in told(game, fields)
    for seed in range(20):
        outcome = at_random(game, fields, seed)[-1].outcome
        assert outcome is not None
        points = outcome.measures["points"]
        assert isinstance(points, list)
        ahead = [sum(other < own for other in points) - sum(other > own for other in points) for own in points]
        assert list(map(float, outcome.scores)) == pytest.approx([one / (seats - 1) for one in ahead])


@pytest.mark.parametrize(
    ("name", "text", "scores"),
    [
        ("oshi_zumo", "A win is +1, a loss is −1, a draw is 0", {(1, -1), (-1, 1), (0, 0)}),
        ("ballast", "A win is +1, a loss is −1, a draw is 0", {(1, -1), (-1, 1), (0, 0)}),
        ("half_hearted_step", "A win is +1, a loss is −1.", {(1, -1), (-1, 1)}),
    ],
)
def test_M13_wins_and_losses_are_worth_what_the_rules_say(name: str, text: str, scores: set[tuple[int, int]]) -> None:
    assert text in told(GAMES[name], {})
    ends = [at_random(GAMES[name], SMALL[name], seed)[-1].outcome for seed in range(200)]
    assert {tuple(map(int, outcome.scores)) for outcome in ends if outcome is not None} == scores


@every_game
def test_M13_no_goal_speaks_of_anything_but_the_score(game: AnyGame) -> None:
    goal = next(line for line in told(game, {}).splitlines() if line.startswith("**Goal.**"))
    assert goal == "**Goal.** The highest mean score over many games."


@pytest.mark.parametrize(
    ("name", "unlike"),
    [
        ("goofspiel", []),
        ("persistent_calibration", []),
        # The one thing that is not the same for both, told from either side.
        ("half_hearted_step", ["have priority", "has priority"]),
    ],
)
def test_M07_seats_that_are_alike_are_told_the_same_but_for_their_names(name: str, unlike: list[str]) -> None:
    game = GAMES[name]
    state = at_random(game, SMALL[name], 0)[0]
    names = ("Ash", "Birch", "Cedar")[: game.seat_count(read_config(game, SMALL[name]))]
    mine, other = (state.observe(seat, names).situation for seat in range(2))
    swapped = other.replace("Ash", "~").replace("Birch", "Ash").replace("~", "Birch")
    differing = sorted({*mine.splitlines()} ^ {*swapped.splitlines()}, reverse=True)
    assert len(differing) == len(unlike)
    assert all(any(word in line for line in differing) for word in unlike)


# -- M26: under what limits --------------------------------------------------------------------------------------------


def test_M26_what_a_model_does_not_take_is_told_before_the_run(tmp_path: Path) -> None:
    text = """\
[games.oshi_zumo]
[entrants]
deep = { prompt = "oshi_zumo/plain.md", model = "openai:o3", temperature = 0.0, sampling_seed = 12345678 }
flat = { prompt = "oshi_zumo/plain.md", model = "openai:gpt-4o", temperature = 0.0, max_tokens = 512 }
[models.openai]
base_url = "http://127.0.0.1:9/v1"
"""
    said = weigh("doctor", config(tmp_path, text), "--no-calls", "--json", environ={"OPENAI_API_KEY": "x"})
    told = [check["found"] for check in said.json["checks"] if check["check"] == "config"]
    assert told == ["deep: openai:o3 takes no temperature, so 0.0 is not sent"]


def test_M26_C22_what_was_asked_and_what_was_sent_can_be_told_apart(server: MockServerProcess, tmp_path: Path) -> None:
    refusal = {"error": {"code": "unsupported_value", "param": "temperature", "message": "only the default"}}
    rule = {"has": "temperature", "do": "respond", "status": 400, "body": refusal}
    said = play(tmp_path, server, rule, sampling=", temperature = 0.0")
    assert said.code == 0
    assert "mock:m: the temperature asked for is not sent: the model takes none and keeps its default" in said.err
    with kept(tmp_path) as store:
        calls = list(store.calls())
    assert {call.request.sampling.temperature for call in calls} == {0.0}
    learned = [call for call in calls if call.fate == "wait"]
    assert len(learned) == 1
    assert "the temperature asked for is not sent" in (learned[0].error or "")

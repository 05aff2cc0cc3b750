"""The arms of an experiment on claims: what each changes, and that it changes nothing else."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections import Counter
from random import Random
from typing import Any

import pytest
from scipy import stats

from tests.games.ballast_cases import after
from tests.harness.audit.claims.claims_runs import plan_of, played
from weigh.games.ballast.rules import BALLAST, BallastConfig
from weigh.games.game import Observation
from weigh.harness.audit.claims.arms import ALTERATIONS, Altered, ClaimsPlan, Direction, scrambled_claims
from weigh.harness.audit.verify.run import verify_run
from weigh.harness.seeds import stream
from weigh.policies.contract import Reply, Retry
from weigh.policies.scripted.registry import scripted

NAMES = ("Ash", "Birch")
PLACED = Reply(move=["place", 5, 0, 1])


class Listening:
    """A player that keeps what it is shown, and answers as it is told."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.seen: list[Observation] = []

    async def decide(self, observation: Observation, retry: Retry | None) -> Reply:
        self.seen.append(observation)
        return self.reply


class Answering:
    """A policy whose players give one reply."""

    name = "ada"
    digest = "0" * 64
    model = None

    def __init__(self, reply: Reply) -> None:
        self.player = Listening(reply)
        self.drawn: float | None = None

    def sit(self, seat: int, rng: Random, client: Any) -> Listening:
        self.drawn = rng.random()
        return self.player


def asked(alteration: Any, text: str, reply: Reply = PLACED) -> tuple[Observation, Reply]:
    """What a player behind an alteration is shown after a game in the notation, and what becomes of its reply."""
    policy, state = Answering(reply), after(text)
    (seat,) = state.to_act
    player = Altered(policy, alteration).sit(seat, Random(4), None)
    answer = asyncio.run(player.decide(state.observe(seat, NAMES), None))
    return policy.player.seen[0], answer


def claims(seen: Observation, owner: str = "opponent") -> list[Any]:
    placed: Any = seen.facts["placed"]
    return [each["announced"] for each in placed if each["owner"] == owner]


TWO = "0:p5s0a2 1:p4s1a3 0:p3s2a1"


def test_a_muted_listener_is_shown_every_weight_and_no_claim() -> None:
    seen, answer = asked("mute", TWO)
    assert claims(seen) == [None, None]
    assert claims(seen, "you") == [3]
    assert answer.move == ["place", 5, 0, 1]
    assert "announced 2" not in "\n".join((*seen.history, seen.situation))


def test_a_listener_to_scrambled_claims_hears_the_same_value_for_a_weight_all_along() -> None:
    one, two = asked("scramble", "0:p5s0a2")[0], asked("scramble", TWO)[0]
    assert claims(one)[0] == claims(two)[0]
    assert two.history[: len(one.history)] == one.history


def test_scrambled_claims_have_all_values_alike_and_say_nothing_of_the_weight() -> None:
    values = Counter(1 + int(at * 5) for seed in range(400) for at in scrambled_claims(Random(seed))[:10])
    assert stats.chisquare([values[value] for value in range(1, 6)]).pvalue > 0.001


def test_a_claimer_made_to_tell_the_truth_places_as_it_wanted_and_sees_what_it_said() -> None:
    seen, answer = asked("force-truth", TWO)
    assert answer.move == ["place", 5, 0, 5]
    assert claims(seen) == [2, 1]
    assert asked("force-truth", TWO, Reply(move=["challenge", 0]))[1].move == ["challenge", 0]


def test_a_fault_stays_a_fault() -> None:
    wrong = Reply(fault="empty", detail="nothing")
    for alteration in ALTERATIONS:
        assert asked(alteration, TWO, wrong)[1] == wrong


@pytest.mark.parametrize("alteration", ALTERATIONS)
def test_an_alteration_takes_nothing_from_the_players_stream(alteration: Any) -> None:
    policy = Answering(Reply())
    Altered(policy, alteration).sit(0, Random(5), None)
    assert policy.drawn == Random(5).random()


def test_every_arm_has_a_name_and_a_digest_of_its_own() -> None:
    plain = scripted("ballast", "steady")
    altered = [Altered(plain, alteration) for alteration in ALTERATIONS]
    assert [policy.name for policy in altered] == ["steady~mute", "steady~scramble", "steady~force-truth"]
    assert len({plain.digest, *(policy.digest for policy in altered)}) == 4


# The plan


def test_a_pair_is_both_seatings_in_every_arm_on_the_same_streams() -> None:
    plan = plan_of("a", "b", 2, both=True)
    episodes = plan.episodes()
    assert len(episodes) == 2 * 2 * 7
    assert len({episode.key for episode in episodes}) == len(episodes)
    assert len({episode.block for episode in episodes}) == plan.blocks
    for deal_key in {episode.deal_key for episode in episodes}:
        arms = [episode for episode in episodes if episode.deal_key == deal_key]
        assert {episode.stream_key for episode in arms} == {deal_key}
        assert len({tuple(name.partition("~")[0] for name in episode.entrants) for episode in arms}) == 1


def test_the_one_who_hears_or_the_one_who_speaks_is_altered() -> None:
    there, back = Direction("a", "b"), Direction("b", "a")
    assert [there.fielded(arm) for arm in ALTERATIONS] == [("a", "b~mute"), ("a", "b~scramble"), ("a~force-truth", "b")]
    plan = ClaimsPlan((there, back), 1)
    assert [plan.claimer_seat(each, seating) for each in (there, back) for seating in (0, 1)] == [0, 1, 1, 0]
    by_key = {episode.key: episode.entrants for episode in plan.episodes()}
    assert by_key["ballast/mute/b-to-a/p0000/s0"] == ("a~mute", "b")
    assert by_key["ballast/force-truth/b-to-a/p0000/s1"] == ("b~force-truth", "a")


# The run


def test_arms_without_an_effect_are_played_move_for_move_alike(tmp_path: Any) -> None:
    with played(tmp_path / "run", plan_of("steady", "deaf", 3)) as store:
        moves: dict[str, set[str]] = {}
        for record in store.records():
            row = store.episode(record.key)
            assert row is not None
            moves.setdefault(row.deal_key, set()).add(json.dumps([record.moves, record.aliases]))
    assert len(moves) == 6
    assert all(len(alike) == 1 for alike in moves.values())


def test_every_record_of_every_arm_re_derives_scripts_and_all(tmp_path: Any) -> None:
    with played(tmp_path / "run", plan_of("feint", "steady", 2, both=True)) as store:
        verdict = verify_run(store)
        assert (verdict.records, verdict.findings) == (28, [])
        forced = store.record("ballast/force-truth/feint-to-steady/p0001/s0")
    assert forced is not None
    placed: Any = forced.measures["placed"]
    assert all(each["announced"] == each["true"] for each in placed)


@pytest.mark.parametrize(
    ("arm", "seat"), [("normal", 0), ("mute/feint-to-steady", 1), ("force-truth/feint-to-steady", 0)]
)
def test_a_move_that_the_altered_script_does_not_make_is_found(tmp_path: Any, arm: str, seat: int) -> None:
    key = f"ballast/{arm}/p0000/s0"
    with played(tmp_path / "run", plan_of("feint", "steady", 1)) as store:
        record = store.record(key)
    assert record is not None
    other = _another_first_placement(record.model_dump(mode="json"), seat)
    with sqlite3.connect(tmp_path / "run" / "run.sqlite") as db:
        body = json.dumps(other, sort_keys=True, separators=(",", ":"))
        db.execute("UPDATE records SET body = ? WHERE episode = (SELECT id FROM episodes WHERE key = ?)", (body, key))
    db.close()
    from weigh.harness.store.store import Store

    with Store.open(tmp_path / "run", readonly=True) as store:
        found = [finding for finding in verify_run(store).findings if finding.where == f"moves[{seat}][{seat}]"]
    assert len(found) == 1
    assert "is not what" in found[0].what


def _another_first_placement(record: dict[str, Any], seat: int) -> dict[str, Any]:
    """The record with another claim for the seat's first weight, and everything that follows from it."""
    del record["times"]
    word, weight, scale, announced = record["moves"][seat][seat]
    record["moves"][seat][seat] = [word, weight, scale, announced % 5 + 1]
    state: Any = BALLAST.start(BallastConfig(), {})
    for row in record["moves"]:
        state = state.play({at: move for at, move in enumerate(row) if move is not None})
    record["events"] = [event.to_json() for event in state.events]
    record["measures"] = dict(state.outcome.measures)
    return record


def test_a_seats_stream_is_that_of_the_pair(tmp_path: Any) -> None:
    """What `verify` and the replay of decisions rely on."""
    with played(tmp_path / "run", plan_of("steady", "deaf", 1)) as store:
        record = store.record("ballast/mute/steady-to-deaf/p0000/s0")
    assert record is not None
    player = scripted("ballast", "steady").sit(0, stream(3, "seat", "ballast/p0000/s0", 0))
    seen = BALLAST.start(BallastConfig(), {}).observe(0, record.aliases)
    assert asyncio.run(player.decide(seen)).move == record.moves[0][0]

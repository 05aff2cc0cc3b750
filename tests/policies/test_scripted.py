"""A scripted policy is a rule under a name: its digest, its players, and what a rule that cheats comes to."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from weigh.games.game import Observation
from weigh.games.legal import Bids
from weigh.policies.contract import Player, Policy, Reply
from weigh.policies.scripted.policy import Baseline, Rule, ScriptedPolicy

OBSERVATION = Observation(seat=0, facts={"prize": 3}, history=(), situation="", legal=Bids((1, 2, 3)))
HIGHEST = ScriptedPolicy("highest", "goofspiel", Baseline(lambda facts, legal, rng: max(legal)))  # type: ignore[type-var]


def test_a_scripted_policy_is_a_policy_that_asks_no_model() -> None:
    policy: Policy = HIGHEST
    player: Player = policy.sit(0, Random(1), None)
    assert policy.model is None
    assert policy.name == "highest"
    assert asyncio.run(player.decide(OBSERVATION, None)) == Reply(move=3)


def test_the_rule_gets_the_facts_the_legal_moves_and_the_seats_own_stream() -> None:
    seen = []

    def rule(facts: object, legal: object, rng: Random) -> int:
        seen.append((facts, legal, rng))
        return 2

    rng = Random(4)
    player = ScriptedPolicy("spy", "goofspiel", Baseline(rule)).sit(1, rng)
    asyncio.run(player.decide(OBSERVATION))
    assert seen == [(OBSERVATION.facts, OBSERVATION.legal, rng)]


def test_the_digest_tells_game_name_and_version_apart() -> None:
    digests = {
        ScriptedPolicy(name, game, Baseline(HIGHEST.baseline.rule, version)).digest
        for name in ("highest", "lowest")
        for game in ("goofspiel", "oshi_zumo")
        for version in (1, 2)
    }
    assert len(digests) == 8
    assert all(len(digest) == 64 for digest in digests)
    assert HIGHEST.digest == ScriptedPolicy("highest", "goofspiel", Baseline(lambda facts, legal, rng: 1)).digest


def test_an_illegal_move_of_a_rule_is_a_bug_and_raises() -> None:
    cheat = ScriptedPolicy("cheat", "goofspiel", Baseline(lambda facts, legal, rng: 4)).sit(0, Random(1))
    with pytest.raises(ValueError, match="the scripted policy cheat of goofspiel made the move 4"):
        asyncio.run(cheat.decide(OBSERVATION))


def test_habits_are_drawn_when_a_policy_sits_down_and_are_part_of_its_digest() -> None:
    def habits(rng: Random) -> Rule:
        favourite = rng.choice([1, 2, 3])
        return lambda facts, legal, stream: favourite

    bare = ScriptedPolicy("moody", "goofspiel", Baseline(lambda facts, legal, rng: 3))
    moody = ScriptedPolicy("moody", "goofspiel", Baseline(bare.baseline.rule, habits=habits))
    players = [moody.sit(0, Random(seed)) for seed in range(20)]
    moves = [[asyncio.run(player.decide(OBSERVATION)).move for _ in range(3)] for player in players]
    assert all(len(set(row)) == 1 for row in moves)
    assert {row[0] for row in moves} == {1, 2, 3}
    assert moody.digest != bare.digest
    assert moody.without_habits() == bare
    assert moody.without_habits().digest == bare.digest
    assert asyncio.run(moody.without_habits().sit(0, Random(1)).decide(OBSERVATION)) == Reply(move=3)

"""A redrawn policy: the same recipe on another stream."""

from __future__ import annotations

import asyncio
from random import Random

from weigh.games.registry import GAMES, read_config
from weigh.policies.replicate import Redrawn
from weigh.policies.scripted.registry import scripted

GAME = GAMES["goofspiel"]
CONFIG = read_config(GAME, {})


def moves(policy, seed, count=8):
    state = GAME.start(CONFIG, GAME.deal(CONFIG, Random(1)))
    seen = state.observe(0, ("Ash", "Elm", "Fig", "Oak"))
    player = policy.sit(0, Random(seed), None)
    return [asyncio.run(player.decide(seen, None)).move for _ in range(count)]


def test_it_draws_otherwise_and_the_same_every_time():
    plain = scripted("goofspiel", "random")
    assert moves(Redrawn(plain), 3) == moves(Redrawn(plain), 3)
    assert moves(Redrawn(plain), 3) != moves(plain, 3)
    assert moves(Redrawn(plain), 4) != moves(Redrawn(plain), 3)


def test_what_draws_nothing_plays_as_before():
    plain = scripted("goofspiel", "match")
    assert moves(Redrawn(plain), 3) == moves(plain, 3)


def test_it_takes_nothing_from_the_stream_it_is_given():
    rng = Random(5)
    before = rng.getstate()
    Redrawn(scripted("goofspiel", "random")).sit(0, rng, None)
    assert rng.getstate() == before


def test_it_is_another_policy_by_its_digest_and_the_same_by_name_and_model():
    plain = scripted("goofspiel", "random")
    again = Redrawn(plain)
    assert again.digest != plain.digest
    assert (again.name, again.model) == (plain.name, plain.model)

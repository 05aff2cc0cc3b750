"""Pilots: scripted moves are written as answers that the reader takes; prompts are those that models would get."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from weigh.games.registry import GAMES, read_config
from weigh.harness.config.entrants import Renamed
from weigh.harness.config.schedule import schedule
from weigh.harness.planning.pilots import PILOTS, Rehearsal, length_of, play_pilots, sizes_of, written
from weigh.harness.planning.power_table import Slipping, proxies
from weigh.harness.run.runner import Division
from weigh.harness.seeds import NAMES, stream
from weigh.policies.contract import FAULTS, STYLES, Completion, Request, Retry, Sampling
from weigh.policies.layout import hint
from weigh.policies.operator_prompt import OperatorPrompt
from weigh.policies.prompted import PromptedPolicy
from weigh.policies.reply import read_reply
from weigh.policies.scripted.registry import fallback_of, scripted

SEED = 5


def prompted(name: str, game: str, style: str = "json-only", guidance: str = "Play well.") -> PromptedPolicy:
    rules = GAMES[game]
    return PromptedPolicy(
        name,
        OperatorPrompt(name, guidance),
        "mock:m",
        Sampling(),
        style,  # type: ignore[arg-type]
        rules,
        read_config(rules, {}),
    )


def division(game: str, *policies) -> Division:
    rules = GAMES[game]
    return Division(rules, read_config(rules, {}), {policy.name: policy for policy in policies}, fallback_of(game))


@pytest.mark.parametrize("name", GAMES)
def test_every_legal_move_of_a_playout_is_written_so_that_it_reads_back(name: str) -> None:
    game = GAMES[name]
    config = read_config(game, {})
    rng = Random(1)
    state = game.start(config, game.deal(config, rng))
    seen = 0
    while state.to_act:
        moves = {}
        for seat in sorted(state.to_act):
            legal = state.legal(seat)
            for move in (legal.sample(rng) for _ in range(4)):
                reading = read_reply(written(move, legal), "end", legal)
                assert (reading.fault, reading.move) == (None, move)
                seen += 1
            moves[seat] = move
        state = state.play(moves)
    assert seen >= 8


def test_a_move_that_no_answer_stands_for_is_replaced_by_the_games_example() -> None:
    game = GAMES["goofspiel"]
    config = read_config(game, {})
    legal = game.start(config, game.deal(config, Random(1))).legal(0)
    assert written("never a bid", legal) == legal.answer.example


class Recorder:
    """A real client's place: it keeps requests and gives the answer of a scripted move."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        return Completion(self.answer, "end")


@pytest.mark.parametrize("style", STYLES)
def test_the_request_counted_is_the_one_the_policy_sends_to_a_real_client(style: str) -> None:
    policy = prompted("ada", "goofspiel", style)
    config = policy.config
    state = policy.game.start(config, policy.game.deal(config, Random(3)))
    seen = state.observe(1, NAMES[:4])

    seat = Rehearsal([policy], scripted("goofspiel", "match"))
    reply = asyncio.run(seat.sit(1, Random(1)).decide(seen, None))
    real = Recorder(written(reply.move, seen.legal))
    answered = asyncio.run(policy.sit(1, Random(1), real).decide(seen, None))
    assert (answered.move, answered.fault) == (reply.move, None)
    assert seat.requests == real.requests
    (asked,) = seat.asked
    assert asked.characters == sum(len(message.text) for message in real.requests[0].messages)
    assert (asked.entrant, asked.answer_characters) == ("ada", len(real.answer))


def test_a_second_attempt_is_never_longer_than_was_counted() -> None:
    policy = prompted("ada", "half_hearted_step", "reason-then-json")
    state = policy.game.start(policy.config, policy.game.deal(policy.config, Random(3)))
    seat = min(state.to_act)
    seen = state.observe(seat, NAMES[:2])
    rehearsal = Rehearsal([policy], scripted("half_hearted_step", "random"))
    asyncio.run(rehearsal.sit(seat, Random(1)).decide(seen, None))

    for fault in FAULTS:
        real = Recorder("\\ " * 2_000 + "no answer")
        player = policy.sit(seat, Random(1), real)
        asyncio.run(player.decide(seen, None))
        asyncio.run(player.decide(seen, Retry(fault, "y" * 900, hint(fault, "y" * 900, seen.legal))))
        longest = sum(len(message.text) for message in real.requests[1].messages)
        assert longest <= rehearsal.asked[0].retry_characters


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.slow
def test_pilots_of_every_game_seat_each_prompted_entrant_often_enough_and_repeat_exactly(name: str) -> None:
    field = [prompted(f"p{n}", name, STYLES[n % 3]) for n in range(2)]
    seats = GAMES[name].seat_count(read_config(GAMES[name], {}))
    others = [Renamed(f"s{n}", scripted(name, "random")) for n in range(seats - 1)]
    mixed = division(name, *field, *others)
    episodes = schedule(name, list(mixed.policies), seats, 3 * len(mixed.policies), SEED)
    pilots = asyncio.run(play_pilots(mixed, episodes, SEED))
    assert pilots == asyncio.run(play_pilots(mixed, episodes, SEED))
    assert len(pilots) == PILOTS
    length = length_of(pilots, GAMES[name].decisions(mixed.config))
    assert length is not None
    assert length.fewest <= length.expected <= length.most
    assert length.error is not None
    assert length.error < 0.2 * length.expected
    for policy in field:
        sizes = sizes_of(policy.name, pilots)
        assert sizes is not None
        assert sizes.characters < sizes.retry_characters
    assert sizes_of("s0", pilots) is None


def test_a_longer_prompt_is_counted_by_exactly_its_length() -> None:
    short, long = (prompted(name, "goofspiel", guidance="x" * n) for name, n in (("ada", 100), ("bea", 350)))
    mixed = division("goofspiel", short, long, *(Renamed(f"s{n}", scripted("goofspiel", "random")) for n in range(2)))
    episodes = schedule("goofspiel", list(mixed.policies), 4, 6, SEED)
    pilots = asyncio.run(play_pilots(mixed, episodes, SEED))
    sizes = [sizes_of(name, pilots) for name in ("ada", "bea")]
    assert sizes[0] is not None
    assert sizes[1] is not None
    # Both are asked at the same positions.
    assert sizes[1].characters - sizes[0].characters == pytest.approx(250)


def test_equal_prompts_are_counted_alike() -> None:
    one, two = (prompted(name, "oshi_zumo") for name in ("ada", "bea"))
    mixed = division("oshi_zumo", one, two, scripted("oshi_zumo", "random"))
    pilots = asyncio.run(play_pilots(mixed, schedule("oshi_zumo", list(mixed.policies), 2, 6, SEED), SEED))
    assert sizes_of("ada", pilots) == sizes_of("bea", pilots)


def test_pilots_are_not_played_on_deals_of_the_run() -> None:
    game = GAMES["goofspiel"]
    config = read_config(game, {})
    run = {str(game.deal(config, stream(SEED, "deal", f"goofspiel/b{n:04}"))) for n in range(50)}
    plan = {str(game.deal(config, stream(SEED, "plan", "deal", "goofspiel", n))) for n in range(50)}
    assert len(run) == len(plan) == 50
    assert not run & plan


def test_without_a_prompted_entrant_no_pilot_is_played() -> None:
    names = ("match", "hoard", "random")
    mixed = division("oshi_zumo", *(scripted("oshi_zumo", name) for name in names))
    assert asyncio.run(play_pilots(mixed, schedule("oshi_zumo", list(names), 2, 6, SEED), SEED)) == ()


def test_a_large_field_is_cut_and_scripted_entrants_play_as_they_are() -> None:
    field = [prompted(f"p{n:02}", "oshi_zumo") for n in range(14)]
    cut = proxies(division("oshi_zumo", *field, scripted("oshi_zumo", "match")), 2)
    assert len(cut) == 60 * 2 // 10
    assert all(isinstance(policy, Slipping) for policy in cut.values())
    small = proxies(division("oshi_zumo", *field[:2], scripted("oshi_zumo", "match")), 2)
    assert not isinstance(small["match"], Slipping)
    assert {policy.share for policy in cut.values() if isinstance(policy, Slipping)} == {0.1, 0.25, 0.4}

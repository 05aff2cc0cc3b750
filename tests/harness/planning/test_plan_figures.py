"""Estimates, past measures, bounds of time and ceilings: against sums worked out by hand, and simulated schedules."""

from __future__ import annotations

import asyncio
import heapq
import math
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.jumping_time import jumping, now
from weigh.harness.config.sections import Limits
from weigh.harness.planning.estimates import CHARACTERS_PER_TOKEN, Estimate, Rates, Span, dollars, estimate, total
from weigh.harness.planning.limits import Load, chain_seconds, least_time, limit_checks, through
from weigh.harness.planning.past import Measured, Past
from weigh.harness.planning.pilots import Length, Pilot, Sizes, length_of
from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.providers.endpoints.prices import cost_of
from weigh.harness.report.sections.plan import limit_line
from weigh.harness.run.concurrency import Slots, most_tokens
from weigh.policies.contract import Message, Request, Sampling, Usage

PRICED = endpoint_for("mine:m", {"mine": {"base_url": "http://127.0.0.1:1", "price": {"input": 2.0, "output": 10.0}}})
UNKNOWN = endpoint_for("mine:m", {"mine": {"base_url": "http://127.0.0.1:1"}})
FREE = endpoint_for("local:smollm2")
SIZES = Sizes(2000.0, 3000.0, 9.0)
TEN = Length(10, 10, 10.0, 0.0, 6)


def test_tokens_are_counted_like_the_limits_count_them() -> None:
    request = Request("mock:m", (Message("user", "x" * 4_000),), Sampling())
    assert most_tokens(request).input == 4_000 / CHARACTERS_PER_TOKEN


def test_an_estimate_is_the_sum_worked_out_by_hand() -> None:
    rates = Rates(output_tokens=50.0, retry_share=0.1)
    found = estimate(TEN, SIZES, rates, PRICED, episodes=8, cap=1_000, notes=True)
    assert found.decisions == 80
    assert found.calls == Span(80, pytest.approx(88), 160)
    # 2000 / 4 and 3000 / 4 tokens; at the most with 400 characters of notes in both attempts.
    assert found.input_tokens == Span(40_000, pytest.approx(40_000 + 8 * 750), 80 * (500 + 750 + 200))
    # An answer of 9 characters is 3 tokens begun.
    assert found.output_tokens == Span(240, pytest.approx(88 * 50), 160_000)
    assert found.cost.least == pytest.approx((40_000 * 2 + 240 * 10) / 1e6)
    assert found.cost.expected == pytest.approx((46_000 * 2 + 4_400 * 10) / 1e6)
    assert found.cost.most == pytest.approx((116_000 * 2 + 160_000 * 10) / 1e6)
    assert found.cost_at(50) == pytest.approx(found.cost.expected)
    assert found.cost_at(0) == pytest.approx(46_000 * 2 / 1e6)


def test_an_answer_longer_than_its_cap_is_expected_at_the_cap() -> None:
    found = estimate(TEN, SIZES, Rates(output_tokens=900.0), PRICED, 1, cap=32, notes=False)
    assert found.output_tokens.expected == 10 * 32


def test_what_is_not_known_is_unknown_and_never_nothing() -> None:
    found = estimate(TEN, SIZES, Rates(), PRICED, 1, 100, notes=False)
    assert (found.output_tokens.expected, found.cost.expected) == (None, None)
    unpriced = estimate(TEN, SIZES, Rates(output_tokens=5), UNKNOWN, 1, 100, notes=False)
    assert unpriced.unpriced == ("mine:m",)
    assert (found + unpriced).to_json()["cost_usd"] is None
    assert (found + unpriced).to_json()["cost_known_usd"] == found.cost.to_json()


def test_only_what_nobody_charges_for_costs_nothing_whatever_the_length() -> None:
    found = estimate(TEN, SIZES, Rates(), FREE, 1, 100, notes=False)
    assert found.cost == Span(0.0, 0.0, 0.0)
    assert found.output_tokens.expected is None


def test_money_is_that_of_the_price_list_call_by_call() -> None:
    listed = endpoint_for("anthropic:claude-sonnet-4-5")
    one = cost_of(listed, Usage(input=1_500, output=120))
    assert one is not None
    assert dollars(listed, 40, 40 * 1_500, 40 * 120) == pytest.approx(40 * one)
    assert dollars(UNKNOWN, 40, 4, 4) is None


@given(
    st.floats(1, 80),
    st.floats(10, 9_000),
    st.floats(0, 900),
    st.floats(0, 1),
    st.floats(1, 3_000),
    st.integers(8, 2_000),
)
def test_least_expected_and_most_are_in_order(
    decisions: float, characters: float, more: float, share: float, output: float, cap: int
) -> None:
    sizes, length = Sizes(characters, characters + more, 9.0), Length(1, 99, decisions, None, 6)
    found = estimate(
        length, sizes, Rates(output_tokens=max(3.0, output), retry_share=share), PRICED, 3, cap, notes=True
    )
    for span in (found.calls, found.input_tokens, found.output_tokens, found.cost):
        assert span.expected is not None
        assert span.least <= span.expected * (1 + 1e-9)
        assert span.expected <= span.most * (1 + 1e-9)


def test_sums_and_multiples_agree() -> None:
    one = estimate(TEN, SIZES, Rates(output_tokens=20.0), PRICED, 4, 100, notes=False)
    twice = estimate(TEN, SIZES, Rates(output_tokens=20.0), PRICED, 8, 100, notes=False)
    assert total([one, one]) == one * 2.0 == twice
    assert total([]) == Estimate()


def test_the_past_is_taken_from_the_nearest_place() -> None:
    past = Past(
        "r",
        {
            ("model", "m"): Measured(output_tokens=100, output_calls=10, seconds=5.0, answered=10, first=8, second=2),
            ("policy", "g", "d", "m"): Measured(output_tokens=60, output_calls=2),
        },
    )
    assert past.find("output", "g", "e", "d", "m") == (30.0, "policy")
    assert past.find("output", "g", "e", "other", "m") == (10.0, "model")
    assert past.find("latency", "g", "e", "d", "m") == (0.5, "model")
    assert past.find("retry_share", "g", "e", "d", "m") == (0.25, "model")
    assert past.find("characters_per_token", "g", "e", "d", "m") == (None, None)
    assert past.find("output", "g", "e", "d", "another") == (None, None)


# -- time --------------------------------------------------------------------------------------------------------------


def makespan(chains: list[float], workers: int) -> float:
    """Wall time when the episodes are taken in order by so many workers, as `harness.run.runner` does it."""
    free = [0.0] * workers
    for chain in chains:
        heapq.heappush(free, heapq.heappop(free) + chain)
    return max(free)


@given(st.lists(st.floats(0.1, 50), min_size=1, max_size=60), st.integers(1, 12))
def test_no_schedule_beats_the_bound_and_the_runs_own_comes_within_one_episode_of_it(
    chains: list[float], workers: int
) -> None:
    least = least_time(chains, workers, [])[0].seconds
    took = makespan(chains, workers)
    assert least <= took * (1 + 1e-9)
    assert took <= sum(chains) / workers + max(chains) + 1e-9  # Graham (1969)


@pytest.mark.parametrize("seed", range(6))
def test_a_simulated_ladder_with_slots_is_never_faster_than_the_bound(seed: int) -> None:
    rng = Random(seed)
    workers, concurrency, latency = rng.randint(1, 6), rng.randint(1, 5), 2.0
    episodes = [(rng.randint(1, 9), rng.randint(1, 4)) for _ in range(rng.randint(1, 25))]  # rounds, seats
    calls = sum(rounds * seats for rounds, seats in episodes)
    endpoint = endpoint_for("mock:m", {"mock": {"base_url": "http://127.0.0.1:1", "concurrency": concurrency}})
    chains = [rounds * latency for rounds, _ in episodes]
    least = least_time(chains, workers, [Load(endpoint, calls, calls * latency, 0.0)])
    took = simulated(episodes, workers, concurrency)
    assert took >= least[0].seconds / latency
    # And not absurdly low: a greedy schedule takes at most the sum of its bounds.
    assert took <= sum(bound.seconds for bound in least) / latency + 1e-9


def simulated(episodes: list[tuple[int, int]], workers: int, concurrency: int) -> float:
    """The ladder's wall time in latencies, on a clock that jumps: workers, rounds as one batch, slots first come."""
    now = 0.0
    queue: list[int] = []  # worker of each call that waits
    todo = iter(episodes)
    state: dict[int, list[int]] = {}  # worker: rounds left, seats, answers missing in this round

    def begin(worker: int) -> None:
        nxt = next(todo, None)
        if nxt is not None:
            state[worker] = [nxt[0], nxt[1], nxt[1]]
            queue.extend([worker] * nxt[1])

    for worker in range(workers):
        begin(worker)
    flying: list[tuple[float, int]] = []
    while queue or flying:
        while queue and len(flying) < concurrency:
            heapq.heappush(flying, (now + 1.0, queue.pop(0)))
        now, worker = heapq.heappop(flying)
        mine = state[worker]
        mine[2] -= 1
        if mine[2] == 0:
            mine[0] -= 1
            mine[2] = mine[1]
            if mine[0]:
                queue.extend([worker] * mine[1])
            else:
                begin(worker)
    return now


@pytest.mark.parametrize(("rate", "calls"), [(600.0, 400), (40.0, 25), (3.0, 4), (1.0, 2)])
def test_a_ceiling_of_requests_takes_as_long_as_its_bucket_does(rate: float, calls: int) -> None:
    async def pace() -> float:
        slots = Slots(1_000, start=1_000, requests_per_minute=rate)

        async def one() -> None:
            async with slots.slot():
                pass

        await asyncio.gather(*(one() for _ in range(calls)))
        return now()

    assert jumping(pace()) == pytest.approx(through(calls, rate))


def test_ceilings_per_minute_and_concurrency_by_hand() -> None:
    settings = {"base_url": "http://127.0.0.1:1", "concurrency": 5, "requests_per_minute": 60.0}
    endpoint = endpoint_for("mock:m", {"mock": {**settings, "tokens_per_minute": 6_000.0}})
    bounds = {
        bound.kind: bound.seconds for bound in least_time([40.0, 20.0], 2, [Load(endpoint, 150, 300.0, 15_000.0)])
    }
    assert bounds == {
        "longest_episode": 40.0,
        "episodes_in_flight": 30.0,
        "slots": 60.0,
        "requests_per_minute": pytest.approx((150 - 15) / 45 * 60),  # a quarter at once, three quarters a minute
        "tokens_per_minute": pytest.approx((15_000 - 1_500) / 4_500 * 60),
    }


def test_a_step_takes_its_slowest_model_and_steps_follow_each_other() -> None:
    pilots = [Pilot(((0, 1), (0, 1), (1,)), (2, 3), ()), Pilot(((0, 1),), (1, 1), ())]
    assert chain_seconds(pilots, (2.0, 3.0)) == pytest.approx(((3 + 3 + 3) + 3) / 2)
    assert chain_seconds(pilots, (2.0, 0.0)) == pytest.approx(((2 + 2 + 0) + 2) / 2)
    assert chain_seconds(pilots, (0.0, 0.0)) == 0.0
    assert chain_seconds([], (1.0, 1.0)) == 0.0


def test_nothing_to_play_takes_no_time() -> None:
    assert least_time([], 8, []) == least_time([0.0, 0.0], 8, []) == ()


def test_lengths_are_pooled_and_their_error_has_a_pilot_for_a_cluster() -> None:
    pilots = [Pilot((), (4, 4), ()), Pilot((), (6,), ()), Pilot((), (8, 10), ())]
    length = length_of(pilots, (1, 20))
    assert length is not None
    assert (length.fewest, length.most, length.seats) == (1, 20, 5)
    assert length.expected == pytest.approx(6.4)
    # What each pilot has above 6.4 for each of its seats: -4.8, -0.4, 5.2.
    assert length.error == pytest.approx(math.sqrt(3 / 2 * (4.8**2 + 0.4**2 + 5.2**2)) / 5)
    assert length_of(pilots[:1], (1, 20)) == Length(1, 20, 4.0, None, 2)
    assert length_of([], (1, 20)) is None


# -- limits ------------------------------------------------------------------------------------------------------------

NEEDED = Estimate(
    calls=Span(100, 120, 200),
    input_tokens=Span(900, 950, 1_000),
    output_tokens=Span(100, None, 500),
    cost=Span(1, 2, 3),
)


@pytest.mark.parametrize(
    ("limit", "spent", "verdict"),
    [(99, 0, "stops"), (100, 0, "likely"), (120, 0, "may"), (199, 0, "may"), (200, 0, "holds"), (200, 101, "stops")],
)
def test_a_ceiling_on_calls_is_set_against_what_is_left_of_it(limit: int, spent: int, verdict: str) -> None:
    (found,) = limit_checks(Limits(max_calls=limit), NEEDED, 0.0, calls=spent)
    assert found.verdict == verdict


def test_every_limit_is_looked_at_and_told_in_a_line() -> None:
    limits = Limits(max_calls=50, max_tokens=1_200, max_usd=1.5, max_seconds=5.0)
    lines = [limit_line(found) for found in limit_checks(limits, NEEDED, 9.5)]
    assert lines == [
        "max_calls = 50 will stop the run before its end (needed: at least 100)",
        "max_tokens = 1,200 may stop the run before its end (needed: at least 1,000, at most 1,500)",
        "max_usd = 1.5 will probably stop the run before its end (needed: at least 1, about 2)",
        "max_seconds = 5 will stop the run before its end (needed: at least 9.5)",
    ]


def test_a_ceiling_in_dollars_without_a_price_is_unknown() -> None:
    needed = estimate(TEN, SIZES, Rates(), UNKNOWN, 1, 10, notes=False)
    (found,) = limit_checks(Limits(max_usd=1.0), needed, 0.0)
    assert found.verdict == "unknown"
    assert limit_line(found) == "max_usd = 1 cannot be kept: a price is not known"


def test_no_ceiling_no_word() -> None:
    assert list(limit_checks(Limits(), NEEDED, 1e9)) == []


def test_spans_grow_with_their_tables() -> None:
    spans = [(NEEDED * factor).calls.most for factor in (0.5, 1.0, 2.0)]
    assert all(small < large for small, large in pairwise(spans))


def test_a_ceiling_that_is_just_enough_holds() -> None:
    """.1 spent of .3 leaves .2 and not, as floats have it, 0.19999999999999998."""
    exact = replace(NEEDED, cost=Span(0.2, 0.2, 0.2))
    assert 0.3 - 0.1 < 0.2
    (found,) = limit_checks(Limits(max_usd=0.3), exact, 0.0, usd=0.1)
    assert found.verdict == "holds"
    (found,) = limit_checks(Limits(max_usd=0.2999), exact, 0.0, usd=0.1)
    assert found.verdict == "stops"

"""What is counted while a run goes on, and what it is warned about."""

from __future__ import annotations

import pytest

from tests.harness.run.display_events import NAMES, Clock, call, decision, plan, record, void
from weigh.harness.run.tally import Tally, Watch

FIRST = "goofspiel/b0000/r0"


def tally(**more: object) -> tuple[Tally, Clock]:
    clock = Clock()
    return Tally(plan(**more), clock), clock


def test_means_are_kept_by_game_and_entrant_and_go_on_where_an_earlier_sitting_stood() -> None:
    counts, _ = tally(
        episodes={"goofspiel": 8, "oshi_zumo": 2},
        finished={"goofspiel": 2},
        scores={("goofspiel", "careful"): (2, 1.0)},
    )
    counts.episode_finished(record(scores=(0.25, -0.25, 0.0, 0.0)))
    counts.episode_finished(record("oshi_zumo/b0000/r0", ("careful", "long"), (-1.0, 1.0)))
    careful = counts.rows["careful"].scores
    assert (careful["goofspiel"].n, careful["goofspiel"].value) == (3, pytest.approx(1.25 / 3))
    assert (careful["oshi_zumo"].n, careful["oshi_zumo"].value) == (1, -1.0)
    assert (counts.done, counts.total) == (4, 10)


def test_an_entrant_in_two_seats_counts_twice() -> None:
    counts, _ = tally()
    counts.episode_finished(record(entrants=("match", "match"), scores=(0.5, -0.5)))
    assert (counts.rows["match"].scores["goofspiel"].n, counts.rows["match"].scores["goofspiel"].total) == (2, 0.0)


def test_calls_count_for_the_entrant_in_the_seat_with_tokens_and_cost() -> None:
    counts, _ = tally()
    counts.episode_started(FIRST, NAMES)
    assert counts.call_finished(call(seat=1, tokens=(100, 20), cost=0.5)) == "long"
    assert counts.call_finished(call(seat=1, fate="timed_out", cost=None)) == "long"
    used = counts.rows["long"].usage
    assert (used.calls, used.answered, used.input_tokens, used.output_tokens) == (2, 1, 100, 20)
    assert (used.cost_known_usd, used.unknown_cost_calls, used.seconds) == (0.5, 1, ())
    assert counts.rows["careful"].usage.calls == 0


def test_a_call_outside_an_episode_still_counts_in_the_totals() -> None:
    counts, _ = tally()
    assert counts.call_finished(call(cost=0.25)) is None
    assert (counts.totals().usage.calls, counts.totals().usage.cost_usd) == (1, 0.25)


def test_an_attempt_waits_from_its_passing_failure_until_it_is_settled() -> None:
    counts, _ = tally()
    counts.episode_started(FIRST, NAMES)
    counts.call_finished(call(seat=0, fate="wait"))
    counts.call_finished(call(seat=0, fate="wait"))
    counts.call_finished(call(seat=1, fate="wait"))
    assert (counts.waiting, counts.waits) == (2, 3)
    counts.call_finished(call(seat=0))
    assert counts.waiting == 1
    counts.call_finished(call(seat=1, fate="outage"))
    assert (counts.waiting, counts.outages) == (0, 1)


def test_the_end_of_an_episode_ends_its_waits() -> None:
    counts, _ = tally()
    counts.episode_started(FIRST, NAMES)
    counts.call_finished(call(seat=0, fate="wait"))
    counts.episode_void(void())
    assert (counts.waiting, counts.in_flight, counts.void, counts.done) == (0, 0, 1, 0)


def test_a_void_episode_that_is_played_again_is_void_no_longer() -> None:
    counts, _ = tally()
    counts.episode_started(FIRST, NAMES)
    counts.episode_void(void())
    counts.episode_started(FIRST, NAMES)
    assert (counts.void, counts.in_flight) == (0, 1)
    counts.episode_finished(record())
    assert (counts.void, counts.done) == (0, 1)


def test_attempts_and_faults_come_from_decisions_and_scripted_seats_make_none() -> None:
    counts, _ = tally()
    counts.episode_finished(
        record(
            decisions=[
                decision(0, "model"),
                decision(0, "retry", "illegal"),
                decision(0, "fallback", "truncated", "illegal"),
                decision(2, "scripted"),
            ]
        )
    )
    careful = counts.rows["careful"]
    assert (careful.attempts, careful.faults, careful.fallbacks) == (5, {"illegal": 2, "truncated": 1}, 1)
    assert counts.rows["match"].attempts == 0


def test_the_time_left_follows_the_pace_of_each_game_and_what_is_in_flight() -> None:
    counts, clock = tally(episodes={"goofspiel": 4, "oshi_zumo": 4})
    assert counts.seconds_left() is None
    for n in range(2):
        counts.episode_started(f"goofspiel/b{n}/r0", NAMES)
        clock.now += 100
        counts.episode_finished(record(f"goofspiel/b{n}/r0"))
    assert counts.seconds_left() is None, "two episodes say too little"
    for n in range(2):
        counts.episode_started(f"oshi_zumo/b{n}/r0", NAMES[:2])
        clock.now += 10
        counts.episode_finished(record(f"oshi_zumo/b{n}/r0", NAMES[:2], (0.0, 0.0)))
    # One at a time so far; two of 100 s and two of 10 s are left.
    assert counts.seconds_left() == pytest.approx(220)
    counts.episode_started("goofspiel/b2/r0", NAMES)
    clock.now += 40
    assert counts.seconds_left() == pytest.approx(180)


def test_episodes_side_by_side_shorten_the_time_left() -> None:
    counts, clock = tally(episodes={"goofspiel": 8})
    for n in range(4):
        counts.episode_started(f"goofspiel/b{n}/r0", NAMES)
    clock.now += 50
    for n in range(4):
        counts.episode_finished(record(f"goofspiel/b{n}/r0"))
    assert counts.seconds_left() == pytest.approx(50)


def test_faults_of_form_are_warned_about_once_above_a_fifth_of_at_least_twenty_attempts() -> None:
    counts, _ = tally()
    watch = Watch(counts)
    clean = [decision(0, "model")] * 14
    counts.episode_finished(record(decisions=[*clean, decision(0, "fallback", "truncated", "truncated")]))
    assert watch.after_episode(NAMES) == [], "16 attempts are too few"
    counts.episode_finished(record(decisions=[*[decision(0, "model")] * 2, decision(0, "retry", "illegal")]))
    assert watch.after_episode(NAMES) == [], "an illegal move is no fault of form"
    counts.episode_finished(record(decisions=[decision(0, "fallback", "truncated", "unreadable")] * 2))
    (line,) = watch.after_episode(NAMES)
    assert line == (
        "careful: 25% of 24 attempts gave no answer that could be read (truncated 4, unreadable 2); "
        "raise its max_tokens"
    )
    counts.episode_finished(record(decisions=[decision(0, "fallback", "empty", "empty")] * 9))
    assert watch.after_episode(NAMES) == []


@pytest.mark.parametrize(("cut", "warned"), [(2, False), (3, True)])
def test_m26_unlike_shares_of_cut_answers_are_warned_about_with_both_caps(cut: int, warned: bool) -> None:
    counts, _ = tally()
    watch = Watch(counts)
    counts.episode_started(FIRST, NAMES)
    lines: list[str] = []
    for n in range(30):
        lines += watch.after_call(counts.call_finished(call(seat=1, max_tokens=2048)))
        stop = "length" if n >= 30 - cut else "end"
        lines += watch.after_call(counts.call_finished(call(seat=0, stop=stop, max_tokens=512)))
    assert len(lines) == warned
    if warned:
        assert lines[0].startswith("careful: 10% of its answers are cut at its cap of 512 tokens, long: 0% at 2048")


def test_one_entrant_alone_is_compared_with_nobody() -> None:
    counts, _ = tally()
    watch = Watch(counts)
    counts.episode_started(FIRST, NAMES)
    assert not [line for _ in range(60) for line in watch.after_call(counts.call_finished(call(stop="length")))]


def test_answers_that_are_reasoning_alone_point_at_the_servers_parser() -> None:
    counts, _ = tally()
    watch = Watch(counts)
    counts.episode_started(FIRST, NAMES)
    lines: list[str] = []
    for n in range(40):
        hollow = n in (3, 20)
        answer = call(text=" " if hollow else "{}", reasoning="I think 3")
        lines += watch.after_call(counts.call_finished(answer))
    (line,) = lines
    assert line.startswith(
        "careful: 2 of 30 answers are empty with reasoning beside them; look at the server's reasoning"
    )


def test_an_answer_cut_within_its_reasoning_is_not_taken_for_a_parser_at_fault() -> None:
    counts, _ = tally()
    watch = Watch(counts)
    counts.episode_started(FIRST, NAMES)
    for _ in range(40):
        assert not watch.after_call(counts.call_finished(call(text="", stop="length", reasoning="I think")))
    assert counts.rows["careful"].usage.reasoning_only_calls == 0

"""What the live page may know of a run, and when."""

from __future__ import annotations

import asyncio
import json

from tests.harness.web.live.hearing import played, table
from weigh.harness.run.episode import play_episode
from weigh.harness.run.events import Closing, Plan
from weigh.harness.store.calls import Call, CallKey, Void
from weigh.harness.web.live.board import board
from weigh.harness.web.live.episode import Subscription
from weigh.harness.web.live.feed import RECENT, Feed
from weigh.harness.web.viewer.frames import frames_of
from weigh.policies.contract import Completion, Message, Request, Sampling, Usage

PLAN = Plan("league", 7, ("random",), {"goofspiel": 9})


def feed(plan=PLAN):
    made = Feed()
    made.run_started(plan)
    return made


def call(step=0, seat=0, fate="answered", key="goofspiel/b0000/r0", text="SECRET"):
    completion = Completion(text, "end", "THOUGHT", Usage(100, 0, 20, 0)) if fate == "answered" else None
    error = None if completion else "503"
    question = Request("mock:m", (Message("user", "QUESTION"),), Sampling())
    place = CallKey(key, seat, step, 1)
    return Call(place, 0, question, fate, completion, error, "known", 0.25, "2026-01-01T00:00:00", 0.1)


def everything(told):
    """All that any page could be told of a feed now."""
    texts = [json.dumps(board(told))]
    for episode in [*told.flights.values(), *told.recent.values()]:
        subscription = Subscription(episode)
        texts += [json.dumps(subscription.opening()), json.dumps(subscription.ending())]
    return " ".join(texts)


def begun(told, given):
    told.episode_started(given.key, given.entrants)
    return told.watch(given)


def test_a_call_of_an_open_round_is_told_to_nobody_before_every_move_is_in():
    told, given = feed(), table(seats=2, cards=4)
    watch = begun(told, given)
    told.call_finished(call(text='{"bid": 3} SECRET'))
    before = everything(told)
    assert "SECRET" not in before
    assert "THOUGHT" not in before
    assert board(told)["spending"] == []
    start = given.game.start(given.config, given.deal)
    watch.step_played(start.play({0: 1, 1: 2}), {0: 1, 1: 2}, ())
    assert board(told)["spending"][:2] == ["1 call", "100 tokens in, 20 out"]
    assert [c.completion.text for c in told.flights[given.key].steps[0].calls] == ['{"bid": 3} SECRET']


def test_questions_are_not_remembered():
    told, given = feed(), table(seats=2, cards=4)
    begun(told, given)
    told.call_finished(call())
    assert told.flights[given.key].held[0].request.messages == ()


def test_a_passing_failure_is_told_at_once_and_counted_once():
    told, given = feed(), table(seats=2, cards=4)
    begun(told, given)
    told.call_finished(call(fate="wait"))
    assert "1 attempt waiting for a provider" in board(told)["standing"]
    assert board(told)["spending"][0] == "1 call"
    told.call_finished(call())
    told.episode_void(Void(given.key, given.block, "goofspiel", given.entrants, 0, (1,), "502"))
    assert board(told)["spending"][0] == "2 calls"
    assert "1 void" in board(told)["standing"]


def test_what_an_open_round_had_when_its_episode_became_void_stays_untold():
    told, given = feed(), table(seats=2, cards=4)
    begun(told, given)
    told.call_finished(call())
    told.episode_void(Void(given.key, given.block, "goofspiel", given.entrants, 0, (1,), "502 <b>"))
    assert "SECRET" not in everything(told)
    assert "void at step 0: 502 <b>" in everything(told)


def test_the_beats_told_step_by_step_are_those_of_the_record():
    told, given = feed(), table("oshi_zumo", coins=12)
    told.episode_started(given.key, given.entrants)
    watch = told.watch(given)
    subscription = Subscription(told.flights[given.key])
    frames = subscription.opening()["frames"]
    steps = []

    class Both:
        def step_played(self, state, moves, decisions):
            watch.step_played(state, moves, decisions)
            news = subscription.news()
            assert news["from"] == len(frames)
            frames.extend(news["frames"])
            steps.extend(news["steps"])

    record = asyncio.run(play_episode(given, {}, watch=Both()))
    assert subscription.ending() is None
    told.episode_finished(record)
    whole_frames = frames_of(record).frames
    assert [[frame[0], frame[2], frame[4]] for frame in frames] == [
        [frame.step, frame.label, list(frame.feed)] for frame in whole_frames
    ]
    assert [frame[3] for frame in frames] == [frame.picture.to_json() for frame in whole_frames]
    whole = subscription.ending()
    assert steps == whole["steps"]
    assert subscription.ending() is None, "told once"
    assert subscription.news() is None


def test_who_comes_late_is_told_the_same_at_once():
    told, given = feed(), table(seats=3, cards=4)
    record = played(told, given)
    opening = Subscription(told.recent[given.key]).opening()
    assert [frame[2] for frame in opening["frames"]] == [frame.label for frame in frames_of(record).frames]
    assert len(opening["steps"]) == len(record.moves)
    assert [seat["entrant"] for seat in opening["seats"]] == ["random"] * 3


def test_an_end_by_the_clock_is_told():
    told, given = feed(), table(seats=2, cards=4)
    from dataclasses import replace

    clock = iter([0.0, 0.0, 1.0, 99.0, 99.0])
    given = replace(given, episode_deadline=10.0)
    told.episode_started(given.key, given.entrants)
    record = asyncio.run(play_episode(given, {}, watch=told.watch(given), now=lambda: next(clock)))
    assert record.reason == "deadline"
    told.episode_finished(record)
    frames = Subscription(told.recent[given.key]).opening()["frames"]
    assert frames[-1][1] == "end"


def test_means_progress_and_ended_episodes_stand_on_the_board():
    told = feed()
    record = played(told, table(seats=2, cards=4))
    now = board(told)
    assert (now["done"], now["total"], now["over"]) == (1, 9, None)
    assert now["standing"][0] == "1 of 9 episodes finished"
    (row,) = now["rows"]
    assert row["means"]["goofspiel"] == ["0.000", 2], "two seats of a game that sums to nothing"
    assert now["recent"][0]["key"] == record.key
    assert now["flights"] == []


def test_what_is_remembered_is_bounded():
    told = feed()
    for number in range(RECENT + 10):
        played(told, table(key=f"goofspiel/b{number:04}/r0", seats=2, cards=4))
    assert len(told.recent) == RECENT
    assert told.flights == {}
    assert told.episode("goofspiel/b0000/r0") is None
    assert told.newest() == f"goofspiel/b{RECENT + 9:04}/r0"


def test_the_end_is_told_in_the_words_of_the_terminal():
    told = feed()
    told.run_finished(Closing("stopped", 3, 1, 9, "\x1b[2J a limit", "weigh ladder l.toml"))
    lines = board(told)["over"]
    assert lines[0].startswith("stopped: 3 of 9 episodes finished, 1 void")
    assert lines[-1] == "go on with: weigh ladder l.toml"
    assert "\x1b" not in json.dumps(lines)
    assert "\\x1b[2J" in lines[1]


def test_a_run_that_fails_is_over_all_the_same():
    told = feed()
    try:
        with told:
            raise KeyError("a bug")
    except KeyError:
        pass
    assert "it failed: KeyError" in " ".join(board(told)["over"])


def test_a_wait_for_a_provider_is_over_when_the_answer_is_in_though_the_round_is_not():
    told, given = feed(), table(seats=2, cards=4)
    begun(told, given)
    told.call_finished(call(fate="wait"))
    told.call_finished(call(seat=1, fate="wait"))
    assert "2 attempts waiting for a provider" in board(told)["standing"]
    told.call_finished(call())
    assert "1 attempt waiting for a provider" in board(told)["standing"]
    told.call_finished(call(seat=1))
    assert not [words for words in board(told)["standing"] if "waiting" in words]
    assert board(told)["spending"] == ["2 calls", *board(told)["spending"][1:]], "passing failures, as they came"

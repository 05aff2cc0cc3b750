"""A spectator's stream, read as a page reads it."""

from __future__ import annotations

import asyncio
import json

from tests.harness.web.live.hearing import heard, named, played, read, table
from weigh.harness.run.episode import play_episode
from weigh.harness.run.events import Closing, Plan
from weigh.harness.web.live.feed import Feed
from weigh.harness.web.live.streams import event, spectate


def feed():
    told = Feed()
    told.run_started(Plan("league", 7, ("random",), {"goofspiel": 9}))
    return told


def over(told):
    told.run_finished(Closing("complete", 1, 0, 1))


def test_an_event_is_one_line_of_ascii_whatever_it_holds():
    text = event("board", {"a": "x\n\ndata: y\r\u2028\u202e</script>"})
    assert text.isascii()
    assert text.count("\n") == 3
    assert read(text) == ("board", {"a": "x\n\ndata: y\r\u2028\u202e</script>"})


def test_a_finished_run_is_told_and_the_stream_ends():
    told = feed()
    record = played(told, table(seats=2, cards=4))
    over(told)
    events = asyncio.run(heard(spectate(told, None), lambda event: False))
    assert [name for name, _ in events] == ["board", "episode", "ended", "over"]
    assert events[0][1]["over"][0].startswith("complete: 1 of 1 episode")
    assert events[1][1]["key"] == events[2][1]["key"] == record.key
    assert [seat["value"] for seat in events[2][1]["seats"]] == list(record.scores)


def test_beats_come_as_steps_are_played_and_none_twice():
    told, given = feed(), table(seats=2, cards=5)

    async def playing():
        told.episode_started(given.key, given.entrants)
        watch = told.watch(given)

        class Slow:
            def step_played(self, state, moves, decisions):
                watch.step_played(state, moves, decisions)

        async def look():
            return await heard(spectate(told, given.key), named("over"))

        listener = asyncio.create_task(look())
        await asyncio.sleep(0.05)
        state = given.game.start(given.config, given.deal)
        while state.to_act:
            moves = {seat: next(iter(state.legal(seat))) for seat in state.to_act}
            state = state.play(moves)
            Slow().step_played(state, moves, ())
            await asyncio.sleep(0.12)
        record = await play_episode(given, {})
        told.episode_finished(record)
        await asyncio.sleep(0.15)
        over(told)
        return await listener

    events = asyncio.run(playing())
    opening = next(value for name, value in events if name == "episode")
    frames = list(opening["frames"])
    news = [value for name, value in events if name == "frames"]
    assert len(news) >= 3
    for piece in news:
        assert piece["from"] == len(frames)
        frames += piece["frames"]
    labels = [frame[2] for frame in frames]
    assert len(set(labels)) == len(labels)
    assert frames[-1][1] == "end"


def test_an_episode_that_nobody_remembers_is_gone_and_the_newest_is_shown():
    told = feed()
    record = played(told, table(seats=2, cards=4))
    over(told)
    events = asyncio.run(heard(spectate(told, "goofspiel/b9999/r0"), named("over", "episode")))
    assert ("gone", "goofspiel/b9999/r0") in events
    told.closing = None
    events = asyncio.run(heard(spectate(told, "goofspiel/b9999/r0"), named("episode")))
    assert events[-1][1]["key"] == record.key


def test_a_stream_without_an_episode_waits_for_one():
    told, given = feed(), table(seats=2, cards=4)

    async def waiting():
        listener = asyncio.create_task(heard(spectate(told, None), named("episode")))
        await asyncio.sleep(0.15)
        assert not listener.done()
        told.watch(given)
        return await listener

    assert asyncio.run(waiting())[-1][1]["key"] == given.key


def test_hostile_names_are_neutralised():
    from dataclasses import replace

    given = table(seats=2, cards=4)
    nasty = "</script>\x1b[31m\u202e"
    told = feed()
    policies = tuple(replace(policy, name=nasty) for policy in given.policies)
    played(told, replace(given, policies=policies))
    over(told)
    events = asyncio.run(heard(spectate(told, None), lambda event: False))
    assert "\x1b" not in json.dumps(events, ensure_ascii=False)
    assert "\u202e" not in json.dumps(events, ensure_ascii=False)

"""A person's seat in the browser: one question at a time, the first legal answer counts, nothing of other seats."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

from tests.harness.web.live.hearing import heard, listening, named, serving, table
from weigh.harness.web.live.pages import SeatPage
from weigh.harness.web.live.seat import Closed, SeatRoom
from weigh.policies.human import HumanPolicy


def observation(game="goofspiel", seat=0, **config):
    given = table(game, **config)
    state = given.game.start(given.config, given.deal)
    return state.observe(seat, given.aliases)


def room():
    return SeatRoom("Ash", "Goofspiel", "The rules.")


def test_a_question_holds_what_the_seat_may_know_and_its_choices():
    async def asked():
        at = room()
        asking = asyncio.create_task(at.ask(observation(seats=2, cards=4), None))
        await asyncio.sleep(0)
        events = await heard(at.stream(), named("question"))
        assert at.answer(1, "3") is None
        assert await asking == "3"
        return events

    ((_, question),) = asyncio.run(asked())
    assert question["number"] == 1
    assert "Your legal bids: " in question["situation"]
    assert [words for words, _ in question["choices"]] == ["1", "2", "3", "4"]
    assert question["history"] == []
    assert question["refused"] is None


def test_an_illegal_answer_is_refused_in_the_rules_words_and_the_question_stays():
    async def asked():
        at = room()
        asking = asyncio.create_task(at.ask(observation(seats=2, cards=4), None))
        await asyncio.sleep(0)
        assert "99 is not a legal bid now" in at.answer(1, "99")
        assert "\x1b" not in at.answer(1, "\x1b[2J")
        assert not asking.done()
        assert at.answer(1, '{"bid": 2}') is None
        return await asking

    assert asyncio.run(asked()) == '{"bid": 2}'


def test_the_first_answer_counts_and_an_old_question_takes_none():
    async def asked():
        at = room()
        with pytest.raises(Closed):
            at.answer(0, "1")
        asking = asyncio.create_task(at.ask(observation(seats=2, cards=4), None))
        await asyncio.sleep(0)
        at.answer(1, "1")
        with pytest.raises(Closed):
            at.answer(1, "2")
        assert await asking == "1"
        again = asyncio.create_task(at.ask(observation(seats=2, cards=4), None))
        await asyncio.sleep(0)
        with pytest.raises(Closed):
            at.answer(1, "2")
        again.cancel()
        with pytest.raises(asyncio.CancelledError):
            await again
        with pytest.raises(Closed):
            at.answer(2, "2")

    asyncio.run(asked())


def test_an_answer_comes_from_another_thread():
    async def asked():
        at = room()
        asking = asyncio.create_task(at.ask(observation(seats=2, cards=4), None))
        await asyncio.sleep(0)
        other = threading.Thread(target=at.answer, args=(1, "4"))
        other.start()
        line = await asyncio.wait_for(asking, 5)
        other.join()
        return line

    assert asyncio.run(asked()) == "4"


def test_an_answer_after_the_end_of_the_loop_finds_nothing_open():
    at = room()

    async def asked():
        asyncio.get_running_loop().call_later(0.05, lambda: None)
        task = asyncio.create_task(at.ask(observation(seats=2, cards=4), None))
        await asyncio.sleep(0.01)
        task.cancel()

    asyncio.run(asked())
    with pytest.raises(Closed):
        at.answer(1, "1")


@pytest.mark.parametrize(
    ("game", "offered"), [("ballast", 75), ("persistent_calibration", 18), ("half_hearted_step", 0)]
)
def test_every_choice_offered_is_taken(game, offered):
    async def asked(place):
        at = room()
        seen = observation(game)
        asking = asyncio.create_task(at.ask(seen, None))
        await asyncio.sleep(0)
        ((_, question),) = await heard(at.stream(), named("question"))
        assert len(question["choices"]) == offered
        if not offered:
            assert at.answer(1, "5") is None
            await asking
            return
        assert at.answer(1, question["choices"][place][1]) is None
        await asking

    for place in {0, offered // 2, max(0, offered - 1)}:
        asyncio.run(asked(place))


def test_a_page_hears_of_its_seat_and_of_the_end_over_http():
    at = room()
    policy = HumanPolicy("goofspiel", at.ask)
    with serving(SeatPage(at)) as url, listening(url) as events:
        assert next(events) == ("wait", {"history": [], "begun": False})
        answered = []

        def play():
            reply = asyncio.run(policy.sit(0, None).decide(observation(seats=2, cards=4)))
            answered.append(reply.move)

        player = threading.Thread(target=play)
        player.start()
        name, question = next(events)
        assert name == "question"
        import httpx2

        with httpx2.Client(trust_env=False) as client:
            said = client.post(f"{url}move", json={"question": question["number"], "line": "77"})
            assert "77" in said.json()["refused"]
            said = client.post(f"{url}move", json={"question": question["number"], "line": "2"})
            assert (said.status_code, said.json()) == (200, {"refused": None})
        player.join(5)
        assert answered == [2]
        assert next(events)[0] == "wait"
        at.conclude({"lines": ["over"], "episode": None})
        assert next(events) == ("over", {"lines": ["over"], "episode": None})
        assert list(events) == []


def test_texts_of_the_page_are_neutralised():
    at = SeatRoom("Ash", "x\x1b[2J", "rules \u202e")
    assert "\x1b" not in json.dumps(at.about, ensure_ascii=False)
    assert "\u202e" not in json.dumps(at.about, ensure_ascii=False)

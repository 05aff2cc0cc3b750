"""Episodes worth a look: the right ones, and the first of equals."""

from __future__ import annotations

from tests.harness.report.small_runs import with_faults
from tests.harness.web.episodes import played
from weigh.harness.report.contents import notable
from weigh.harness.store.record import Record

RANKS = {"goofspiel": {"ann": 1, "bob": 2, "cy": 3}}


def episode(number: int, scores: tuple[float, ...], entrants: tuple[str, ...] = ("ann", "bob", "cy")) -> Record:
    record = played("goofspiel", {"seats": 3, "cards": 4}, seed=1)
    return record.model_copy(
        update={"key": f"goofspiel/b{number:04d}/r0", "entrants": entrants, "scores": scores, "events": ()}
    )


def found(*records, ranks=RANKS):
    return {each.why: each for each in notable([("run-1", record) for record in records], ranks).get("goofspiel", ())}


def test_the_biggest_upset_is_the_lowest_rank_over_the_highest():
    near = episode(0, (0.1, 0.9, -1.0))
    far = episode(1, (-0.2, 0.3, -0.1))
    upset = found(near, far)["upset"]
    assert (upset.episode, upset.who, upset.size) == (far.key, ("cy", "ann"), 2)


def test_of_equal_upsets_the_larger_score_counts_and_then_the_first():
    records = [episode(0, (0.0, -0.5, 0.5)), episode(1, (-0.5, -0.5, 1.0)), episode(2, (-0.5, -0.5, 1.0))]
    assert found(*records)["upset"].episode == records[1].key


def test_who_has_no_rank_upsets_nobody():
    assert "upset" not in found(episode(0, (0.0, -1.0, 1.0)), ranks={"goofspiel": {"ann": 1, "bob": 2}})
    assert "upset" not in found(episode(0, (1.0, 0.0, -1.0)))


def test_the_closest_is_the_least_between_the_first_two():
    wide, near = episode(0, (0.5, 0.1, -0.6)), episode(1, (0.2, 0.15, -0.35))
    close = found(wide, near)["closest"]
    assert (close.episode, close.who) == (near.key, ("ann", "bob"))
    assert abs(close.size - 0.05) < 1e-9


def test_where_every_episode_ends_alike_none_is_close():
    assert "closest" not in found(episode(0, (1.0, 0.0, -1.0)), episode(1, (1.0, 0.0, -1.0)))


def test_the_largest_overbid_names_its_step():
    events = (
        {"type": "reveal", "round": 2},
        {"type": "overbid", "seat": 1, "bid": 12, "over": 5, "margin": 7},
        {"type": "reveal", "round": 4},
        {"type": "overbid", "seat": 2, "bid": 13, "over": 4, "margin": 9},
    )
    overbid = found(episode(0, (0.0, 0.0, 0.0)).model_copy(update={"events": events}))["overbid"]
    assert (overbid.step, overbid.who, overbid.size) == (4, ("cy",), 9)


def test_the_most_faults_are_counted_over_all_seats():
    few = with_faults(episode(0, (0.0, 0.0, 0.0)), 0, "illegal")
    many = with_faults(episode(1, (0.0, 0.0, 0.0)), 1, "illegal", "empty", "refused")
    faults = found(few, many)["faults"]
    assert (faults.episode, faults.who, faults.size) == (many.key, ("bob",), 3)


def test_nothing_is_notable_of_nothing():
    assert notable([], {}) == {}
    assert found(episode(0, (0.0,), ("ann",))) == {}

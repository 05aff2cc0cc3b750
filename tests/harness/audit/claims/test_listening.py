"""A listener asked again, and a claimer's wishes read again: from finished runs of scripted policies."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.harness.audit.claims.claims_runs import SEED, plan_of, played
from weigh.harness.audit.claims.answer import records_of, report, settled
from weigh.harness.audit.claims.arms import ClaimsPlan
from weigh.harness.audit.claims.listening import (
    Heard,
    Sample,
    ask_again,
    listening,
    probe_key,
    samples,
    wants,
)
from weigh.harness.audit.measures.ballast import states_of
from weigh.harness.audit.redriven import Redriven
from weigh.harness.report.sections.claims import lines
from weigh.harness.seeds import stream
from weigh.harness.store.store import Store
from weigh.policies.scripted.registry import scripted


def heard_in(store: Store, plan: ClaimsPlan, wanted: int) -> list[Heard | None]:
    (direction,) = plan.directions
    chosen = samples(list(records_of(store, plan, None, direction)), direction.listener, wanted, SEED)
    return asyncio.run(ask_again(chosen, scripted("ballast", direction.listener), SEED, store, None))


def test_a_deaf_listener_gives_the_same_answer_to_both_questions(tmp_path: Path) -> None:
    plan = plan_of("feint", "deaf", 5)
    with played(tmp_path / "run", plan) as store:
        heard = heard_in(store, plan, 30)
    assert len(heard) == 30
    assert all(each is not None and each.control == each.replaced for each in heard)
    found = listening(heard)
    assert found.effect == 0
    assert found.control == found.replaced
    assert found.control is not None
    assert found.control > 0  # its dice are thrown again
    assert (found.interval, found.p) == (None, None)


def test_a_listener_moves_otherwise_more_often_when_a_claim_is_another(tmp_path: Path) -> None:
    plan = plan_of("feint", "steady", 8)
    with played(tmp_path / "run", plan) as store:
        found = listening(heard_in(store, plan, 60))
    assert (found.decisions, found.left_out) == (60, 0)
    assert found.effect is not None
    assert found.effect > 0.2
    assert found.p is not None
    assert found.p < 0.001


def test_more_decisions_begin_with_the_same_ones_and_are_the_listeners_own(tmp_path: Path) -> None:
    plan = plan_of("bluffer", "steady", 3)
    (direction,) = plan.directions
    with played(tmp_path / "run", plan) as store:
        normal = list(records_of(store, plan, None, direction))
    few, all_of_them = samples(normal, "steady", 5, SEED), samples(normal, "steady", 1000, SEED)
    assert all_of_them[:5] == few
    assert len(few) == 5
    assert len({(each.deal_key, each.step) for each in all_of_them}) == len(all_of_them)
    for each in all_of_them:
        state = states_of(each.record)[each.step]
        assert state.mover == each.seat
        assert each.record.entrants[each.seat] == "steady"
        assert state.legal(each.seat).hand
        assert any(weight.owner != each.seat and weight.status == "down" for weight in state.placed)
        assert not state.discarding


def test_questions_are_kept_under_names_that_no_episode_of_the_plan_has(tmp_path: Path) -> None:
    plan = plan_of("bluffer", "steady", 1)
    (direction,) = plan.directions
    with played(tmp_path / "run", plan) as store:
        (record, deal_key), *_ = records_of(store, plan, None, direction)
    keys = {probe_key(Sample(record, deal_key, 1, 1), kind) for kind in ("control", "replaced")}
    assert keys == {"ballast/listening/control/p0000/s0", "ballast/listening/replaced/p0000/s0"}
    assert not keys & {episode.key for episode in plan.episodes()}


def test_a_script_led_through_its_episode_again_makes_the_same_moves(tmp_path: Path) -> None:
    plan = plan_of("bluffer", "steady", 2)
    (direction,) = plan.directions
    with played(tmp_path / "run", plan) as store:
        for record, deal_key in records_of(store, plan, None, direction):
            for seat, name in enumerate(record.entrants):
                rng = stream(SEED, "seat", deal_key, seat)
                again = Redriven(scripted("ballast", name), record, states_of(record), seat, rng, store)

                async def moves(again: Redriven = again) -> list[Any]:
                    return [reply.move async for _, reply in again.decisions()]

                made = [row[seat] for row in record.moves if row[seat] is not None]
                assert asyncio.run(moves()) == made


@pytest.mark.parametrize(("claimer", "lies"), [("bluffer", 1.0), ("feint", 0.8), ("steady", 0.0)])
def test_what_a_claimer_wanted_to_say_is_found_again(tmp_path: Path, claimer: str, lies: float) -> None:
    plan = plan_of(claimer, "deaf", 2)
    (direction,) = plan.directions
    with played(tmp_path / "run", plan) as store:
        forced = list(records_of(store, plan, "force-truth", direction))
        said = asyncio.run(wants(forced, f"{claimer}~force-truth", scripted("ballast", claimer), SEED, store))
    placements = sum(
        row[seat] is not None and row[seat][0] == "place"  # type: ignore[index]
        for record, _ in forced
        for seat in (record.entrants.index(f"{claimer}~force-truth"),)
        for row in record.moves
    )
    assert said.placements == placements
    assert said.lies / said.placements == lies


# The statistic


def test_the_interval_is_clustered_by_episode() -> None:
    """Against the sandwich by hand: residual sums of episodes, G/(G-1) (n-1)/(n-1), t with G - 1 degrees of freedom."""
    from scipy.stats import t

    rng = Random(2)
    heard = [Heard(f"e{n % 7}", n, rng.random() < 0.2, rng.random() < 0.5) for n in range(40)]
    found = listening([*heard, None])
    difference = np.array([float(each.replaced) - float(each.control) for each in heard])
    sums = [sum(difference[n] - difference.mean() for n in range(40) if n % 7 == group) for group in range(7)]
    error = np.sqrt(7 / 6 * sum(each**2 for each in sums)) / 40
    half = t.ppf(0.975, 6) * error
    assert (found.decisions, found.episodes, found.left_out) == (40, 7, 1)
    assert found.interval == pytest.approx((difference.mean() - half, difference.mean() + half))


def test_one_episode_or_none_has_no_interval() -> None:
    assert listening([]).effect is None
    assert listening([None]).left_out == 1
    one = listening([Heard("e", 1, False, True), Heard("e", 3, False, False)])
    assert (one.effect, one.interval) == (0.5, None)


# The report


@pytest.mark.slow
def test_the_report_of_a_listener_and_of_a_deaf_one(tmp_path: Path) -> None:
    told = {}
    for listener in ("steady", "deaf"):
        plan = plan_of("feint", listener, 80)  # the fewest that Holm lets rule out 0.1 thrice
        with played(tmp_path / listener, plan) as store:
            told[listener] = report(store, plan, 0.1, {})
        for wide in (False, True):
            assert all(len(line) <= 80 for line in lines(told[listener], 0, wide=wide))
    hears, deaf = (told[name]["directions"][0] for name in ("steady", "deaf"))
    assert [each["verdict"] for each in hears["contrasts"]] == ["differs"] * 3
    assert all(each["difference"] > 0.1 for each in hears["contrasts"])
    assert [each["verdict"] for each in deaf["contrasts"]] == ["equivalent"] * 3
    assert [each["difference"] for each in deaf["contrasts"]] == [0.0] * 3
    heard, ignored = (" ".join(" ".join(lines(told[name], 0)).split()) for name in ("steady", "deaf"))
    assert heard.startswith("feint's claims are worth +0.")
    assert "they are read (exit 0)" in heard
    assert ignored.startswith("feint's claims make no difference above the equivalence margin of 0.1")
    assert "What feint announces and the truth win at the same rate, within 0.1." in ignored
    assert settled(told["steady"])
    assert settled(told["deaf"])
    # Either way the claims tell the weight; only one of the two listens.
    assert hears["signalling"]["information"] == pytest.approx(2.29, abs=0.03)


def test_pairs_count_only_when_both_their_seatings_are_finished_in_both_arms(tmp_path: Path) -> None:
    plan = plan_of("feint", "steady", 4)
    with played(tmp_path / "run", plan) as store:
        whole = report(store, plan, 0.1, {})
        store._db.execute("UPDATE seats SET score = NULL WHERE episode = 3")  # mute, pair 0, seating 0
        cut = report(store, plan, 0.1, {})
    assert [each["blocks"] for each in whole["directions"][0]["contrasts"]] == [4, 4, 4]
    assert [each["blocks"] for each in cut["directions"][0]["contrasts"]] == [3, 4, 4]


def test_a_report_on_nothing_says_so(tmp_path: Path) -> None:
    plan = plan_of("feint", "steady", 2)
    empty = ClaimsPlan(plan.directions, 3)
    with played(tmp_path / "run", plan) as store:
        store._db.execute("DELETE FROM records")
        store._db.execute("UPDATE seats SET score = NULL")
        told = report(store, empty, 0.1, {})
    assert told["episodes"] == {"planned": 24, "finished": 0}
    assert not settled(told)
    assert "stopped   not all is played: 0 of 24 episodes are finished" in lines(told, 4)
    assert told["directions"][0]["claims"]["lie_rate"] is None


def test_episodes_whose_changes_cancel_have_no_interval() -> None:
    """Each episode has one more change in three decisions: thirds leave a spread of 1e-17, and that is none."""
    heard = [Heard(f"e{n // 3}", n, False, n % 3 == 0) for n in range(30)]
    found = listening(heard)
    assert found.effect == pytest.approx(1 / 3)
    assert (found.interval, found.p) == (None, None)

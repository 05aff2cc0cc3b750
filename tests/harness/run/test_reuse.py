"""Answers used again: only the very same question, only an answer, at no cost, and never one answer twice."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.harness.run.scripted_client import price
from tests.harness.run.toy_run import MODELS, NAMES, SEED, Follower, Model, division
from tests.harness.run.toy_run import planned as toy_episodes
from tests.harness.store.store_cases import MODEL, call, manifest, planned, record, request
from weigh.harness.config.schedule import Episode
from weigh.harness.errors import StoreRefused
from weigh.harness.run.concurrency import Slots
from weigh.harness.run.limits import Brake, Ceilings
from weigh.harness.run.model_calls import Exchange
from weigh.harness.run.reuse import Reusing, earlier_run
from weigh.harness.run.runner import Division, Keeper, Pace, Run, Summary
from weigh.harness.store.calls import Call, CallKey
from weigh.harness.store.store import Store
from weigh.policies.contract import Completion, Message, Sampling

ENDPOINT = {"wire": "openai-chat", "base_url": "https://api.openai.com/v1", "temperature": None}


def new_run(folder: Path, run_id: str = "new", models: Any = None, episodes: Sequence[Episode] | None = None) -> Store:
    config = {"models": {MODEL: ENDPOINT} if models is None else models}
    schedule = planned(3) if episodes is None else episodes
    return Store.create(folder, manifest(schedule, run_id=run_id, config=config, seed=SEED), schedule)


def kept(folder: Path, *calls: Call, **more: Any) -> Path:
    with new_run(folder, "old", **more) as store:
        for each in calls:
            store.add_call(each)
    return folder


def found(old: Path, key: CallKey, asked: Any = None, models: Any = None) -> Call | None:
    wanted = manifest(config={"models": {MODEL: ENDPOINT} if models is None else models})
    with earlier_run(old, wanted, old.parent / "new") as earlier:
        return earlier.answer(key, asked or request())


# -- which answers -----------------------------------------------------------------------------------------------------


def test_the_very_same_question_is_answered(tmp_path: Path) -> None:
    made = call()
    assert found(kept(tmp_path / "old", made), made.key) == made


@pytest.mark.parametrize("changed", [{"seat": 1}, {"step": 1}, {"attempt": 2}, {"episode": "coin/b0000/r1"}])
def test_another_episode_seat_step_or_attempt_is_another_question(tmp_path: Path, changed: dict[str, Any]) -> None:
    made = call()
    assert found(kept(tmp_path / "old", made), replace(made.key, **changed)) is None


@pytest.mark.parametrize(
    "asked",
    [
        request("Your bid, please?"),
        request(sampling=Sampling(temperature=0.5, extra={"effort": "low"})),
        request(sampling=Sampling(max_tokens=7, temperature=0.0, extra={"effort": "low"})),
        request(sampling=Sampling(temperature=0.0, seed=1, extra={"effort": "low"})),
        request(sampling=Sampling(temperature=0.0, extra={"effort": "high"})),
        request(schema={"type": "object"}),
        request(messages=(Message("user", "Your bid?"),)),
    ],
)
def test_other_messages_sampling_or_schema_are_another_question(tmp_path: Path, asked: Any) -> None:
    made = call()
    assert found(kept(tmp_path / "old", made), made.key, asked) is None


def test_another_endpoint_is_another_question(tmp_path: Path) -> None:
    made = call()
    old = kept(tmp_path / "old", made)
    for other in ({"wire": "anthropic"}, {"base_url": "https://proxy.example/v1"}, {"supports_temperature": False}):
        models = {MODEL: {**ENDPOINT, **other}}
        assert found(old, made.key, models=models) is None
        with earlier_run(old, manifest(config={"models": models}), tmp_path / "new") as earlier:
            assert earlier.otherwise == (MODEL,)
    with earlier_run(old, manifest(config={"models": {MODEL: ENDPOINT, "x:y": ENDPOINT}}), tmp_path / "new") as earlier:
        assert earlier.otherwise == ()


@pytest.mark.parametrize(
    "made",
    [
        call(fate="timed_out", error="late", billing="unknown", cost=None),
        call(fate="wait"),
        call(fate="outage"),
        call(fate="fatal"),
        call(fate="lost", error="gone", billing="unknown", cost=None),
        call(completion=Completion("", "refusal")),
        call(completion=Completion("I would rather not.", "refusal", stop_detail="content_filter")),
        # As an earlier version kept them: every word it did not know was an end.
        call(completion=Completion('I think {"bid": 1} but wait', "end", stop_detail="abort")),
        call(completion=Completion('I think {"bid": 1} but wait', "end", stop_detail="halted")),
    ],
    ids=lambda made: made.fate,
)
def test_failures_timeouts_refusals_and_what_may_be_broken_off_are_asked_anew(tmp_path: Path, made: Call) -> None:
    assert found(kept(tmp_path / "old", made), made.key) is None


@pytest.mark.parametrize(
    "completion",
    [
        Completion("", "end", stop_detail="stop"),
        Completion('{"bid": 1', "length"),
        Completion("", "end"),
        Completion('{"bid": 1', "unknown", stop_detail="halted"),
    ],
)
def test_an_answer_without_a_move_is_an_answer(tmp_path: Path, completion: Completion) -> None:
    made = call(completion=completion)
    again = found(kept(tmp_path / "old", made), made.key)
    assert again is not None
    assert again.completion == completion


def test_an_answer_after_failures_is_found(tmp_path: Path) -> None:
    made = call(number=2)
    again = found(kept(tmp_path / "old", call(fate="wait"), call(number=1, fate="lost", error="gone"), made), made.key)
    assert again == made


# -- how it is kept ----------------------------------------------------------------------------------------------------


def test_a_reused_answer_is_kept_as_such_and_found_without_the_earlier_run(tmp_path: Path) -> None:
    made = call(text="seven")
    old = kept(tmp_path / "old", made)
    with new_run(tmp_path / "new") as store:
        lost = store.begin_call(made.key, made.request, made.started)
        with earlier_run(old, store.manifest, store.folder) as earlier:
            keeper = Reusing(store, earlier)
            first, second = keeper.paid(made.key, request()), keeper.paid(made.key, request())
        assert first is not None
        assert first == second
        assert (first.number, first.fate, first.billing, first.cost, first.latency) == (1, "reused", "none", 0.0, 0.0)
        assert first.completion == made.completion
        assert first.reused_from == "old coin/b0000/r0"
        assert store.paid(made.key, request()) == first
        assert lost == 0
        assert (store.totals().calls, store.totals().reused_calls) == (1, 1)


def test_what_was_reused_before_keeps_its_first_origin(tmp_path: Path) -> None:
    old = kept(tmp_path / "old", call(fate="reused"))
    with new_run(tmp_path / "new") as store, earlier_run(old, store.manifest, store.folder) as earlier:
        again = Reusing(store, earlier).paid(call().key, request())
        assert again is not None
        assert again.reused_from == "20260430-090000-s7-00000000 coin/b0000/r0"


def test_the_runs_own_answer_goes_before_the_earlier_one(tmp_path: Path) -> None:
    old = kept(tmp_path / "old", call(text="old"))
    mine = call(text="mine")
    with new_run(tmp_path / "new") as store, earlier_run(old, store.manifest, store.folder) as earlier:
        keeper = Reusing(store, earlier)
        keeper.begin_call(mine.key, mine.request, mine.started)
        keeper.end_call(mine)
        assert keeper.paid(mine.key, request()) == mine
        keeper.add_record(record(planned(1)[0]))
        assert store.finished() == ("coin/b0000/r0",)


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_what_cannot_be_reused_is_told(tmp_path: Path) -> None:
    wanted = manifest(config={"models": {MODEL: ENDPOINT}})
    with pytest.raises(StoreRefused, match="does not exist"), earlier_run(tmp_path / "no", wanted, tmp_path / "new"):
        pass
    old = kept(tmp_path / "old", models={"other:model": ENDPOINT})
    with pytest.raises(StoreRefused, match="asked none of this run's models"), earlier_run(old, wanted, tmp_path / "n"):
        pass
    with pytest.raises(StoreRefused, match="is this run itself"), earlier_run(old, wanted, tmp_path / "." / "old"):
        pass


# -- whole runs --------------------------------------------------------------------------------------------------------


def play(
    folder: Path,
    model: Model,
    old: Path | None = None,
    *,
    brake: Brake | None = None,
    names: Sequence[str] = NAMES,
    game: Division | None = None,
) -> Summary:
    """One sitting of a ladder of four prompted entrants."""
    episodes = toy_episodes(names, 2)
    models = {MODELS[name]: ENDPOINT for name in names if name in MODELS}
    if not folder.exists():
        new_run(folder, f"run-{folder.name}", models, episodes).close()

    async def sit(store: Store, keeper: Keeper) -> Summary:
        exchanges = {MODELS[name]: Exchange(model, Slots(100), price, 60.0, 1) for name in names if name in MODELS}
        divisions = {"toy": game or division(names)}
        run = Run(SEED, divisions, keeper, exchanges, brake or Brake(), Follower(), Pace(episodes_in_flight=4))
        return await run.play(episodes, frozenset(store.finished()))

    with Store.open(folder) as store:
        if old is None:
            return asyncio.run(sit(store, store))
        with earlier_run(old, store.manifest, folder) as earlier:
            return asyncio.run(sit(store, Reusing(store, earlier)))


def records(folder: Path) -> list[str]:
    with Store.open(folder, readonly=True) as store:
        return [record.comparable() for record in store.records()]


def calls(folder: Path) -> list[Call]:
    with Store.open(folder, readonly=True) as store:
        return list(store.calls())


def test_the_same_ladder_again_asks_nothing_and_ends_alike(tmp_path: Path) -> None:
    first, second = Model(), Model()
    play(tmp_path / "old", first)
    assert play(tmp_path / "new", second, tmp_path / "old").complete
    assert second.asked == []
    assert records(tmp_path / "new") == records(tmp_path / "old")
    assert {each.fate for each in calls(tmp_path / "new")} == {"reused"}
    assert [each.completion for each in calls(tmp_path / "new")] == [
        each.completion for each in calls(tmp_path / "old")
    ]
    assert len(calls(tmp_path / "new")) == len(first.asked)


def test_no_earlier_answer_is_used_for_two_attempts(tmp_path: Path) -> None:
    play(tmp_path / "old", Model())
    play(tmp_path / "new", Model(), tmp_path / "old")
    used = [(each.reused_from, each.key.seat, each.key.step, each.key.attempt) for each in calls(tmp_path / "new")]
    assert len(set(used)) == len(used)
    assert all(each.reused_from == f"run-old {each.key.episode}" for each in calls(tmp_path / "new"))


def test_one_changed_prompt_is_asked_anew_and_so_is_what_follows_from_it(tmp_path: Path) -> None:
    play(tmp_path / "old", Model())
    changed = division()
    policies = {**changed.policies, "ann": replace(changed.policies["ann"], sampling=Sampling(max_tokens=50))}  # type: ignore[type-var]
    model = Model()
    assert play(tmp_path / "new", model, tmp_path / "old", game=replace(changed, policies=policies)).complete
    made = calls(tmp_path / "new")
    assert {each.fate for each in made if each.request.model == MODELS["ann"]} == {"answered"}
    first = [each for each in made if each.key.step == 0 and each.request.model != MODELS["ann"]]
    assert {each.fate for each in first} == {"reused"}, "nobody has seen her move yet"
    assert len(model.asked) == sum(each.fate == "answered" for each in made)


def test_reused_answers_count_under_no_ceiling(tmp_path: Path) -> None:
    play(tmp_path / "old", Model())
    brake = Brake(Ceilings(calls=1, tokens=1, usd=1e-9))
    assert play(tmp_path / "new", Model(), tmp_path / "old", brake=brake).complete
    assert brake.pulled is None


def test_a_run_that_stopped_goes_on_with_or_without_the_earlier_run(tmp_path: Path) -> None:
    play(tmp_path / "half", Model(), brake=Brake(Ceilings(calls=40)))
    made = len(calls(tmp_path / "half"))
    for name, old in (("with", tmp_path / "half"), ("without", None)):
        model = Model()
        brake = Brake(Ceilings(calls=5))
        play(tmp_path / name, model, tmp_path / "half", brake=brake)
        assert brake.pulled == "ceiling"
        assert play(tmp_path / name, model, old).complete
        reused = sum(each.fate == "reused" for each in calls(tmp_path / name))
        assert 0 < reused <= made
        assert len(model.asked) == len(calls(tmp_path / name)) - reused
    play(tmp_path / "whole", Model())
    assert records(tmp_path / "with") == records(tmp_path / "without") == records(tmp_path / "whole")


def test_an_earlier_run_may_be_going_on(tmp_path: Path) -> None:
    with (
        new_run(tmp_path / "old", "old") as writing,
        new_run(tmp_path / "new") as store,
        earlier_run(tmp_path / "old", store.manifest, store.folder) as earlier,
    ):
        assert earlier.answer(call().key, request()) is None
        writing.add_call(call())
        assert earlier.answer(call().key, request()) == call()

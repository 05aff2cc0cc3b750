"""How long an attempt goes on: waits, tries, time, and who is charged when it runs out."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.run.scripted_client import busy, limited, refused_key
from weigh.harness.providers.errors.failures import CallFailed, Progress
from weigh.harness.run.model_calls import FIRST_WAIT, LONGEST_WAIT, ODD_TRIES, SPREAD, Patience
from weigh.policies.contract import DecisionTimedOut

SECONDS = st.floats(0.0, 1e4)


def waits(patience: Patience, failures: list[CallFailed]) -> list[float | None]:
    found = []
    for failure in failures:
        patience.failed(failure)
        found.append(patience.wait)
    return found


@given(seed=st.integers(0, 2**32))
def test_waits_double_with_jitter_below_up_to_the_longest(seed: int) -> None:
    found = waits(Patience(1e6, 99, Random(seed)), [busy() for _ in range(12)])
    for number, wait in enumerate(found):
        doubled = min(LONGEST_WAIT, FIRST_WAIT * 2**number)
        assert wait is not None
        assert doubled / 2 <= wait <= doubled


def test_seats_that_fail_together_do_not_come_back_together() -> None:
    first = {waits(Patience(60.0, 8, Random(seed)), [busy()])[0] for seed in range(50)}
    told = {waits(Patience(60.0, 8, Random(seed)), [limited(2.0)])[0] for seed in range(50)}
    assert len(first) == len(told) == 50


@given(asked=SECONDS, seed=st.integers(0, 2**32), before=st.integers(0, 20))
def test_a_wait_that_was_asked_for_is_never_shortened_and_hardly_lengthened(
    asked: float, seed: int, before: int
) -> None:
    wait = waits(Patience(1e6, 99, Random(seed)), [limited(asked) for _ in range(before + 1)])[-1]
    assert wait is not None
    assert asked <= wait <= asked + SPREAD * min(LONGEST_WAIT, FIRST_WAIT * 2**before)


@given(seconds=st.floats(0.01, 1e3), spent=SECONDS, asked=st.none() | SECONDS)
def test_no_wait_is_begun_that_the_time_does_not_allow(seconds: float, spent: float, asked: float | None) -> None:
    patience = Patience(seconds, 8, Random(1))
    patience.spend(spent)
    patience.failed(limited(asked))
    if patience.pause is None:
        assert patience.wait is None or patience.wait < seconds - spent
    else:
        assert patience.pause == asked
        assert patience.left == seconds


@pytest.mark.parametrize("tries", [1, 2, 8])
def test_P04_a_provider_that_always_fails_is_tried_exactly_so_often(tries: int) -> None:
    found = waits(Patience(1e6, tries, Random(1)), [busy() for _ in range(tries)])
    assert [wait is None for wait in found] == [False] * (tries - 1) + [True]


def test_rate_limits_are_not_tries_but_other_failures_between_them_are() -> None:
    patience = Patience(1e6, 3, Random(1))
    failures = [limited(1.0), busy(), limited(1.0), limited(1.0), limited(1.0), busy(), limited(1.0), busy()]
    assert [wait is None for wait in waits(patience, failures)] == [False] * 7 + [True]


def test_thousands_of_rate_limits_are_survived() -> None:
    found = waits(Patience(1e9, 8, Random(1)), [limited() for _ in range(3000)])
    assert found[-1] is not None
    assert found[-1] <= LONGEST_WAIT


def test_a_refusal_that_no_wait_can_mend_is_not_waited_for() -> None:
    assert waits(Patience(60.0, 8, Random(1)), [refused_key(), CallFailed("outage", "no credit line")]) == [None, None]


@pytest.mark.parametrize("status", [429, 503, 529])
def test_a_wait_that_the_decision_has_no_time_for_pauses_the_model_and_begins_the_attempt_again(status: int) -> None:
    patience = Patience(60.0, 2, Random(1))
    for _ in range(5):
        patience.spend(59.0)
        patience.failed(CallFailed("wait", "busy", wait=3600.0, status=status))
        assert (patience.wait, patience.pause, patience.left) == (0.0, 3600.0, 60.0)
    patience.failed(CallFailed("wait", "busy", wait=5.0, status=status))
    assert patience.pause is None
    assert patience.wait is not None


@pytest.mark.parametrize(
    "failure",
    [CallFailed("wait", "broken", wait=3600.0, status=500), CallFailed("wait", "busy", wait=0.0, status=429),
     CallFailed("wait", "busy", status=429), CallFailed("fatal", "no", wait=3600.0, status=429)],
)  # fmt: skip
def test_nothing_else_pauses_a_model(failure: CallFailed) -> None:
    patience = Patience(60.0, 8, Random(1))
    patience.spend(60.0)
    patience.failed(failure)
    assert (patience.wait, patience.pause) == (None, None)


ODD = CallFailed("fatal", "a web page", billing="none", status=200, odd=True)


def test_an_odd_answer_is_fatal_where_the_model_has_never_answered() -> None:
    assert Patience(60.0, 8, Random(1)).odd(ODD, 0) is ODD


def test_an_odd_answer_after_good_ones_passes_until_it_has_repeated() -> None:
    patience = Patience(60.0, 8, Random(1))
    found = [patience.odd(ODD, 8) for _ in range(ODD_TRIES)]
    assert [each.decision for each in found] == ["wait"] * (ODD_TRIES - 1) + ["fatal"]
    assert {(each.status, each.billing) for each in found} == {(200, "none")}
    assert found[0].cause == ODD.cause
    assert "5 times in a row, after 8 good answers" in found[-1].cause


def test_a_good_answer_to_anybody_begins_the_count_of_odd_ones_again() -> None:
    patience = Patience(60.0, 8, Random(1))
    assert {patience.odd(ODD, 8 + number).decision for number in range(3 * ODD_TRIES)} == {"wait"}


def test_running_out_of_time_is_the_policys_where_its_call_had_the_time() -> None:
    patience = Patience(60.0, 8, Random(1))
    whole = patience.ran_out(60.0, Progress(sent=True))
    assert isinstance(whole, DecisionTimedOut)
    assert str(whole) == "no answer within 60 s"
    # One dropped connection, half a second later: the model had all but that.
    assert str(patience.ran_out(59.4, Progress())) == str(whole)


def test_running_out_of_time_is_no_fault_where_nothing_was_sent_or_an_error_came() -> None:
    patience, refused = Patience(60.0, 8, Random(1)), CallFailed("wait", "status 503", status=503)
    unsent = patience.ran_out(60.0, Progress(sent=False))
    assert isinstance(unsent, CallFailed)
    assert (unsent.decision, unsent.billing) == ("outage", "none")
    assert patience.ran_out(60.0, Progress(sent=True, status=503, failure=refused)) is refused
    # A good status whose body never came: the request was taken, and silence followed.
    assert isinstance(patience.ran_out(60.0, Progress(sent=True, status=200)), DecisionTimedOut)


def test_running_out_of_time_is_an_outage_where_the_provider_had_taken_it() -> None:
    failure = Patience(60.0, 8, Random(1)).ran_out(12.0, Progress(sent=True))
    assert isinstance(failure, CallFailed)
    assert failure.decision == "outage"
    assert "took 48 of 60 s" in failure.cause

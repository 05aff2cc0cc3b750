"""Which rule takes a request: conditions, counts, shares and ceilings. No HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness.providers.mock_server.asking import call, conversation
from weigh.harness.providers.mock_server.exchange import Call
from weigh.harness.providers.mock_server.fault_plan import FaultPlan, Verdict
from weigh.harness.providers.mock_server.rules import Cut, Limit, Reply, Respond, Rule


class Asking:
    """A plan at work under a clock that the test sets."""

    def __init__(self, *rules: Rule, seed: int = 0) -> None:
        self.plan = FaultPlan(rules, seed, 1000.0)

    def verdict(self, question: Call | None = None, *, at: float = 0.0, tag: str = "", busy: int = 0) -> Verdict:
        question = question or call()
        return self.plan.decide(question, tag, 1000.0 + at, {question.model: busy} if busy else {})

    def taken(self, question: Call | None = None, **more: Any) -> bool:
        return self.verdict(question, **more).rule is not None


@pytest.mark.parametrize(
    ("rule", "yes", "no"),
    [
        (Respond(status=503, model="mock-*"), call(model="mock-a"), call(model="other")),
        (Respond(status=503, wire="messages"), call("messages"), call("chat")),
        (Respond(status=503, contains="Rival says hi"), call(text="Then Rival says hi."), call(text="Rival")),
        (Respond(status=503, has="max_tokens"), call(max_tokens=5), call(max_completion_tokens=5)),
        (Respond(status=503, has="a.b"), call(a={"b": 0}), call(a={"b": None})),
        (Respond(status=503, longer_than=100), call(text="x" * 500), call(text="x" * 100)),
        (
            Respond(status=503, turns="repeated"),
            call(sent=conversation("chat", ("system", "s"), ("user", "a"), ("user", "b"))),
            call(sent=conversation("chat", ("system", "s"), ("user", "a"), ("assistant", "b"), ("user", "c"))),
        ),
        (
            Respond(status=503, turns="empty"),
            call(sent=conversation("chat", ("user", "a"), ("assistant", ""), ("user", "b"))),
            call(sent=conversation("chat", ("user", "a"), ("assistant", "x"), ("user", "b"))),
        ),
    ],
    ids=lambda value: value.model_dump_json(exclude_defaults=True) if isinstance(value, Rule) else "",
)
def test_a_condition_holds_for_the_requests_it_describes(rule: Rule, yes: Call, no: Call) -> None:
    asking = Asking(rule)
    assert asking.taken(yes)
    assert not asking.taken(no)


def test_a_tag_and_elapsed_seconds_are_conditions() -> None:
    asking = Asking(Respond(status=503, tag="seat-*", elapsed="1-3s"))
    assert [asking.taken(at=at, tag="seat-1") for at in (0.9, 1.0, 2.9, 3.0)] == [False, True, True, False]
    assert not asking.taken(at=2, tag="other")


def test_the_first_rule_that_is_due_takes_the_request() -> None:
    asking = Asking(Respond(status=503, name="one", nth=2), Cut(name="two"))
    assert [asking.verdict().name for _ in range(3)] == ["two", "one", "two"]


def test_rules_without_a_name_are_called_by_their_place() -> None:
    assert Asking(Respond(status=503, nth=99), Respond(status=503)).verdict().name == "rule 2"


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"nth": 2}, [2]),
        ({"nth": "2-4"}, [2, 3, 4]),
        ({"nth": "7-"}, [7, 8, 9]),
        ({"nth": [1, "3-4"]}, [1, 3, 4]),
        ({"every": 3}, [3, 6, 9]),
        ({"every": 2, "nth": "4-"}, [4, 6, 8]),
    ],
)
def test_nth_and_every_count_the_requests_a_rule_concerns(conditions: dict[str, Any], expected: list[int]) -> None:
    asking = Asking(Respond(status=503, model="mock-*", **conditions))
    found = []
    for number in range(1, 10):
        asking.taken(call(model="other"))  # concerns the rule not at all
        if asking.taken():
            found.append(number)
    assert found == expected


def test_rules_also_count_what_an_earlier_rule_took() -> None:
    asking = Asking(Cut(name="cut", nth=1), Respond(status=503, name="busy", nth=2))
    assert [asking.verdict().name for _ in range(3)] == ["cut", "busy", None]


def test_counts_are_kept_per_model_or_per_identical_request() -> None:
    by_model = Asking(Respond(status=503, nth=1, per="model"))
    assert [by_model.taken(call(model=m)) for m in "abab"] == [True, True, False, False]
    by_request = Asking(Respond(status=503, nth=1, per="request"))
    assert [by_request.taken(call(text=t)) for t in "abab"] == [True, True, False, False]


def test_a_share_is_drawn_anew_each_time_the_same_request_is_seen() -> None:
    rule = Respond(status=503, share=0.3)
    asking = Asking(rule)
    draws = [[asking.taken(call(text=f"request {n}")) for n in range(200)] for _ in range(5)]
    assert all(35 < sum(draw) < 85 for draw in draws)
    assert len({tuple(draw) for draw in draws}) == 5
    again = Asking(rule)
    assert [[again.taken(call(text=f"request {n}")) for n in range(200)] for _ in range(5)] == draws
    other = Asking(rule, seed=1)
    assert [other.taken(call(text=f"request {n}")) for n in range(200)] != draws[0]


def test_a_share_does_not_depend_on_the_order_of_requests() -> None:
    first, second = Asking(Respond(status=503, share=0.5)), Asking(Respond(status=503, share=0.5))
    forwards = {n: first.taken(call(text=str(n))) for n in range(50)}
    backwards = {n: second.taken(call(text=str(n))) for n in reversed(range(50))}
    assert forwards == backwards


def test_shares_of_two_rules_are_drawn_apart() -> None:
    asking = Asking(Reply(name="a", share=0.5), Reply(name="b", share=0.5))
    found = [asking.verdict(call(text=str(n))).name for n in range(400)]
    assert all(60 < found.count(rule) < 140 or rule == "a" for rule in ("b", None))


def test_p02_a_held_refusal_lasts_until_the_time_it_announced() -> None:
    asking = Asking(Respond(status=429, retry_after="date+1.8s", hold=True, nth=1))
    first = asking.verdict(at=0.1)
    assert first.headers == {"Retry-After": "Thu, 01 Jan 1970 00:16:42 GMT"}  # 1000.1 + 1.8, rounded up to 1002
    assert asking.verdict(at=1.95).headers == first.headers
    assert not asking.taken(at=2.0)
    assert not asking.taken(at=2.1)


def test_a_held_refusal_tells_the_time_that_is_left() -> None:
    asking = Asking(Respond(status=429, retry_after="2s", hold=True, nth=1))
    assert asking.verdict().headers == {"Retry-After": "2"}
    assert asking.verdict(at=1.5).headers == {"Retry-After": "0.5"}
    assert not asking.taken(at=2.0)


def test_a_ceiling_of_requests_lets_a_burst_pass_and_then_its_rate() -> None:
    asking = Asking(Limit(requests_per_minute=60, burst=3))
    assert [asking.taken() for _ in range(5)] == [False, False, False, True, True]
    assert not asking.taken(at=1.0)
    assert asking.taken(at=1.5)
    assert not asking.taken(at=2.0)


def test_a_ceiling_tells_its_state_in_the_headers_of_each_provider() -> None:
    asking = Asking(Limit(requests_per_minute=60, burst=1))
    assert asking.verdict().headers == {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "1000ms",
    }
    refused = asking.verdict(at=0.25)
    assert refused.rule is not None
    assert (refused.headers["retry-after"], refused.headers["retry-after-ms"]) == ("1", "750")
    told = asking.verdict(call("messages"), at=0.25).headers
    assert told == {
        "anthropic-ratelimit-requests-limit": "60",
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "1970-01-01T00:16:41Z",
        "retry-after": "1",
    }


def test_coming_back_when_told_is_never_too_early() -> None:
    asking = Asking(Limit(requests_per_minute=7, burst=1))
    asking.taken()
    at = 0.0
    for _ in range(20):
        refused = asking.verdict(at=at)
        assert refused.rule is not None
        at += int(refused.headers["retry-after-ms"]) / 1000
        assert not asking.taken(at=at)


def test_a_ceiling_of_tokens_counts_the_prompt_and_the_cap() -> None:
    asking = Asking(Limit(tokens_per_minute=1000))
    question = call(text="x" * 4 * 96, max_tokens=400)  # 96 tokens of text, 4 for the turn, 400 reserved
    assert [asking.taken(question) for _ in range(3)] == [False, False, True]
    assert asking.verdict(question).headers["x-ratelimit-remaining-tokens"] == "0"


def test_a_ceiling_of_requests_in_flight_counts_all_models_or_each() -> None:
    together = Asking(Limit(in_flight=3))
    assert [together.taken(busy=busy) for busy in (0, 2, 3)] == [False, False, True]
    each = Asking(Limit(in_flight=3, per="model"))
    assert each.plan.decide(call(model="a"), "", 1000.0, {"b": 9}).rule is None


def test_ceilings_per_model_fill_apart() -> None:
    asking = Asking(Limit(requests_per_minute=60, burst=1, per="model"))
    assert [asking.taken(call(model=m)) for m in "abab"] == [False, False, True, True]


def test_a_request_that_another_rule_takes_costs_a_later_ceiling_nothing() -> None:
    asking = Asking(Respond(status=503, nth="1-5"), Limit(requests_per_minute=60, burst=1))
    assert [asking.verdict().name for _ in range(7)] == ["rule 1"] * 5 + [None, "rule 2"]

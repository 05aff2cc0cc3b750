"""Pauses and odd answers with the mock server, on every wire: one bad moment of a provider ends nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, TypeAlias

import pytest

from tests.harness.providers.raw_server import ENVIRON, request
from tests.harness.run.scripted_client import Book, Naps, exchange
from tests.harness.run.seat_lines import seat_line
from tests.harness.run.test_pauses import HOUR, Clock
from weigh.harness.providers.client import client_for
from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.providers.mock_server import MockServerProcess, read_plan
from weigh.harness.run.concurrency import Slots
from weigh.harness.run.limits import Brake
from weigh.harness.run.model_calls import ODD_TRIES
from weigh.policies.contract import Completion, Fatal, Outage

WIRES = ("openai-chat", "openai-responses", "anthropic")
each_wire = pytest.mark.parametrize("wire", WIRES)

Rule: TypeAlias = Mapping[str, Any]
"""What a fault plan says, without which requests meet it."""

PAGE: Rule = {"do": "html"}
CUT: Rule = {"do": "respond", "status": 400, "message": "unexpected end of data"}
ELSEWHERE: Rule = {"do": "respond", "status": 302, "headers": {"Location": "https://login.example/"}, "body": ""}
each_oddity = pytest.mark.parametrize("odd", [PAGE, CUT, ELSEWHERE], ids=["page", "400", "redirect"])


class Asked:
    """Decisions of one model, put one after the other until one has no answer, with all that happened kept."""

    def __init__(self, server: MockServerProcess, wire: str, rule: Rule, nth: str, decisions: int = 10) -> None:
        server.reset()
        server.follow(read_plan({"rules": [{**rule, "nth": nth}]}))
        url = server.anthropic_url if wire == "anthropic" else server.openai_url
        provider = "anthropic" if wire == "anthropic" else "openai"
        self._endpoint = endpoint_for(f"{provider}:mock-a", {provider: {"wire": wire, "base_url": url}})
        self.book, self.naps, self.brake, self.clock = Book(), Naps(), Brake(), Clock()
        self.answers: list[Completion] = []
        self.failure: Fatal | Outage | None = None
        asyncio.run(self._ask(decisions))
        self.requests: int = server.stats()["requests"]

    async def _ask(self, decisions: int) -> None:
        client = client_for(self._endpoint, ENVIRON)
        shared = exchange(client, slots=Slots(8, pauses=self.clock.pauses()))
        line = seat_line(shared, self.book, brake=self.brake, sleep=self.naps)
        try:
            for step in range(decisions):
                line.open(step, 1)
                async with asyncio.timeout(15):
                    self.answers.append(await line.complete(request()))
        except (Fatal, Outage) as failure:
            self.failure = failure
        finally:
            await client.aclose()


@each_wire
@each_oddity
def test_one_odd_answer_after_eight_good_ones_is_asked_again_and_nothing_else(
    server: MockServerProcess, wire: str, odd: Rule
) -> None:
    asked = Asked(server, wire, odd, "9")
    assert len(asked.answers) == 10
    assert asked.failure is asked.brake.pulled is None
    assert asked.book.fates == ["answered"] * 8 + ["wait"] + ["answered"] * 2
    assert asked.requests == 11


@each_wire
@each_oddity
def test_an_odd_answer_that_repeats_is_fatal_and_says_how_often(
    server: MockServerProcess, wire: str, odd: Rule
) -> None:
    asked = Asked(server, wire, odd, "9-")
    assert isinstance(asked.failure, Fatal)
    assert asked.brake.pulled == "fatal"
    assert f"{ODD_TRIES} times in a row, after 8 good answers" in asked.brake.reason
    assert asked.book.fates == ["answered"] * 8 + ["wait"] * (ODD_TRIES - 1) + ["fatal"]
    assert asked.requests == 8 + ODD_TRIES


@each_wire
@each_oddity
def test_an_odd_answer_before_any_good_one_is_fatal_at_once(server: MockServerProcess, wire: str, odd: Rule) -> None:
    asked = Asked(server, wire, odd, "1-")
    assert isinstance(asked.failure, Fatal)
    assert (asked.brake.pulled, asked.book.fates, asked.requests) == ("fatal", ["fatal"], 1)


@each_wire
def test_a_refused_key_is_fatal_at_once_however_many_answers_went_before(server: MockServerProcess, wire: str) -> None:
    asked = Asked(server, wire, {"do": "respond", "status": 401}, "9-")
    assert isinstance(asked.failure, Fatal)
    assert (asked.brake.pulled, asked.requests) == ("fatal", 9)


@each_wire
@pytest.mark.parametrize("status", [429, 503, 529])
def test_a_wait_of_an_hour_pauses_the_model_and_the_decision_is_answered_afterwards(
    server: MockServerProcess, wire: str, status: int
) -> None:
    asked = Asked(server, wire, {"do": "respond", "status": status, "retry_after": "3600s"}, "3")
    assert len(asked.answers) == 10
    assert asked.book.fates == ["answered"] * 2 + ["wait"] + ["answered"] * 8
    assert asked.clock.slept == [HOUR]
    assert asked.brake.pulled is None
    assert asked.requests == 11


@each_wire
def test_a_wait_of_ten_years_is_asked_after_again_in_a_day(server: MockServerProcess, wire: str) -> None:
    asked = Asked(server, wire, {"do": "respond", "status": 429, "headers": {"Retry-After": "315360000"}}, "3-4")
    assert len(asked.answers) == 10
    assert asked.clock.slept == [24 * HOUR] * 2


@each_wire
def test_a_quota_told_in_the_body_alone_pauses_the_model(server: MockServerProcess, wire: str) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7200s"}]
    error = {"code": 429, "message": "Resource exhausted", "status": "RESOURCE_EXHAUSTED", "details": details}
    asked = Asked(server, wire, {"do": "respond", "status": 429, "body": {"error": error}}, "3")
    assert len(asked.answers) == 10
    assert asked.clock.slept == [2 * HOUR]


@each_wire
def test_where_the_provider_wants_no_other_try_the_decision_is_given_up_and_the_run_is_not(
    server: MockServerProcess, wire: str
) -> None:
    asked = Asked(server, wire, {"do": "respond", "status": 503, "headers": {"x-should-retry": "false"}}, "3-")
    assert isinstance(asked.failure, Outage)
    assert asked.book.fates == ["answered", "answered", "outage"]
    assert (asked.requests, asked.brake.pulled, asked.naps.lengths) == (3, None, [])

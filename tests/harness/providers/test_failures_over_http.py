"""What an error answer means, over real HTTP with every sender: one decision, and one HTTP call each."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from tests.harness.providers.raw_server import (
    KEY,
    WIRES,
    asking,
    body_for,
    chat,
    failure,
    http,
    request,
    zipped,
)
from tests.jumping_time import jumping, now
from weigh.harness.providers.errors.failures import CallFailed
from weigh.policies.contract import CONTEXT_FULL

SERVED = datetime(2026, 1, 1, tzinfo=UTC)
"""When a test begins by the server's clock."""

each_wire = pytest.mark.parametrize("wire", WIRES)


def dated(seconds: float) -> str:
    """An HTTP date so long after the beginning; it has no fractions."""
    return format_datetime(SERVED + timedelta(seconds=seconds), usegmt=True)


def failures(*answers: bytes, wire: str) -> list[CallFailed]:
    """How one call to each of the answers ends, all with one client."""

    async def ask() -> list[CallFailed]:
        found = []
        async with asking(*answers, wire=wire) as (client, raw):
            for hits in range(1, len(answers) + 1):
                with pytest.raises(CallFailed) as caught:
                    await client.complete(request())
                assert len(raw.received) == hits
                found.append(caught.value)
        return found

    return asyncio.run(ask())


@each_wire
def test_P04_passing_statuses_are_worth_another_try_and_cost_one_call(wire: str) -> None:
    statuses = [408, 409, 425, 429, 499, 500, 502, 503, 504, 520, 524, 529]
    answers = [http({"error": {"message": "busy", "type": "x"}}, status) for status in statuses]
    for status, failed in zip(statuses, failures(*answers, wire=wire), strict=True):
        assert (failed.decision, failed.status, failed.limited) == ("wait", status, status == 429)
        assert failed.cause.startswith(f"status {status} from http://127.0.0.1")
        assert failed.cause.endswith(": busy")
        unbilled = status in (409, 425, 429, 503, 529)
        assert failed.billing == ("none" if unbilled else "unknown")


@each_wire
def test_P28_lasting_statuses_stop_the_run_unbilled(wire: str) -> None:
    statuses = [400, 401, 402, 403, 404, 405, 410, 412, 415, 422, 431, 451, 501]
    answers = [http({"error": {"message": "no", "type": "x"}}, status) for status in statuses]
    for status, failed in zip(statuses, failures(*answers, wire=wire), strict=True):
        assert (failed.decision, failed.status, failed.wait) == ("fatal", status, None)
        assert failed.billing == ("none" if status < 500 else "unknown")


@each_wire
def test_only_what_tells_no_lasting_cause_is_odd(wire: str) -> None:
    page = "<html><body>Log in</body></html>"
    told = {"error": {"message": "unexpected end of data", "type": "x"}}
    odd = [
        http(page, 200, kind="text/html"),
        http("", 302, {"Location": "https://login.example/"}),
        http(page, 404, kind="text/html"),
        *(http(told, status) for status in (400, 405, 422, 501)),
    ]
    lasting = [
        *(http(told, status) for status in (401, 402, 403, 404)),
        http({"error": {"message": "response_format is not supported", "type": "x"}}, 400),
        http({"error": {"message": "Your credit balance is too low", "type": "x"}}, 400),
    ]
    found = [(each.decision, each.odd) for each in failures(*odd, *lasting, wire=wire)]
    assert found == [("fatal", True)] * len(odd) + [("fatal", False)] * len(lasting)


@each_wire
def test_a_provider_that_asks_for_no_other_try_gets_none(wire: str) -> None:
    statuses = [408, 429, 500, 503, 529]
    said = {"error": {"message": "busy", "type": "x"}}
    answers = [http(said, status, {"x-should-retry": "false"}) for status in statuses]
    for status, failed in zip(statuses, failures(*answers, wire=wire), strict=True):
        assert (failed.decision, failed.status, failed.wait) == ("outage", status, None)
    (told,) = failures(http(said, 429, {"x-should-retry": "false", "retry-after": "40"}), wire=wire)
    assert (told.decision, told.wait) == ("wait", 40.0)  # the provider itself says when another try is welcome
    (asked,) = failures(http(said, 500, {"x-should-retry": "true"}), wire=wire)
    assert asked.decision == "wait"


RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"}
QUOTA = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "PerMinute"}]}


@each_wire
@pytest.mark.parametrize("status", [429, 503])
def test_a_wait_told_in_the_body_is_kept_like_one_of_the_header(wire: str, status: int) -> None:
    error = {"code": status, "message": "Resource exhausted", "status": "X", "details": [QUOTA, RETRY_INFO]}
    for body in ({"error": error}, [{"error": error}]):
        assert failure(http(body, status), wire=wire).wait == 37.0
    assert failure(http({"error": error}, status, {"retry-after": "3"}), wire=wire).wait == 3.0
    assert failure(http({"error": {**error, "details": [QUOTA]}}, status), wire=wire).wait is None
    inside = failure(http({"error": error}), wire=wire)
    assert (inside.status, inside.wait, inside.busy) == (status, 37.0, True)


@each_wire
def test_P28_a_refused_key_names_the_variable_and_never_the_key(wire: str) -> None:
    said = {"error": {"message": f"invalid x-api-key: {KEY}", "type": "authentication_error"}}
    failed = failure(http(said, 401), wire=wire)
    variable = "ANTHROPIC_API_KEY" if wire.startswith("anthropic") else "OPENAI_API_KEY"
    assert f"the key in {variable} is not accepted" in failed.cause
    assert KEY not in failed.cause


def test_P29_an_unknown_model_stops_the_run_and_says_what_to_check() -> None:
    said = {"type": "error", "error": {"type": "not_found_error", "message": "model: claude-x"}}
    failed = failure(http(said, 404), wire="anthropic", model="claude-x")
    assert failed.decision == "fatal"
    assert failed.cause.endswith("model: claude-x; check the model name claude-x and base_url")


@each_wire
def test_P01_retry_after_as_a_date_is_waited_for(wire: str) -> None:
    failed = failure(http({}, 429, {"Retry-After": dated(3), "Date": dated(0)}), wire=wire)
    assert failed.limited
    assert failed.wait == 4.0  # until the second that is named is over


def test_P02_a_wait_from_a_date_ends_when_that_second_is_over_so_there_is_one_429() -> None:
    async def ask() -> list[int]:
        opens = 1.2
        statuses: list[int] = []

        async def gate(writer: asyncio.StreamWriter) -> None:
            early = now() < opens
            statuses.append(429 if early else 200)
            dates = {"Retry-After": dated(opens), "Date": dated(now())}
            writer.write(http({}, 429, dates) if early else http(chat()))
            await writer.drain()

        async with asking(gate) as (client, _):
            for _ in range(5):
                try:
                    await client.complete(request())
                    break
                except CallFailed as failed:
                    await asyncio.sleep(failed.wait or 0)
        return statuses

    assert jumping(ask()) == [429, 200]


def test_P05_overloaded_is_a_passing_failure_and_no_rate_limit() -> None:
    failed = failure(
        http({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, 529), wire="anthropic"
    )
    assert (failed.decision, failed.limited, failed.billing) == ("wait", False, "none")


@pytest.mark.parametrize(
    ("code", "decision", "limited"),
    [(504, "wait", False), (429, "wait", True), ("502", "wait", False), ("server_error", "wait", False),
     (401, "fatal", False), (402, "fatal", False), (403, "fatal", False), ("insufficient_quota", "fatal", False)],
)  # fmt: skip
def test_P07_an_error_inside_a_200_is_treated_as_the_status_it_names(code: Any, decision: str, limited: bool) -> None:
    failed = failure(http({"error": {"code": code, "message": "Provider returned error"}}))
    assert (failed.decision, failed.limited) == (decision, limited)
    assert "inside a 200" in failed.cause


def test_P07_a_router_puts_the_error_of_the_provider_behind_it_into_the_choice() -> None:
    body = chat('{"bid": 7}', "error")
    body["choices"][0]["error"] = {"code": 502, "message": "Provider disconnected"}
    failed = failure(http(body))
    assert (failed.decision, failed.status) == ("wait", 502)


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        ("openai-chat", {"id": None, "choices": None, "object": None, "usage": None}),
        ("openai-chat", {"choices": []}),
        ("openai-chat", {"choices": [None]}),
        ("openai-chat", {"choices": [{"message": None, "finish_reason": "stop"}]}),
        ("openai-chat", {}),
        ("openai-chat", []),
        ("openai-chat", None),
        ("openai-chat", "thinking"),
        ("openai-responses", {"status": "in_progress", "output": []}),
        ("openai-responses", {"status": "completed", "output": None}),
        ("openai-responses", {"status": "failed", "error": {"code": "server_error", "message": "sorry"}}),
        ("anthropic", {"type": "message", "content": None}),
        ("anthropic", {}),
    ],
)
def test_P08_a_200_without_an_answer_is_a_passing_failure(wire: str, body: Any) -> None:
    failed = failure(http(body), wire=wire)
    assert (failed.decision, failed.billing) == ("wait", "unknown")


@each_wire
@pytest.mark.parametrize("kind", ["text/html", "application/json", ""])
def test_P10_a_page_with_status_200_stops_the_run_and_shows_address_and_words(wire: str, kind: str) -> None:
    page = f"<!DOCTYPE html><style>b{{}}</style><h1>Sign in</h1><p>{'x ' * 400}</p>"
    failed = failure(http(page, kind=kind), wire=wire)
    assert failed.decision == "fatal"
    assert "status 200 from http://127.0.0.1" in failed.cause
    assert "a web page: Sign in x x" in failed.cause
    assert len(failed.cause) < 400


@each_wire
def test_P11_a_gateway_page_of_30_kB_becomes_one_short_line(wire: str) -> None:
    failed = failure(
        http(f"<html><body><h1>Bad gateway</h1>{'<p>nginx</p>' * 2500}</body></html>", 502, kind="text/html"), wire=wire
    )
    assert failed.decision == "wait"
    assert "a web page: Bad gateway nginx" in failed.cause
    assert len(failed.cause) < 300


@each_wire
def test_a_bot_guards_page_is_an_outage_and_no_matter_of_the_key(wire: str) -> None:
    failed = failure(http("<html><title>Attention Required!</title></html>", 403, kind="text/html"), wire=wire)
    assert (failed.decision, failed.billing, failed.wait) == ("outage", "none", None)
    assert "key" not in failed.cause


@each_wire
@pytest.mark.parametrize("missing", [20, 40, 60])
def test_P14_a_cut_gzip_body_is_a_passing_failure_and_never_half_an_answer(wire: str, missing: int) -> None:
    failed = failure(zipped(body_for(wire), missing), wire=wire)
    assert (failed.decision, failed.billing) == ("wait", "unknown")


UNDECODABLE = (
    b"",
    b"{",
    b'{"choices": [',
    b"\xff\xfe{",
    b"data: {}\n\n",
    b"[" * 100_000,
    b'{"n": ' + b"1" * 5000 + b"}",
    b"\x00" * 50,
)


@each_wire
@pytest.mark.parametrize("kind", ["application/json", "text/plain"])
def test_undecodable_bodies_are_passing_failures(wire: str, kind: str) -> None:
    for failed in failures(*(http(body, kind=kind) for body in UNDECODABLE), wire=wire):
        assert (failed.decision, failed.billing) == ("wait", "unknown")
        assert "could not be decoded" in failed.cause


@each_wire
def test_P31_a_prompt_that_outgrew_the_context_is_an_answer_cut_short_and_not_asked_again(wire: str) -> None:
    said: dict[str, Any] = {
        "error": {"message": "too long", "type": "invalid_request_error", "code": "context_length_exceeded"}
    }
    if wire.startswith("anthropic"):
        said = {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"},
        }

    async def ask() -> None:
        async with asking(http(said, 400), http({"error": {"message": "request_too_large"}}, 413), wire=wire) as (
            client,
            raw,
        ):
            for hits in (1, 2):
                completion = await client.complete(request())
                assert (completion.text, completion.stop, completion.stop_detail) == ("", "length", CONTEXT_FULL)
                assert (completion.usage.input, completion.usage.output) == (0, 0)
                assert len(raw.received) == hits

    asyncio.run(ask())


def test_P31_llama_cpp_says_it_in_its_own_words() -> None:
    said = {
        "error": {
            "code": 400,
            "message": "request (9031 tokens) exceeds the available context size (4096 tokens)",
            "type": "exceed_context_size_error",
        }
    }

    async def ask() -> str | None:
        async with asking(http(said, 400)) as (client, _):
            return (await client.complete(request())).stop_detail

    assert asyncio.run(ask()) == CONTEXT_FULL


def test_a_token_cap_above_the_models_is_no_full_context() -> None:
    said = {"error": {"message": "max_tokens is too large: 64000. This model supports at most 16384 completion tokens",
                      "type": "invalid_request_error", "param": "max_tokens", "code": "invalid_value"}}  # fmt: skip
    failed = failure(http(said, 400))
    assert (failed.decision, failed.billing) == ("fatal", "none")
    assert "supports at most 16384" in failed.cause


@each_wire
@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, {"error": {"code": "content_filter", "message": "The response was filtered"}}),
        (400, {"error": {"code": "invalid_prompt", "message": "flagged as potentially violating our usage policy"}}),
        (400, {"error": {"message": "Output blocked by content filtering policy", "type": "invalid_request_error"}}),
        (
            403,
            {"error": {"code": 403, "message": 'openai/x requires moderation. Your input was flagged for "violence"'}},
        ),
        (200, {"error": {"type": "content_filter", "message": "filtered after partial text"}}),
        (200, {"error": {"code": "invalid_prompt", "message": "flagged"}}),
    ],
)
def test_P35_a_content_filter_is_a_refusal_and_no_failure(wire: str, status: int, said: Any) -> None:
    async def ask() -> None:
        async with asking(http(said, status), wire=wire) as (client, raw):
            completion = await client.complete(request())
            assert (completion.text, completion.stop) == ("", "refusal")
            assert len(raw.received) == 1

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (402, {"error": {"message": "Payment required"}}),
        (429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}),
        (400, {"type": "error", "error": {"type": "invalid_request_error", "message": "credit balance is too low"}}),
        (429, {"type": "error", "error": {"type": "rate_limit_error", "message": "limit",
               "details": {"error_code": "contract_spend_limit_reached"}}}),
        (403, {"type": "error", "error": {"type": "billing_error", "message": "unpaid"}}),
    ],
)  # fmt: skip
@each_wire
def test_an_account_without_credit_stops_the_run(wire: str, status: int, said: Any) -> None:
    failed = failure(http(said, status, {"Retry-After": "3"}), wire=wire)
    assert (failed.decision, failed.limited, failed.wait, failed.billing) == ("fatal", False, None, "none")
    assert "no credit left" in failed.cause


def test_a_quota_per_minute_is_no_empty_account() -> None:
    said = [{"error": {"code": 429, "message": "You exceeded your current quota", "status": "RESOURCE_EXHAUSTED"}}]
    failed = failure(http(said, 429, {"retry-after": "17"}))
    assert (failed.decision, failed.limited, failed.wait) == ("wait", True, 17.0)


def test_P43_a_model_that_is_still_loading_is_waited_for() -> None:
    said = {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
    failed = failure(http(said, 503))
    assert (failed.decision, failed.billing, failed.limited) == ("wait", "none", False)


@each_wire
def test_a_redirect_is_not_followed_and_names_its_target(wire: str) -> None:
    failed = failure(http("", 307, {"Location": "https://elsewhere.invalid/v1"}), wire=wire)
    assert failed.decision == "fatal"
    assert "sends calls on to https://elsewhere.invalid: check base_url" in failed.cause


@each_wire
def test_an_address_without_the_apis_path_stops_the_run_whatever_the_status_says(wire: str) -> None:
    said = {"error": "Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway"}
    failed = failure(http(said), wire=wire)
    assert (failed.decision, failed.odd) == ("fatal", False)
    assert "add /v1" in failed.cause


@pytest.mark.parametrize("status", [400, 429])
def test_a_budget_of_a_router_stops_the_run(status: int) -> None:
    said = {"error": {"message": "Budget has been exceeded! Current cost: 10.2, Max budget: 10.0",
                      "type": "budget_exceeded", "param": None, "code": "400"}}  # fmt: skip
    failed = failure(http(said, status))
    assert (failed.decision, failed.odd) == ("fatal", False)
    assert "budget" in failed.cause


def quota(of: str) -> dict[str, Any]:
    violation = {"quotaId": f"GenerateRequestsPer{of}PerProjectPerModel-FreeTier", "quotaValue": "50"}
    details = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"},
    ]
    words = "You exceeded your current quota, please check your plan and billing details."
    return {"error": {"code": 429, "message": words, "status": "RESOURCE_EXHAUSTED", "details": details}}


def test_a_quota_of_a_day_stops_the_run_and_one_of_a_minute_is_waited_for() -> None:
    failed = failure(http([quota("Day")], 429))
    assert (failed.decision, failed.limited) == ("fatal", False)
    assert "tomorrow" in failed.cause
    free = {"error": {"message": "Rate limit exceeded: free-models-per-day. Add 10 credits", "code": 429}}
    assert failure(http(free, 429)).decision == "fatal"
    minute = failure(http([quota("Minute")], 429))
    assert (minute.decision, minute.wait) == ("wait", 37.0)
    assert "it asks for 37 s" in minute.cause
    # A header that says when to come back is believed: the model pauses until then.
    assert failure(http([quota("Day")], 429, {"Retry-After": "7200"})).wait == 7200.0


# -- sizes ---------------------------------------------------------------------------------------------------------


each_sender = pytest.mark.parametrize("wire", ["openai-chat", "anthropic lean"])


def bomb(status: int) -> bytes:
    """100 MB of white space in 100 kB."""
    squeezed = gzip.compress(b'{"error": {"message": "' + b" " * (100 << 20), 9)
    return http(squeezed, status, {"Content-Encoding": "gzip"})


@pytest.fixture(scope="module", params=[200, 500])
def bombed(request: pytest.FixtureRequest) -> tuple[int, bytes]:
    return request.param, bomb(request.param)


@each_sender
def test_a_compressed_body_is_not_read_beyond_what_an_answer_can_be(wire: str, bombed: tuple[int, bytes]) -> None:
    status, answer = bombed
    tracemalloc.start()
    failed = failure(answer, wire=wire)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert failed.decision == ("outage" if status == 200 else "wait")
    assert peak < 80 << 20
    assert len(failed.cause) < 600


@each_sender
def test_an_error_of_4_MB_is_one_line(wire: str) -> None:
    failed = failure(http({"error": {"message": "x<" * (2 << 20)}}, 503), wire=wire)
    assert (failed.decision, failed.status) == ("wait", 503)
    assert len(failed.cause) < 600


@each_sender
def test_header_fields_of_60_kB_are_accepted(wire: str) -> None:
    async def ask() -> str:
        async with asking(http(body_for(wire), headers={"X-Trace": "t" * 60_000}), wire=wire) as (client, _):
            return (await client.complete(request())).stop

    assert asyncio.run(ask()) == "end"

"""Error bodies in their many shapes, brought into one."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.harness.providers.endpoints.endpoints import endpoint_for
from weigh.harness.providers.errors import table
from weigh.harness.providers.errors.failures import as_completion, verdict
from weigh.harness.providers.errors.reading import error_inside, error_of
from weigh.harness.providers.wire.capabilities import Capabilities, learn

ENDPOINT = endpoint_for("openai:gpt-4o")


@pytest.mark.parametrize(
    ("body", "message", "code", "kind", "param"),
    [
        ({"error": {"message": "m", "type": "T", "code": "C", "param": "p"}}, "m", "c", "t", "p"),
        ({"error": {"message": "m", "type": None, "code": 429, "param": None}}, "m", "429", "", ""),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, "m", "", "overloaded_error", ""),
        ({"error": {"type": "x", "message": "m", "details": {"error_code": "Ramp"}}}, "m", "ramp", "x", ""),
        ({"object": "error", "message": "m", "type": "BadRequest", "code": 400}, "m", "400", "badrequest", ""),
        ({"error": "model 'x' not found"}, "model 'x' not found", "", "", ""),
        ({"detail": "Not Found"}, "Not Found", "", "", ""),
        ({"detail": [{"loc": ["body", "seed"], "msg": "no", "type": "extra"}]}, "no", "", "extra", "seed"),
        ([{"error": {"message": "m", "status": "UNAVAILABLE", "code": 503}}], "m", "503", "", ""),
        ({"message": "m"}, "m", "", "", ""),
        ({"error": {"message": "outer", "metadata": {"raw": "inner"}}}, "outer: inner", "", "", ""),
        ({"error": {"message": {"en": "m"}}}, '{"en": "m"}', "", "", ""),
        ({}, "no reason given", "", "", ""),
        (None, "no reason given", "", "", ""),
        ("busy", "busy", "", "", ""),
    ],
)  # fmt: skip
def test_shapes(body: Any, message: str, code: str, kind: str, param: str) -> None:
    error = error_of(500, {}, json.dumps(body).encode())
    assert (error.message, error.code, error.kind, error.param, error.html) == (message, code, kind, param, False)


def test_bodies_that_are_no_json_keep_their_words() -> None:
    assert error_of(503, {}, b"upstream busy\n").message == "upstream busy"
    assert error_of(502, {"content-type": "text/html"}, b"<p>x").html
    assert error_of(502, {}, b"  <!DOCTYPE HTML><p>x").html
    assert error_of(500, {}, b"\xff\xfe").message


@pytest.mark.parametrize(
    "body",
    [{"error": None}, {"error": {}}, {"error": ""}, {"choices": [{"error": None}]}, {"choices": [7]}, {"choices": {}}],
)
def test_no_error_is_none(body: dict[str, Any]) -> None:
    assert error_inside(body, {}) is None


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"code": 504}, 504),
        ({"code": "429"}, 429),
        ({"status_code": 503}, 503),
        ({"code": "rate_limit_exceeded"}, 429),
        ({"type": "overloaded_error"}, 529),
        ({"code": 7}, 502),
        ({"code": "who knows"}, 502),
        ("something broke", 502),
        (["a", "b"], 502),
    ],
)
def test_an_error_inside_a_200_stands_for_a_status(error: Any, status: int) -> None:
    found = error_inside({"error": error}, {})
    assert found is not None
    assert (found.status, found.inside_200) == (status, True)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["error", "message", "code", "type", "param", "detail", "loc", "metadata", "raw", "choices"]),
        inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(JSON, st.sampled_from([200, 400, 403, 404, 413, 422, 429, 500, 503]))
def test_any_body_gets_one_verdict_in_one_line(body: Any, status: int) -> None:
    if status == 200:
        error = error_inside(body, {}) if isinstance(body, dict) else None
    else:
        error = error_of(status, {}, json.dumps(body).encode())
    if error is None or as_completion(error) is not None:
        return
    failed = verdict(error, ENDPOINT)
    assert failed.decision in ("wait", "fatal")
    assert len(failed.cause.splitlines()) == 1
    assert len(failed.cause) < 450


@pytest.mark.parametrize(
    ("code", "status"),
    [("²", 502), ("4" * 5000, 502), (10**30, 502), (429.0, 429), ("429", 429), (503, 503), (True, 502), ("42x", 502)],
)
def test_an_odd_code_inside_a_200_is_a_passing_failure_of_the_provider_and_no_crash(code: Any, status: int) -> None:
    error = error_inside({"error": {"code": code, "message": "boom"}}, {})
    assert error is not None
    assert error.status == status
    assert verdict(error, ENDPOINT).decision == "wait"


def test_an_error_that_says_nothing_beside_an_answer_is_no_error() -> None:
    answer = {"choices": [{"message": {"content": "{}"}}], "error": {"code": None, "message": None}}
    assert error_inside(answer, {}) is None


@pytest.mark.timeout(60)
@pytest.mark.parametrize("words", ["moderation ", "context length ", "system message "])
def test_patterns_with_a_gap_are_looked_for_at_the_beginning_of_an_error_that_quotes_a_long_prompt(
    monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    lengths: list[int] = []

    def spy(pattern: str, text: str, flags: int) -> re.Match[str] | None:
        lengths.append(len(text))
        return search(pattern, text, flags)

    search = re.search
    monkeypatch.setattr(table.re, "search", spy)
    error = error_of(400, {}, json.dumps({"error": {"message": words * 30_000}}).encode())
    assert as_completion(error) is None
    assert verdict(error, ENDPOINT).decision == "fatal"
    assert learn(error, Capabilities()) is None
    # It took 25 seconds and more when they were looked for in all of it.
    assert len(lengths) >= 4
    assert max(lengths) <= 2_100


def test_a_redirect_shows_its_host_and_nothing_else_of_where_it_leads() -> None:
    for location, shown in (
        ("https://login.example/a/b?token=the-key-in-full", "login.example"),
        ("/elsewhere?token=the-key-in-full", "another address"),
        ("http://[broken?token=the-key-in-full", "another address"),
    ):
        failed = verdict(error_of(302, {"location": location}, b""), ENDPOINT, secret="the-key-in-full")
        assert shown in failed.cause
        assert "the-key" not in failed.cause
        assert "token" not in failed.cause

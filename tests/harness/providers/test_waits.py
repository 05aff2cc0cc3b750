"""How long a provider asks to be left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.harness.providers.errors.retry_after import LONGEST_ASKED, asked_wait, refuses_retry

NOW = 1_792_567_680.0  # Wed, 21 Oct 2026 07:28:00 GMT


def wait(headers: dict[str, str], *, limited: bool = True, now: float = NOW) -> float | None:
    return asked_wait(headers, limited=limited, now=now)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": " 2 "}, 2.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
    ],
)
def test_seconds_and_milliseconds(headers: dict[str, str], seconds: float) -> None:
    assert wait(headers) == seconds
    assert wait(headers, limited=False) == seconds  # a 503 may say so too


@pytest.mark.parametrize("text", ["", "soon", "nan", "inf", "-inf", "3 s", "Wed, 99 Foo 2026", "1e999"])
def test_what_cannot_be_read_says_nothing(text: str) -> None:
    assert wait({"retry-after": text}) is None


def test_P01_an_http_date() -> None:
    assert wait({"retry-after": "Wed, 21 Oct 2026 07:28:03 GMT"}) == 4.0


def test_P02_a_date_names_a_second_and_the_wait_ends_when_it_is_over() -> None:
    # The server means 07:28:01.8, can only write 07:28:01, and rejects whoever comes at 07:28:01.7.
    assert wait({"retry-after": "Wed, 21 Oct 2026 07:28:01 GMT"}, now=NOW + 0.0) == 2.0
    assert wait({"retry-after": "Wed, 21 Oct 2026 07:28:01 GMT"}, now=NOW + 0.9) == pytest.approx(1.1)


def test_a_date_that_has_passed_asks_for_nothing() -> None:
    assert wait({"retry-after": "Wed, 21 Oct 2026 07:20:00 GMT"}) == 0.0


def test_a_clock_that_is_wrong_does_not_matter_where_the_server_tells_the_time() -> None:
    headers = {"date": "Wed, 21 Oct 2026 07:28:00 GMT", "retry-after": "Wed, 21 Oct 2026 07:28:03 GMT"}
    assert wait(headers, now=NOW - 3600) == 4.0
    assert wait(headers, now=NOW + 3600) == 4.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, 360.0),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "20ms"}, 0.02),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m30.5s"}, 90.5),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "7"}, 7.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW) + 30)}, 30.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str((int(NOW) + 30) * 1000)}, 30.0),
        (
            {
                "anthropic-ratelimit-output-tokens-remaining": "0",
                "anthropic-ratelimit-output-tokens-reset": "2026-10-21T07:28:12Z",
            },
            12.0,
        ),
    ],
)
def test_the_reset_of_a_ceiling_that_is_used_up(headers: dict[str, str], seconds: float) -> None:
    assert wait(headers) == pytest.approx(seconds)


def test_of_two_ceilings_that_are_used_up_the_longer_wait_counts() -> None:
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "2s",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "8s",
    }
    assert wait(headers) == 8.0


def test_the_reset_of_a_ceiling_with_room_left_is_nobodys_wait() -> None:
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "2s",
        "x-ratelimit-remaining-tokens": "90000",
        "x-ratelimit-reset-tokens": "55s",
    }
    assert wait(headers) == 2.0
    assert wait({"x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "55s"}) is None
    assert wait({"x-ratelimit-reset-tokens": "55s"}) is None


def test_resets_are_not_read_on_anything_but_a_rate_limit() -> None:
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "7"}
    assert wait(headers, limited=False) is None


TEN_YEARS = str(10 * 365 * 86_400)


@pytest.mark.parametrize(
    "headers",
    [{"retry-after": TEN_YEARS}, {"retry-after": "86401"}, {"retry-after": str(int(NOW) + 10**8)},
     {"retry-after": "Wed, 21 Oct 2036 07:28:00 GMT"}, {"retry-after-ms": "1e300"}, {"retry-after": "1e300"},
     {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "3650d"}],
)  # fmt: skip
def test_no_wait_is_longer_than_a_day(headers: dict[str, str]) -> None:
    assert wait(headers) == LONGEST_ASKED == 86_400.0


def test_a_moment_in_seconds_since_1970_is_no_number_of_seconds() -> None:
    assert wait({"retry-after": str(int(NOW) + 40)}) == pytest.approx(40.0)
    assert wait({"retry-after": str(int(NOW) - 40)}) == 0.0


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [("37s", 37.0), ("0.5s", 0.5), (" 37.25s ", 37.25), ("1m30s", 90.0), ("315360000s", LONGEST_ASKED),
     ({"seconds": 37}, 37.0), ({"seconds": "37", "nanos": 500_000_000}, 37.5), ({"nanos": 250_000_000}, 0.25),
     ("-5s", None), ("soon", None), ("", None), ("NaNs", None), ("37", None), ("1s" * 2_000, None),
     (37, None), (None, None), ([], None), ({}, None), ({"seconds": "soon"}, None), ({"seconds": None}, None)],
)  # fmt: skip
def test_a_delay_told_in_the_body(delay: object, seconds: float | None) -> None:
    for limited in (True, False):
        assert asked_wait({}, limited=limited, delay=delay, now=NOW) == seconds


def test_a_header_goes_before_the_body_and_the_body_before_a_ceilings_reset() -> None:
    reset = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "7"}
    assert asked_wait(reset, limited=True, delay="37s", now=NOW) == 37.0
    assert asked_wait({**reset, "retry-after": "3"}, limited=True, delay="37s", now=NOW) == 3.0
    assert asked_wait(reset, limited=True, delay="soon", now=NOW) == 7.0


@pytest.mark.parametrize(
    ("value", "refused"), [("false", True), (" False ", True), ("true", False), ("", False), ("0", False)]
)
def test_x_should_retry(value: str, refused: bool) -> None:
    assert refuses_retry({"x-should-retry": value}) is refused
    assert not refuses_retry({})


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_header_whatever_breaks_it(retry_after: str, reset: str) -> None:
    headers = {"retry-after": retry_after, "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}
    found = wait(headers)
    assert found is None or 0 <= found <= LONGEST_ASKED


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=20), st.lists) | st.dictionaries(
    st.sampled_from(["seconds", "nanos", "x"]), st.none() | st.floats() | st.integers() | st.text(max_size=20)
))  # fmt: skip
def test_no_delay_whatever_breaks_it(delay: object) -> None:
    found = asked_wait({}, limited=True, delay=delay, now=NOW)
    assert found is None or 0 <= found <= LONGEST_ASKED

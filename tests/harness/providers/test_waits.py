"""How long a provider asks to be left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.providers.waits import asked_wait

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


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_header_whatever_breaks_it(retry_after: str, reset: str) -> None:
    headers = {"retry-after": retry_after, "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}
    found = wait(headers)
    assert found is None or found >= 0

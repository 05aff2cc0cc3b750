"""The words of the command line: durations, latencies, shares of faults, times to come back."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.harness.providers.mock_server import Cut, Options, Respond, parse_faults, parse_latency
from weigh.harness.providers.mock_server.announce import parse_retry_after
from weigh.harness.providers.mock_server.durations import parse_seconds, parse_span


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("200ms", 0.2), ("1.5s", 1.5), ("10m", 600.0), ("1h", 3600.0), ("3", 3.0), (" 2 s ", 2.0), (0, 0.0), (1.25, 1.25)],
)
def test_a_duration_is_read_in_seconds(written: object, seconds: float) -> None:
    assert parse_seconds(written) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "written", ["", "fast", "-1", "1,5s", "5 days", "1e3", None, True, -1, math.inf, math.nan, "٣s"]
)
def test_what_is_no_duration_is_refused_in_one_line(written: object) -> None:
    with pytest.raises(ValueError, match="is not a duration") as caught:
        parse_seconds(written)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("written", "span"),
    [
        ("50-400ms", (0.05, 0.4)),
        ("0-20s", (0.0, 20.0)),
        ("20s-", (20.0, None)),
        ("-20s", (0.0, 20.0)),
        ("500ms-2s", (0.5, 2.0)),
        ([1, "2s"], (1.0, 2.0)),
        ([1, None], (1.0, None)),
    ],
)
def test_a_span_takes_the_unit_of_its_end_for_both(written: object, span: tuple[float, float | None]) -> None:
    assert parse_span(written) == pytest.approx(span)


@pytest.mark.parametrize("written", ["", "-", "5", "3s-1s", [3, 1], [1], "a-b", 7])
def test_what_is_no_span_is_refused(written: object) -> None:
    with pytest.raises(ValueError, match=r"span of time|ends before it starts"):
        parse_span(written)


@given(st.floats(0, 1, exclude_max=True))
def test_latencies_lie_where_their_words_say(quantile: float) -> None:
    assert parse_latency("200ms").seconds(quantile) == pytest.approx(0.2)
    assert 0.05 <= parse_latency("uniform:50-400ms").seconds(quantile) <= 0.4
    assert 0 < parse_latency("lognormal:300ms,0.5").seconds(quantile) < math.inf


def test_a_lognormal_latency_has_its_median_and_spread() -> None:
    latency = parse_latency("lognormal:300ms,0.5")
    drawn = [math.log(latency.seconds((i + 0.5) / 1000)) for i in range(1000)]
    assert latency.seconds(0.5) == pytest.approx(0.3)
    assert statistics.pstdev(drawn) == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("soon", "'soon' is not a duration"),
        ("unifrom:1-2s", "did you mean 'uniform'"),
        ("uniform:1s-", "write both ends"),
        ("lognormal:0,1", "a median above 0"),
        ("lognormal:1s", "and a sigma"),
        ("lognormal:1s,-1", "and a sigma"),
    ],
)
def test_a_wrong_latency_is_refused_in_one_line_that_quotes_it(written: str, says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        Options(latency=written)
    assert str(caught.value).startswith(f"latency {written!r}: ")
    assert "\n" not in str(caught.value)


def test_shares_of_reply_faults_partition_the_draws() -> None:
    faults = parse_faults("illegal=0.1, empty=0.02")
    drawn = [faults.reply((i + 0.5) / 1000) for i in range(1000)]
    assert (drawn.count("illegal"), drawn.count("empty"), drawn.count(None)) == (100, 20, 880)


def test_shares_of_transport_faults_become_rules_that_leave_each_its_share() -> None:
    first, second, third = parse_faults("429=0.5,503=0.25,reset=0.25").rules
    assert [first.share, second.share, third.share] == pytest.approx([0.5, 0.5, 1.0])
    assert first.action == Respond(status=429, retry_after="1s")
    assert second.action == Respond(status=503, retry_after="1s")
    assert third.action == Cut(after=None)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("ilegal=0.1", "did you mean 'illegal'"),
        ("empty", "needs a share from 0 to 1, e.g. empty=0.1"),
        ("empty=2", "needs a share"),
        ("empty=-0.1", "needs a share"),
        ("empty=nan", "needs a share"),
        ("empty=0.6,illegal=0.6", "add up to more than 1"),
        ("empty=0.1,empty=0.1", "there twice"),
        ("600=0.1", "no fault is called '600'"),
    ],
)
def test_wrong_faults_are_refused_in_one_line(written: str, says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        Options(faults=written)
    assert "\n" not in str(caught.value)


NOW = 1_790_000_000.3


@pytest.mark.parametrize(
    ("written", "headers"),
    [
        ("2", {"Retry-After": "2"}),
        ("1.5s", {"Retry-After": "1.5"}),
        (3, {"Retry-After": "3"}),
        ("300ms", {"retry-after-ms": "300"}),
        ("date+1.8s", {"Retry-After": "Mon, 21 Sep 2026 14:13:23 GMT"}),
    ],
)
def test_the_time_to_come_back_is_told_in_each_form(written: object, headers: dict[str, str]) -> None:
    promise = parse_retry_after(written)
    assert promise.headers(NOW, promise.until(NOW)) == headers


@given(st.floats(0, 1000), st.floats(0, 1000))
def test_an_announced_date_is_never_earlier_than_the_time_it_stands_for(offset: float, seconds: float) -> None:
    promise = parse_retry_after(f"date+{seconds:.3f}")
    until = promise.until(NOW + offset)
    assert until == int(until)
    assert NOW + offset + seconds - 0.001 <= until < NOW + offset + seconds + 1.001


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"port": 70_000}, "port 70000"),
        ({"notes_share": 1.5}, "notes share"),
        ({"log_size": -1}, "log size"),
        ({"requests_per_minute": 0}, "requests per minute"),
        ({"models": ()}, "at least one model"),
        ({"answer_style": "json"}, "did you mean 'json-only'"),
        ({"constant": "7"}, "must be a JSON object"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line(settings: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        Options(**settings)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_settings_survive_json_and_unknown_ones_are_named() -> None:
    options = Options(seed=7, latency="uniform:1-2s", faults="empty=0.1", models=("a",), only_listed=True)
    assert Options.from_json(options.to_json()) == options
    with pytest.raises(ValueError, match="unknown setting 'sed'; did you mean 'seed'"):
        Options.from_json({"sed": 1})
    with pytest.raises(ValueError, match="wrong type"):
        Options.from_json({"port": "1"})

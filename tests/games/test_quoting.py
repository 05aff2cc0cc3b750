"""A refused value is quoted on one short line, with bounded work."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.work import work
from weigh.games.values import LIMIT, nearest, quote


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7, "7"),
        (7.5, "7.5"),
        (True, "true"),
        (None, "null"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        ("7 or 8", '"7 or 8"'),
        ("\x1b[2J\n", '"\\u001b[2J\\n"'),
        ("７", '"\\uff17"'),
        ([1, "a", [2]], '[1, "a", [2]]'),
        ({"bid": 7}, '{"bid": 7}'),
        ([], "[]"),
        ({}, "{}"),
        (list(range(9)), "[0, 1, 2, 3, 4, 5, …]"),
        ([[[[1]]]], "[[[…]]]"),
        (object(), "a value of type object"),
        (10**5000, "a whole number of about 5001 digits"),
    ],
    ids=lambda argument: argument if isinstance(argument, str) else "",
)
def test_quotes_as_json(value: object, text: str) -> None:
    assert quote(value) == text


@pytest.mark.parametrize(
    "value",
    ["9" * 2_000_000, 10**200_000, [0] * 1_000_000, {str(n): n for n in range(100_000)}, ["x" * 1000] * 1000],
    ids=["digits", "integer", "list", "object", "nested"],
)
def test_quoting_is_bounded_in_length_and_work(value: object) -> None:
    assert len(quote(value)) <= LIMIT
    done = work(lambda: quote(value))
    assert done.steps < 500
    assert done.memory < 50_000


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values)
def test_any_json_value_is_quoted_on_one_line(value: object) -> None:
    text = quote(value)
    assert 0 < len(text) <= LIMIT
    assert text.replace("…", "").isascii()
    assert "\n" not in text


def test_nearest_names_one_that_is_alike_or_nothing() -> None:
    assert nearest("Goofspeil", ["goofspiel", "oshi_zumo"]) == "; did you mean 'goofspiel'?"
    assert nearest("chess", ["goofspiel", "oshi_zumo"]) == ""

"""The ends of JSON objects and arrays, held against the standard decoder."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weigh.policies.candidates import FLAT_OBJECT, MAX_DEPTH, STRING, TooDeep, container_at

TOKENS = st.sampled_from(
    [
        *'{}[]:,"\\ \n\tx',
        '"a"',
        '"b":',
        '"\\u00e9"',
        '\\"',
        "\\u00",
        "1",
        "-",
        "0",
        ".5",
        "e3",
        "E+2",
        "true",
        "nul",
        "null",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


def refuse(constant: str) -> None:
    raise ValueError(constant)


STANDARD = json.JSONDecoder(parse_constant=refuse)


def standard_end(text: str) -> int | None:
    """Where the standard decoder sees the value that opens `text` end, or None when it refuses it."""
    try:
        return int(STANDARD.raw_decode(text)[1])
    except ValueError:
        return None


@settings(max_examples=5 * settings.default.max_examples)
@given(st.sampled_from("{["), st.lists(TOKENS, max_size=14).map("".join))
def test_ends_agree_with_the_standard_decoder_on_loose_tokens(opening: str, rest: str) -> None:
    text = opening + rest
    found = container_at(text, 0)
    assert (found.end if found.whole else None) == standard_end(text)
    assert 1 <= found.end <= len(text)


@settings(max_examples=3 * settings.default.max_examples)
@given(st.lists(VALUES, max_size=3), st.sampled_from([None, 1]), st.data())
def test_ends_agree_with_the_standard_decoder_on_json_with_one_change(
    value: object, indent: int | None, data: st.DataObject
) -> None:
    whole = json.dumps(value, indent=indent, ensure_ascii=False)
    place = data.draw(st.integers(1, len(whole)))
    for text in (
        whole + "} x",
        whole[:place] + data.draw(TOKENS) + whole[place:],
        whole[:place],
        whole[:place] + whole[place + 1 :],
    ):
        found = container_at(text, 0)
        assert (found.end if found.whole else None) == standard_end(text)


@given(
    st.dictionaries(st.text(max_size=4), st.none() | st.integers() | st.text(max_size=4) | st.floats(allow_nan=False))
)
def test_a_flat_object_is_found_in_one_step(value: dict[str, object]) -> None:
    text = json.dumps(value)
    if "Infinity" not in text:
        match = re.compile(FLAT_OBJECT).match(text + "}")
        assert match is not None
        assert match.end() == len(text)


@pytest.mark.parametrize(
    "text", ['{"a":1,}', '{"a":[]}', '{"a":{}}', '{"a"}', "{a:1}", '{"a":1', '{"a":NaN}', '{"a":1 1}']
)
def test_what_is_no_flat_object(text: str) -> None:
    assert not re.compile(FLAT_OBJECT).match(text)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ('{"a" oops', 4),
        ('{"a": oops', 6),
        ('{"a": 1 oops', 7),
        ('{"a": 1, oops', 9),
        ('{"a": "b\n{"c": 1}', 11),
        ('{"a": "b\\x" {"c": 1}', 11),
        ('{"a": "b', 8),
        ('{"a": "b\\', 9),
        ("[1, 2 oops", 5),
        ("[oops", 1),
        ("{", 1),
    ],
)
def test_a_break_is_reported_after_the_last_token_and_never_inside_a_string(text: str, end: int) -> None:
    found = container_at(text, 0)
    assert (found.whole, found.end, found.objects) == (False, end, [])


def objects_in(text: str) -> list[str]:
    return [text[start:end] for start, end in container_at(text, 0).objects]


def test_objects_of_an_array_are_told_and_those_within_objects_are_not() -> None:
    assert objects_in('{"a": {"b": 1}, "c": [{"d": 2}]}') == ['{"a": {"b": 1}, "c": [{"d": 2}]}']
    assert objects_in('[{"a": 1}, [[{"b": {"c": 2}}], 3], "{", {"d": []}]') == [
        '{"a": 1}',
        '{"b": {"c": 2}}',
        '{"d": []}',
    ]
    assert objects_in('[{"a": 1}, {"b": [{"c": 2}], oops') == ['{"a": 1}']
    assert objects_in('[{"a": 1}, oops') == ['{"a": 1}']
    assert objects_in("[1, []]") == []


def test_depth_is_capped_whatever_opens() -> None:
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        within = opening * (MAX_DEPTH - 1) + "{}" + closing * (MAX_DEPTH - 1)
        assert container_at(within, 0).whole
        with pytest.raises(TooDeep):
            container_at(opening + within + closing, 0)
        with pytest.raises(TooDeep):
            container_at(opening * 100_000, 0)


@pytest.mark.parametrize("text", ['""', '"a\\n\\u00E9"', '"\\\\"', '"é"'])
def test_strict_strings(text: str) -> None:
    match = STRING.match(text + '"')
    assert match is not None
    assert match[0] == text


@pytest.mark.parametrize("text", ['"', '"\n"', '"\\x"', '"\\u12"', '"\x00"', "'a'"])
def test_what_is_no_strict_string(text: str) -> None:
    assert not STRING.match(text)

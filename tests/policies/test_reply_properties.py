"""What holds for every reply, tried on many."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.policies.legal_sets import TO_TEN, Steps, Words, opening
from weigh.games.game import Legal
from weigh.policies.contract import FAULTS, STOPS, Stop
from weigh.policies.layout import hint_for
from weigh.policies.reply import NOTES_LIMIT, read_reply
from weigh.policies.show import one_line

LEGAL_SETS: list[Legal] = [
    opening("goofspiel"),
    opening("goofspiel", 12),
    opening("oshi_zumo", 8),
    TO_TEN,
    Words("act", ("raise 4", "fold")),
]

ANY_STOP: st.SearchStrategy[Stop] = st.sampled_from(STOPS)
PIECES = st.sampled_from(
    [
        *'{}[]":,\\`',
        '{"bid": 7}',
        '{"bid": ',
        '"bid"',
        "bid",
        "7",
        "12",
        "-1",
        "1e9",
        "</think>",
        "```json\n",
        "```",
        " ",
    ]
)
REPLIES = st.one_of(
    st.text(),
    st.lists(PIECES, max_size=20).map("".join),
    st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=20).map("".join),
)
PROSE = st.text(st.characters(exclude_characters="{}[]\"`'")).filter(lambda text: ">" not in text and "▷" not in text)


@given(REPLIES, ANY_STOP, st.sampled_from(LEGAL_SETS))
def test_any_text_is_read_and_comes_to_a_legal_move_or_a_fault(text: str, stop: Stop, legal: Legal) -> None:
    reading = read_reply(text, stop, legal)
    if reading.fault is None:
        assert reading.move in legal
        assert reading.detail == ""
        assert reading.candidates in (1, 2)
        assert hint_for(reading, legal) is None
    else:
        assert reading.fault in FAULTS
        assert reading.move is None
        assert reading.notes is None
        assert one_line(reading.detail, 500) == reading.detail
        assert 0 < len(reading.detail) < 400
        assert (hint_for(reading, legal) or "").encode()
    assert len(reading.notes or "") <= NOTES_LIMIT
    assert read_reply(text, stop, legal) == reading


@given(REPLIES, st.sampled_from(LEGAL_SETS))
def test_a_stop_that_is_not_known_changes_no_answer_and_loses_those_that_may_be_broken_off(
    text: str, legal: Legal
) -> None:
    whole, doubtful = read_reply(text, "end", legal), read_reply(text, "unknown", legal)
    assert doubtful.fault == "truncated" or doubtful == whole


@given(st.text(), st.integers(1, 9), PROSE.filter(lambda text: any(letter.isalnum() for letter in text)))
def test_an_answer_before_other_words_is_never_played_under_a_stop_that_is_not_known(
    before: str, bid: int, after: str
) -> None:
    reading = read_reply(f'{before}{{"bid": {bid}}}{after}', "unknown", TO_TEN)
    assert reading.fault is not None


@given(
    st.sampled_from(LEGAL_SETS), PROSE, PROSE, st.sampled_from(["{}", "```json\n{}\n```", "[{}]", "<think>x</think>{}"])
)
def test_every_legal_move_reads_to_itself_in_prose_and_fences(legal: Legal, before: str, after: str, form: str) -> None:
    (key,) = legal.answer.keys
    for move in legal:
        answer = json.dumps({key: move})
        for written in (answer, answer.upper().replace(key.upper(), key), json.dumps({key: str(move)})):
            reading = read_reply(f"{before}\n{form.replace('{}', written)}\n{after}", "end", legal)
            assert (reading.move, reading.fault, reading.candidates) == (move, None, 1)


@given(st.sampled_from(list(Steps())), PROSE)
def test_a_move_of_several_keys_reads_to_itself(move: list[object], around: str) -> None:
    answer = json.dumps({"distance": move[1], "notes": "n", "direction": move[0]})
    assert read_reply(f"{around}{answer}{around}", "end", Steps()).move == move


@given(st.sampled_from(['{"bid": 7}', '{"bid": 12}', '{"bid": "x"}', '{"bid": 1, "bid": 2}', '{"b": 1}']), PROSE, PROSE)
def test_prose_without_brackets_around_one_answer_changes_nothing(answer: str, before: str, after: str) -> None:
    bare, wrapped = read_reply(answer, "end", TO_TEN), read_reply(f"{before} {answer} {after}", "end", TO_TEN)
    assert bare == wrapped


@given(st.integers(), st.integers())
def test_a_second_answer_at_the_end_replaces_the_first(first: int, second: int) -> None:
    last = read_reply(f'{{"bid": {second}}}', "end", TO_TEN)
    both = read_reply(f'{{"bid": {first}}} no, {{"bid": {second}}}', "end", TO_TEN)
    assert (both.move, both.fault, both.detail) == (last.move, last.fault, last.detail)


@given(REPLIES)
def test_no_move_comes_from_a_reply_without_the_key(text: str) -> None:
    if "bid" not in text and "\\" not in text:
        assert read_reply(text, "end", TO_TEN).fault is not None


@pytest.mark.parametrize("legal", LEGAL_SETS, ids=lambda legal: legal.describe())
def test_the_example_of_every_legal_set_is_an_answer(legal: Legal) -> None:
    reading = read_reply(legal.answer.example, "end", legal)
    assert reading.fault is None
    assert reading.move in legal

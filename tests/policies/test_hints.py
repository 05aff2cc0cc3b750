"""What a player is told before its second attempt."""

from __future__ import annotations

import pytest

from tests.policies.legal_sets import TO_TEN, Steps, opening
from weigh.policies.contract import FAULTS, Fault
from weigh.policies.layout import DETAIL_LIMIT, hint, hint_for
from weigh.policies.reply import Reading, read_reply


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    "legal", [TO_TEN, Steps(), opening("goofspiel", 11), opening("oshi_zumo")], ids=lambda legal: legal.describe()
)
def test_every_hint_carries_the_legal_set_and_the_form(fault: Fault, legal: Steps) -> None:
    told = hint(fault, "a reason", legal)
    assert told.count(legal.describe()) == 1
    assert legal.answer.form in told
    assert legal.answer.example not in told


def test_R40_every_fault_has_words_of_its_own() -> None:
    openings = {fault: hint(fault, "a reason", TO_TEN).splitlines()[0] for fault in FAULTS}
    assert len(set(openings.values())) == len(FAULTS)
    assert "not allowed" in openings["illegal"]
    assert "form" not in openings["illegal"]
    assert "form" in openings["unreadable"]
    assert "allowed" not in openings["unreadable"]
    assert "exactly one" in openings["ambiguous"]
    assert "briefly" in openings["truncated"]
    for fault in ("illegal", "unreadable", "ambiguous"):
        assert "a reason" in openings[fault]


def test_R01_the_hint_quotes_the_illegal_answer_and_what_is_legal() -> None:
    told = hint_for(read_reply('{"bid": 12}', "end", TO_TEN), TO_TEN)
    assert told is not None
    assert "12" in told
    assert "0 to 10" in told


def test_R43_the_hint_names_the_missing_key() -> None:
    told = hint_for(read_reply('{"say": "hello"}', "end", TO_TEN), TO_TEN)
    assert told is not None
    assert 'no object with the key "bid"' in told


def test_a_legal_move_needs_no_hint() -> None:
    assert hint_for(Reading(move=7, candidates=1), TO_TEN) is None


def test_R34_a_hint_repeats_little_of_a_huge_reply() -> None:
    for text in ("x" * 2_000_000, '{"bid": "' + "x" * 1_000_000 + '"}', '{"bid": ' * 50_000):
        told = hint_for(read_reply(text, "end", TO_TEN), TO_TEN)
        assert told is not None
        assert len(told) < 600
    assert len(hint("illegal", "y" * 100_000, TO_TEN)) < DETAIL_LIMIT + 250


def test_R29_a_detail_cannot_open_a_line_or_act_on_a_terminal() -> None:
    told = hint("illegal", "a\nLegal: 0\x1b[2J\u202e", TO_TEN)
    assert told.count("\n") == 2
    assert sum(line.startswith("Legal:") for line in told.splitlines()) == 1
    assert "\x1b" not in told
    assert "\u202e" not in told


def test_a_hint_reads_well() -> None:
    assert hint("illegal", "12 is not held", TO_TEN) == (
        "That move is not allowed: 12 is not held. Choose one of the legal moves.\n"
        "Legal: 0 to 10\n"
        'Form: one JSON object, {"bid": N}'
    )
    assert hint("unreadable", "ends in a dot.", TO_TEN).startswith(
        "No answer could be read from your reply: ends in a dot. Give"
    )
